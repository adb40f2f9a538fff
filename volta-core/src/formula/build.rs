//! Builds sums, products and other operations on expressions, with operands in a canonical order and one scale.

use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::shape::{Node, Shape, ShapeId, Shapes, TooLarge};
use super::tree::Over;
use crate::number::Rational;
use crate::term::{InputId, TermOp};

/// An addend: its coefficient and its expression.
pub(crate) type Addend = (Rational, Node);
/// A factor: its expression and its power in halves.
pub(crate) type Factor = (Node, i32);

impl Shapes {
    /// An element of an input.
    pub(crate) fn element(&mut self, input: InputId, element: u64) -> Result<Node, TooLarge> {
        let slots: Rc<[i64]> = self.index(input, element).into_iter().map(|at| at as i64).collect();
        self.charge(slots.len())?;
        Ok(Node { shape: self.intern(Shape::Element(input))?, slots })
    }

    /// A number.
    pub(crate) fn number(&mut self, value: Rational) -> Result<Node, TooLarge> {
        self.node(Shape::Number(value), [])
    }

    /// An integer that may differ between elements.
    pub(crate) fn whole(&mut self, value: i64) -> Result<Node, TooLarge> {
        Ok(Node { shape: self.intern(Shape::Whole)?, slots: Rc::from([value]) })
    }

    /// A named constant, or the text in place of a missing expression.
    pub(crate) fn constant(&mut self, name: &str) -> Result<Node, TooLarge> {
        self.node(Shape::Constant(name.into()), [])
    }

    /// A power of `e`.
    pub(crate) fn exp(&mut self, exponent: &Node) -> Result<Node, TooLarge> {
        self.node(Shape::Exp(exponent.shape), [exponent])
    }

    /// An operation whose operands are ordered.
    pub(crate) fn apply(&mut self, op: TermOp, operands: &[Node]) -> Result<Node, TooLarge> {
        let shapes = operands.iter().map(|operand| operand.shape);
        self.node(Shape::Apply(op, shapes.collect()), operands)
    }

    /// An operation whose operands may be reordered.
    pub(crate) fn of_set(&mut self, op: TermOp, mut operands: Vec<Node>) -> Result<Node, TooLarge> {
        self.sort(&mut operands, |operand| operand);
        self.apply(op, &operands)
    }

    /// An element of an output and its value.
    pub(super) fn entry(&mut self, param: InputId, element: u64, value: &Node) -> Result<Node, TooLarge> {
        let shape = self.intern(Shape::Entry(param, value.shape))?;
        let index = self.index(param, element);
        self.charge(index.len() + value.slots.len())?;
        let slots = index.into_iter().map(|at| at as i64).chain(value.slots.iter().copied());
        Ok(Node { shape, slots: slots.collect() })
    }

    /// The condition that an expression is positive.
    pub(crate) fn positive(&mut self, of: &Node) -> Result<Node, TooLarge> {
        let of = &self.compared(of, false)?;
        self.node(Shape::Positive(of.shape), [of])
    }

    /// The condition that an expression is zero.
    pub(crate) fn zero(&mut self, of: &Node) -> Result<Node, TooLarge> {
        let of = &self.compared(of, true)?;
        self.node(Shape::Zero(of.shape), [of])
    }

    /// What is compared with zero, with counts times integers: `a + b - 2` for `1 - a / 2 - b / 2`, where only `turns`
    /// permits another sign.
    fn compared(&mut self, of: &Node, turns: bool) -> Result<Node, TooLarge> {
        let mut addends = self.addends_of(of);
        for (coefficient, node) in &mut addends {
            if let Shape::Run { over: Over::Mean, body, strides } = self.get(node.shape).clone() {
                let shape = self.intern(Shape::Run { over: Over::Sum, body, strides })?;
                let sum = Node { shape, slots: node.slots.clone() };
                let Some(length) = self.run_length(&sum) else { return Ok(of.clone()) };
                let share = Rational::from_integer(length).recip().ok_or(TooLarge)?;
                (*coefficient, *node) = (&*coefficient * &share, sum);
            }
        }
        if addends.len() < 2 || !addends.iter().all(|(_, node)| self.is_count(node.shape)) {
            return Ok(of.clone());
        }
        let (mut above, mut below) = (rug::Integer::from(0), rug::Integer::from(1));
        for (coefficient, _) in &addends {
            let (own, denominator) = coefficient.to_parts();
            (above, below) = (above.gcd(&own), below.lcm(&denominator));
        }
        let scale = rug::Rational::from((below, above));
        // Behind what is counted comes the number.
        let is_counted = |(_, node): &&Addend| *node != Shapes::one();
        let is_turned =
            turns && addends.iter().find(is_counted).is_some_and(|(first, _)| first.is_negative());
        let scale: Rational = if is_turned { (-scale).into() } else { scale.into() };
        let scaled = addends.into_iter().map(|(coefficient, node)| (&coefficient * &scale, node)).collect();
        self.combination(scaled)
    }

    /// The maximum or minimum of some expressions.
    pub(crate) fn extreme(&mut self, op: TermOp, arms: Vec<Node>) -> Result<Node, TooLarge> {
        let over = if op == TermOp::Min { Over::Min } else { Over::Max };
        let arms = if over == Over::Max { self.with_opposites(arms)? } else { arms };
        let mut parts = Vec::new();
        for group in self.by_shape(arms, |arm| arm, |_, _| true) {
            parts.extend(self.runs(over, group)?);
        }
        if let [part] = parts.as_slice() {
            return Ok(part.clone());
        }
        self.of_set(op, parts)
    }

    /// Writes `max(a, -a)` as `|a|`.
    fn with_opposites(&mut self, arms: Vec<Node>) -> Result<Vec<Node>, TooLarge> {
        let all: FxHashSet<Node> = arms.iter().cloned().collect();
        let mut kept = Vec::new();
        for arm in arms {
            let addends = self.addends_of(&arm);
            let negated = addends.iter().map(|(number, node)| (-number, node.clone())).collect();
            let opposite = self.sum(negated)?;
            if opposite == arm || !all.contains(&opposite) {
                kept.push(arm);
            } else if addends.first().is_some_and(|(number, _)| number.is_positive()) {
                kept.push(self.apply(TermOp::Abs, &[arm])?);
            }
        }
        Ok(kept)
    }

    /// A product of powers; equal factors are combined.
    pub(crate) fn product(&mut self, factors: Vec<Factor>) -> Result<Node, TooLarge> {
        let mut flat: Vec<Factor> = Vec::new();
        for (node, power) in factors {
            if power % 2 == 0
                && let Shape::Product(parts) = self.get(node.shape)
            {
                let parts = parts.iter().copied();
                flat.extend(self.parts_of(&node, parts).map(|(part, own)| (part, own * (power / 2))));
            } else {
                flat.push((node, power));
            }
        }
        self.sort(&mut flat, |(node, _)| node);
        let mut list: Vec<Factor> = Vec::new();
        for (node, power) in flat {
            match list.last_mut() {
                Some((last, sum)) if *last == node => *sum += power,
                _ => list.push((node, power)),
            }
        }
        list.retain(|(node, power)| *power != 0 && *node != Shapes::one());
        let mut factors: Vec<Factor> = Vec::new();
        for group in self.by_shape(list, |(node, _)| node, |a, b| a.1 == b.1) {
            let power = group[0].1;
            let nodes = group.into_iter().map(|(node, _)| node).collect();
            factors.extend(self.runs(Over::Product, nodes)?.into_iter().map(|node| (node, power)));
        }
        match factors.as_slice() {
            [] => return Ok(Shapes::one()),
            [(node, 2)] => return Ok(node.clone()),
            _ => {}
        }
        self.sort(&mut factors, |(node, _)| node);
        let shapes = factors.iter().map(|(node, power)| (node.shape, *power)).collect();
        self.node(Shape::Product(shapes), factors.iter().map(|(node, _)| node))
    }

    /// A linear combination; equal addends are combined.
    pub(crate) fn sum(&mut self, addends: Vec<Addend>) -> Result<Node, TooLarge> {
        let addends = self.collected(addends)?;
        self.combination(addends)
    }

    /// A linear combination as a number times one in its best scale; with `root`, the number is positive.
    pub(crate) fn scaled_sum(&mut self, addends: Vec<Addend>, root: bool) -> Result<Addend, TooLarge> {
        let mut addends = self.collected(addends)?;
        self.sort(&mut addends, |(_, node)| node);
        let scale = self.best_scale(&addends, root);
        let outside = scale.recip().unwrap_or(Rational::ONE);
        let inside = addends.into_iter().map(|(coefficient, node)| (&coefficient * &scale, node)).collect();
        Ok((outside, self.combination(inside)?))
    }

    fn combination(&mut self, addends: Vec<Addend>) -> Result<Node, TooLarge> {
        let mut addends = self.with_known_names(addends)?;
        for (coefficient, node) in &mut addends {
            if let Some(least) = self.least_of_opposites(node)? {
                (*coefficient, *node) = (-&*coefficient, least);
            }
        }
        let mut list = Vec::with_capacity(addends.len());
        for (coefficient, node) in addends {
            list.push(self.with_means(coefficient, node)?);
        }
        match list.as_slice() {
            [(coefficient, node)] if coefficient.is_one() => return Ok(node.clone()),
            [(coefficient, node)] if *node == Shapes::one() => return self.number(coefficient.clone()),
            _ => {}
        }
        if list.is_empty() {
            return self.number(Rational::ZERO);
        }
        self.sort(&mut list, |(_, node)| node);
        let shapes = list.iter().map(|(coefficient, node)| (coefficient.clone(), node.shape)).collect();
        self.node(Shape::Sum(shapes), list.iter().map(|(_, node)| node))
    }

    /// Combines equal addends.
    fn merged(&self, mut addends: Vec<Addend>) -> Vec<Addend> {
        self.sort(&mut addends, |(_, node)| node);
        let mut list: Vec<Addend> = Vec::new();
        for (coefficient, node) in addends {
            match list.last_mut() {
                Some((sum, last)) if *last == node => *sum = &*sum + &coefficient,
                _ => list.push((coefficient, node)),
            }
        }
        list.retain(|(coefficient, _)| !coefficient.is_zero());
        list
    }

    /// Combines equal addends, and addends that form runs.
    fn collected(&mut self, addends: Vec<Addend>) -> Result<Vec<Addend>, TooLarge> {
        let list = self.merged(addends);
        let mut addends = Vec::new();
        for group in self.by_shape(list, |(_, node)| node, |a, b| a.0 == b.0) {
            let coefficient = group[0].0.clone();
            let nodes = group.into_iter().map(|(_, node)| node).collect();
            for node in self.runs(Over::Sum, nodes)? {
                addends.push((coefficient.clone(), self.without_common_factors(node)?));
            }
        }
        Ok(addends)
    }

    /// Groups items with the same shape that are `alike`, in the order of each group's first item.
    pub(super) fn by_shape<T>(
        &self,
        list: Vec<T>,
        node: impl Fn(&T) -> &Node,
        alike: impl Fn(&T, &T) -> bool,
    ) -> Vec<Vec<T>> {
        let mut groups: Vec<Vec<T>> = Vec::new();
        let mut known: FxHashMap<ShapeId, Vec<usize>> = FxHashMap::default();
        for item in list {
            let own = known.entry(node(&item).shape).or_default();
            match own.iter().find(|at| alike(&groups[**at][0], &item)) {
                Some(at) => groups[*at].push(item),
                None => {
                    own.push(groups.len());
                    groups.push(vec![item]);
                }
            }
        }
        groups
    }

    /// The parts of a node, each with its slots.
    pub(super) fn parts_of<T>(
        &self,
        node: &Node,
        parts: impl Iterator<Item = (ShapeId, T)>,
    ) -> impl Iterator<Item = (Node, T)> {
        let mut at = 0;
        parts.map(move |(shape, other)| {
            let end = at + self.slots_of(shape);
            let own = Node { shape, slots: node.slots[at..end].into() };
            at = end;
            (own, other)
        })
    }

    /// Rewrites sums that have shorter notations: `2·max(a, b) - a - b` is `|a - b|`, `a + b - max(a, b)` is
    /// `min(a, b)`, `max(a, 0) - max(a, 6) + 6` is `min(max(a, 0), 6)`, and `a - 8·floor(a/8)` is `a mod 8`.
    fn with_known_names(&mut self, mut addends: Vec<Addend>) -> Result<Vec<Addend>, TooLarge> {
        let mut at = 0;
        while at < addends.len() {
            let addend = addends[at].clone();
            at += 1;
            let changed = if let Shape::Apply(TermOp::Max, _) = self.get(addend.1.shape) {
                self.with_maximum(&addends, &addend)?
            } else if let Shape::Apply(TermOp::Floor, _) = self.get(addend.1.shape) {
                self.with_remainder(&addends, &addend)?
            } else {
                None
            };
            if let Some(changed) = changed {
                addends = self.merged(changed);
                at = 0;
            }
        }
        Ok(addends)
    }

    /// Rewrites a sum in which the maximum of two, an addend, is part of another operation.
    fn with_maximum(&mut self, addends: &[Addend], max: &Addend) -> Result<Option<Vec<Addend>>, TooLarge> {
        let (coefficient, node) = max;
        let Some([a, b]) = self.two_arms(node) else { return Ok(None) };
        let [left, right] = [self.addends_of(&a), self.addends_of(&b)];
        let both: Vec<Addend> = left.iter().chain(&right).cloned().collect();
        let others: Vec<Addend> = addends.iter().filter(|other| *other != max).cloned().collect();
        let half = coefficient * &Rational::HALF;
        if let Some(mut rest) = without(&others, &both, &-&half) {
            let opposite = right.iter().map(|(number, node)| (-number, node.clone()));
            let (number, inside) = self.scaled_sum(left.iter().cloned().chain(opposite).collect(), false)?;
            rest.push((&half * &number.abs(), self.apply(TermOp::Abs, &[inside])?));
            return Ok(Some(rest));
        }
        if let Some(mut rest) = without(&others, &both, &-coefficient) {
            rest.push((-coefficient, self.extreme(TermOp::Min, vec![a, b])?));
            return Ok(Some(rest));
        }
        let Some(low) = self.bounded(node) else { return Ok(None) };
        for other in &others {
            if other.0 != -coefficient {
                continue;
            }
            let Some(high) =
                self.bounded(&other.1).filter(|high| high.of == low.of && low.bound < high.bound)
            else {
                continue;
            };
            let inner = self.sum(low.of)?;
            let [least, most] = [self.number(low.bound)?, self.number(high.bound.clone())?];
            let raised = self.extreme(TermOp::Max, vec![inner, least])?;
            let clamped = self.extreme(TermOp::Min, vec![raised, most])?;
            let constant = &(&low.shift - &high.shift) - &high.bound;
            let mut rest: Vec<Addend> = others.iter().filter(|own| *own != other).cloned().collect();
            rest.push((coefficient.clone(), clamped));
            rest.push((coefficient * &constant, Shapes::one()));
            return Ok(Some(rest));
        }
        Ok(None)
    }

    /// Rewrites a sum in which a floor, an addend, is part of a remainder.
    fn with_remainder(
        &mut self,
        addends: &[Addend],
        floor: &Addend,
    ) -> Result<Option<Vec<Addend>>, TooLarge> {
        let (coefficient, node) = floor;
        let Shape::Apply(_, parts) = self.get(node.shape) else { return Ok(None) };
        let argument = self.addends_of(&Node { shape: parts[0], slots: node.slots.clone() });
        let others: Vec<Addend> = addends.iter().filter(|other| *other != floor).cloned().collect();
        let Some(mut rest) = without(&others, &argument, &-coefficient) else { return Ok(None) };
        let denominators = argument.iter().map(|(number, _)| number.to_parts().1);
        let divisor: Rational = denominators.fold(rug::Integer::from(1), |all, own| all.lcm(&own)).into();
        if divisor.is_one() {
            return Ok(None);
        }
        let whole = argument.into_iter().map(|(number, node)| (&number * &divisor, node)).collect();
        let operands = [self.sum(whole)?, self.number(divisor.clone())?];
        let share = divisor.recip().ok_or(TooLarge)?;
        rest.push((&-coefficient * &share, self.apply(TermOp::Mod, &operands)?));
        Ok(Some(rest))
    }

    /// The minimum whose opposite a maximum is, if all of its operands begin with a minus.
    fn least_of_opposites(&mut self, node: &Node) -> Result<Option<Node>, TooLarge> {
        if let Shape::Apply(TermOp::Max, parts) = self.get(node.shape) {
            let parts: Vec<(ShapeId, ())> = parts.iter().map(|part| (*part, ())).collect();
            let arms: Vec<Node> = self.parts_of(node, parts.into_iter()).map(|(arm, ())| arm).collect();
            let mut opposites = Vec::with_capacity(arms.len());
            for arm in arms {
                let Some(shape) = self.opposite(arm.shape)? else { return Ok(None) };
                opposites.push(Node { shape, ..arm });
            }
            return Ok(Some(self.of_set(TermOp::Min, opposites)?));
        }
        if let Shape::Run { over: Over::Max, .. } = self.get(node.shape) {
            let shape = self.opposite(node.shape)?;
            return Ok(shape.map(|shape| Node { shape, slots: node.slots.clone() }));
        }
        Ok(None)
    }

    /// The opposite of a sum whose coefficients are all negative; for a maximum over a run of such sums, a minimum.
    fn opposite(&mut self, shape: ShapeId) -> Result<Option<ShapeId>, TooLarge> {
        if let Shape::Run { over: Over::Max, body, strides } = self.get(shape).clone() {
            let Some(body) = self.opposite(body)? else { return Ok(None) };
            return Ok(Some(self.intern(Shape::Run { over: Over::Min, body, strides })?));
        }
        let Shape::Sum(parts) = self.get(shape).clone() else { return Ok(None) };
        if !parts.iter().all(|(coefficient, _)| coefficient.is_negative()) {
            return Ok(None);
        }
        match &*parts {
            [(coefficient, part)] if coefficient.abs().is_one() => Ok(Some(*part)),
            parts => {
                let parts = parts.iter().map(|(coefficient, part)| (-coefficient, *part));
                Ok(Some(self.intern(Shape::Sum(parts.collect()))?))
            }
        }
    }

    /// The operands of the maximum of two.
    fn two_arms(&self, node: &Node) -> Option<[Node; 2]> {
        let Shape::Apply(TermOp::Max, parts) = self.get(node.shape) else { return None };
        let arms: Vec<Node> =
            self.parts_of(node, parts.iter().map(|part| (*part, ()))).map(|(arm, ())| arm).collect();
        arms.try_into().ok()
    }

    /// The maximum of a number and another expression.
    fn bounded(&self, node: &Node) -> Option<Bounded> {
        let [a, b] = self.two_arms(node)?;
        let number = |node: &Node| {
            if let Shape::Number(value) = self.get(node.shape) { Some(value.clone()) } else { None }
        };
        let (of, bound) = match (number(&a), number(&b)) {
            (Some(bound), None) => (b, bound),
            (None, Some(bound)) => (a, bound),
            _ => return None,
        };
        let is_one = |(_, node): &Addend| *node == Shapes::one();
        let (constant, of): (Vec<Addend>, Vec<Addend>) = self.addends_of(&of).into_iter().partition(is_one);
        let shift = constant.first().map_or(Rational::ZERO, |(number, _)| number.clone());
        Some(Bounded { bound: &bound - &shift, of, shift })
    }

    /// The addends of a node.
    fn addends_of(&self, node: &Node) -> Vec<Addend> {
        if let Shape::Sum(parts) = self.get(node.shape) {
            let parts = parts.iter().map(|(coefficient, part)| (*part, coefficient.clone()));
            return self.parts_of(node, parts).map(|(part, coefficient)| (coefficient, part)).collect();
        }
        if let Shape::Number(value) = self.get(node.shape) {
            return if value.is_zero() { Vec::new() } else { vec![(value.clone(), Shapes::one())] };
        }
        vec![(Rational::ONE, node.clone())]
    }

    /// The factors of a node.
    fn factors_of(&self, node: &Node) -> Vec<Factor> {
        if let Shape::Product(parts) = self.get(node.shape) {
            return self.parts_of(node, parts.iter().copied()).collect();
        }
        vec![(node.clone(), 2)]
    }

    /// Writes a sum of `n` addends divided by `n` as a mean, if the coefficient has no other factor.
    fn with_means(&mut self, coefficient: Rational, node: Node) -> Result<Addend, TooLarge> {
        if coefficient.is_integer() {
            return Ok((coefficient, node));
        }
        let factors = self.factors_of(&node);
        for (at, (factor, power)) in factors.iter().enumerate() {
            let Some(length) = self.run_length(factor).filter(|_| power % 2 == 0) else { continue };
            let Some(share) = Rational::from_integer(length).pow(power / 2) else { continue };
            let rest = &coefficient * &share;
            let Shape::Run { over: Over::Sum, body, strides } = self.get(factor.shape).clone() else {
                continue;
            };
            if rest.abs().is_one() {
                let shape = self.intern(Shape::Run { over: Over::Mean, body, strides })?;
                let mut factors = factors.clone();
                factors[at].0 = Node { shape, slots: factor.slots.clone() };
                return Ok((rest, self.product(factors)?));
            }
        }
        Ok((coefficient, node))
    }

    /// The lengths of sums by which an addend may be divided to become a mean.
    fn lengths(&self, node: &Node) -> Vec<Rational> {
        let length = |(factor, power): (Node, i32)| {
            let length = self.run_length(&factor).filter(|_| power % 2 == 0)?;
            Rational::from_integer(length).pow(power / 2)
        };
        self.factors_of(node).into_iter().filter_map(length).collect()
    }

    /// The factor for all addends that leaves the shortest numbers.
    fn best_scale(&self, addends: &[Addend], root: bool) -> Rational {
        /// Only the first addends of longer sums propose scales.
        const MAX_CANDIDATES: usize = 12;
        let lengths: Vec<Vec<Rational>> = addends.iter().map(|(_, node)| self.lengths(node)).collect();
        let mut candidates = Vec::new();
        for ((coefficient, _), lengths) in addends.iter().zip(&lengths).take(MAX_CANDIDATES) {
            let Some(scale) = coefficient.recip() else { continue };
            let shares = lengths.iter().filter_map(|length| scale.checked_div(length));
            candidates.extend(shares.chain([scale.clone()]).flat_map(|scale| [scale.abs(), -&scale.abs()]));
        }
        let cost = |scale: &Rational| {
            let own = |((coefficient, _), lengths): (&Addend, &Vec<Rational>)| {
                let scaled = coefficient * scale;
                let mean = lengths.iter().any(|length| (&scaled * length).abs().is_one() && !length.is_one());
                let text = if mean { 1 } else { 2 * Shapes::cost(&scaled) };
                text + usize::from(scaled.is_negative())
            };
            let outside = scale.recip().filter(|_| !root).map_or(0, |outside| Shapes::cost(&outside));
            addends.iter().zip(&lengths).map(own).sum::<usize>() + outside
        };
        // Addends are ordered by shape, so the first one does not depend on which elements they read.
        let is_turned = |scale: &Rational| {
            addends.first().is_some_and(|(coefficient, _)| coefficient.is_negative() != scale.is_negative())
        };
        let candidates = candidates.into_iter().filter(|scale| !root || scale.is_positive());
        let candidates = candidates.map(|scale| (cost(&scale), is_turned(&scale), scale));
        candidates.min().map_or(Rational::ONE, |(.., scale)| scale)
    }

    /// Moves factors that are the same in all addends out of a sum over runs.
    fn without_common_factors(&mut self, node: Node) -> Result<Node, TooLarge> {
        let mut runs: Vec<(Box<[i64]>, i64)> = Vec::new();
        let (mut shape, mut slots) = (node.shape, &node.slots[..]);
        while let Shape::Run { over: Over::Sum, body, strides } = self.get(shape) {
            let Some((count, inner)) = slots.split_last() else { return Err(TooLarge) };
            runs.push((strides.clone(), *count));
            (shape, slots) = (*body, inner);
        }
        let Shape::Product(parts) = self.get(shape).clone() else { return Ok(node) };
        let mut at = 0;
        let (mut common, mut others) = (Vec::new(), Vec::new());
        for (part, power) in parts.iter().copied() {
            let range = at..at + self.slots_of(part);
            at = range.end;
            let moves =
                runs.iter().any(|(strides, _)| strides[range.clone()].iter().any(|stride| *stride != 0));
            let own = (Node { shape: part, slots: slots[range.clone()].into() }, power);
            if moves { others.push((own, range)) } else { common.push(own) }
        }
        if common.is_empty() || others.is_empty() {
            return Ok(node);
        }
        let kept: Vec<usize> = others.iter().flat_map(|(_, range)| range.clone()).collect();
        let body: Vec<(ShapeId, i32)> =
            others.iter().map(|((node, power), _)| (node.shape, *power)).collect();
        let mut shape = match body.as_slice() {
            [(shape, 2)] => *shape,
            body => self.intern(Shape::Product(body.into()))?,
        };
        let mut inner: Vec<i64> = kept.iter().map(|at| slots[*at]).collect();
        for (level, (strides, count)) in runs.iter().enumerate().rev() {
            // After the slots of the body come the lengths of the inner runs.
            let lengths = slots.len()..slots.len() + runs.len() - 1 - level;
            let strides = kept.iter().copied().chain(lengths).map(|at| strides[at]).collect();
            shape = self.intern(Shape::Run { over: Over::Sum, body: shape, strides })?;
            inner.push(*count);
        }
        common.push((Node { shape, slots: inner.into() }, 2));
        self.product(common)
    }
}

/// `max(of, bound) + shift`, where `of` has no constant addend.
struct Bounded {
    of: Vec<Addend>,
    bound: Rational,
    shift: Rational,
}

/// The square root of a number that is the square of a rational.
pub(crate) fn root_of(value: &Rational) -> Option<Rational> {
    let (num, den) = value.to_parts();
    if num < 0 || !num.is_perfect_square() || !den.is_perfect_square() {
        return None;
    }
    Some(rug::Rational::from((num.sqrt(), den.sqrt())).into())
}

/// Removes `times` the other addends; `None` if not all of them are present.
fn without(addends: &[Addend], others: &[Addend], times: &Rational) -> Option<Vec<Addend>> {
    let mut rest = addends.to_vec();
    for (coefficient, node) in others {
        let wanted = coefficient * times;
        let at = rest.iter().position(|(own, other)| *own == wanted && other == node)?;
        rest.remove(at);
    }
    Some(rest)
}
