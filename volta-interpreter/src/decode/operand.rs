//! Modifiers and operands.

use volta_core::ptx::tree::{Initializer, Literal, LiteralValue, Name, Operand};

use super::super::float::{Clamp, Format, Round, from_f64, mask};
use super::super::op::{Address, Register, Source, Space, Special, Type};
use super::Decoder;
use super::scope::Entity;

/// The modifiers of an instruction; each must be taken.
pub(super) struct Modifiers<'t> {
    names: Vec<&'t str>,
}

impl<'t> Modifiers<'t> {
    pub(super) fn new(names: &'t [Name]) -> Modifiers<'t> {
        Modifiers { names: names.iter().map(|name| name.text.as_str()).collect() }
    }

    /// Takes a modifier, if it is present.
    pub(super) fn take(&mut self, name: &str) -> bool {
        self.one_of(&[(name, ())]).is_some()
    }

    /// Takes the first modifier of a table.
    pub(super) fn one_of<T: Copy>(&mut self, table: &[(&str, T)]) -> Option<T> {
        let find = |name: &&str| table.iter().find(|(held, _)| held == name).map(|(_, value)| *value);
        let at = self.names.iter().position(|name| find(name).is_some())?;
        let name = self.names.remove(at);
        find(&name)
    }

    /// Takes modifiers that have no effect here.
    pub(super) fn ignore(&mut self, hints: &[&str]) {
        self.names
            .retain(|name| !hints.contains(name) && !name.starts_with("L2::") && !name.starts_with("L1::"));
    }

    /// Takes the first modifier that is a type.
    pub(super) fn ty(&mut self) -> Result<Type, String> {
        self.first_of(Type::parse).ok_or_else(|| "it has no type".into())
    }

    /// Takes the first modifier that `read` accepts.
    pub(super) fn first_of<T>(&mut self, read: impl Fn(&str) -> Option<T>) -> Option<T> {
        let at = self.names.iter().position(|name| read(name).is_some())?;
        read(self.names.remove(at))
    }

    /// Takes a rounding mode of floats.
    pub(super) fn rounding(&mut self) -> Option<Round> {
        self.one_of(&[
            ("rn", Round::NearestTiesToEven),
            ("rz", Round::TowardZero),
            ("rm", Round::TowardNegative),
            ("rp", Round::TowardPositive),
            ("rna", Round::NearestTiesToAway),
        ])
    }

    pub(super) fn clamp(&mut self) -> Clamp {
        self.one_of(&[("sat", Clamp::Unit), ("relu", Clamp::Relu)]).unwrap_or(Clamp::None)
    }

    /// Takes a state space; without one, an address is generic.
    pub(super) fn space(&mut self) -> Space {
        let table = [
            ("global", Space::Global),
            ("const", Space::Const),
            ("shared", Space::Shared),
            ("shared::cta", Space::Shared),
            ("shared::cluster", Space::Shared),
            ("local", Space::Local),
            ("param", Space::Param),
            ("param::entry", Space::Param),
            ("param::func", Space::Param),
        ];
        self.one_of(&table).unwrap_or(Space::Generic)
    }

    /// Checks that no modifier is left.
    ///
    /// # Errors
    /// If one is left.
    pub(super) fn finish(self) -> Result<(), String> {
        match self.names.first() {
            None => Ok(()),
            Some(name) => Err(format!("the modifier `.{name}` is not known here")),
        }
    }
}

/// The bits of a literal as an operand of a type.
pub(super) fn literal(literal: &Literal, ty: Type) -> Result<u64, String> {
    let value = match (literal.value, ty) {
        (LiteralValue::Integer(value), Type::Float(Format::F32 | Format::F64)) => {
            return Err(format!("the integer {value} is no float"));
        }
        (LiteralValue::Integer(value), _) => value,
        (LiteralValue::Float32(bits), Type::Float(Format::F64)) => f64::from(f32::from_bits(bits)).to_bits(),
        (LiteralValue::Float64(bits), Type::Float(format @ (Format::F32 | Format::Tf32))) => {
            from_f64(format, f64::from_bits(bits), Round::NearestTiesToEven)
        }
        (LiteralValue::Float32(bits), _) => u64::from(bits),
        (LiteralValue::Float64(bits), _) => bits,
    };
    Ok(value & mask(ty.bits()))
}

/// Writes the values of an initialiser, element by element; the rest remains zero.
pub(super) fn initialize(initializer: &Initializer, ty: Type, data: &mut [u8]) -> Result<(), String> {
    fn flatten<'t>(initializer: &'t Initializer, out: &mut Vec<&'t Operand>) {
        match initializer {
            Initializer::Value(operand) => out.push(operand),
            Initializer::List(list) => list.iter().for_each(|inner| flatten(inner, out)),
        }
    }
    let mut values = Vec::new();
    flatten(initializer, &mut values);
    let bytes = ty.bits() as usize / 8;
    for (at, operand) in values.into_iter().enumerate() {
        let Operand::Literal(value) = operand else { return Err("an initial value is no number".into()) };
        let bits = literal(value, ty)?;
        let room = data.get_mut(at * bytes..(at + 1) * bytes).ok_or("there are too many initial values")?;
        room.copy_from_slice(&bits.to_le_bytes()[..bytes]);
    }
    Ok(())
}

/// The special register of that name.
fn special(name: &str) -> Option<Special> {
    let (base, axis) = match name.split_once('.') {
        Some((base, "x")) => (base, 0),
        Some((base, "y")) => (base, 1),
        Some((base, "z")) => (base, 2),
        Some(_) => return None,
        None => (name, 3),
    };
    Some(match (base, axis) {
        ("%tid", 0..3) => Special::Tid(axis),
        ("%ntid", 0..3) => Special::Ntid(axis),
        ("%ctaid", 0..3) => Special::Ctaid(axis),
        ("%nctaid", 0..3) => Special::Nctaid(axis),
        ("%laneid", 3) => Special::Laneid,
        ("%lanemask_eq", 3) => Special::LanemaskEq,
        ("%lanemask_le", 3) => Special::LanemaskLe,
        ("%lanemask_lt", 3) => Special::LanemaskLt,
        ("%lanemask_ge", 3) => Special::LanemaskGe,
        ("%lanemask_gt", 3) => Special::LanemaskGt,
        ("%dynamic_smem_size", 3) => Special::DynamicSharedSize,
        ("%clusterid", 0..3) => Special::ClusterId(axis),
        ("%nclusterid", 0..3) => Special::NclusterId(axis),
        ("%cluster_ctaid", 0..3) => Special::ClusterCtaid(axis),
        ("%cluster_nctaid", 0..3) => Special::ClusterNctaid(axis),
        ("%cluster_ctarank", 3) => Special::ClusterCtarank,
        ("%cluster_nctarank", 3) => Special::ClusterNctarank,
        ("%envreg1", 3) => Special::Workspace(true),
        ("%envreg2", 3) => Special::Workspace(false),
        ("%is_explicit_cluster", 3) => Special::IsExplicitCluster,
        _ => return None,
    })
}

impl Decoder {
    /// An operand that is read.
    pub(super) fn source(&self, operand: &Operand, ty: Type) -> Result<Source, String> {
        match operand {
            Operand::Name(name) => self.named(name, 0),
            Operand::SymbolOffset { symbol, offset, .. } => self.named(symbol, *offset),
            Operand::Not(name) => match self.scopes.find(&name.text) {
                Some(Entity::Register(register)) => Ok(Source::Not(*register)),
                _ => Err(format!("`{}` is no predicate", name.text)),
            },
            Operand::Literal(value) => Ok(Source::Value(literal(value, ty)?)),
            other @ (Operand::Vector(..)
            | Operand::Pair(..)
            | Operand::Sink(_)
            | Operand::Address { .. }
            | Operand::List(..)
            | Operand::Text(..)
            | Operand::Apply(..)) => Err(format!("the operand {other:?} is not known here")),
        }
    }

    fn named(&self, name: &Name, offset: i64) -> Result<Source, String> {
        let text = name.text.as_str();
        match self.scopes.find(text) {
            Some(Entity::Register(register)) => Ok(Source::Register(*register)),
            Some(Entity::Variable { space, at, .. }) => {
                let at = at.wrapping_add_signed(offset);
                Ok(match space {
                    Space::Local => Source::Local(at),
                    Space::Param => Source::Param(at),
                    Space::Shared => Source::Shared(at),
                    Space::Generic | Space::Global | Space::Const => Source::Value(at),
                })
            }
            None if text == "WARP_SZ" => Ok(Source::Value(32)),
            None => special(text).map(Source::Special).ok_or_else(|| format!("`{text}` is not known")),
            Some(Entity::Label(_) | Entity::Targets(_)) => Err(format!("`{text}` is a label")),
        }
    }

    /// An operand that is a 32-bit number.
    pub(super) fn number(&self, operands: &[Operand], at: usize) -> Result<u64, String> {
        let operand = operands.get(at).ok_or("an operand is missing")?;
        let source = self.source(operand, Type::Bits(32))?;
        if let Source::Value(value) = source { Ok(value) } else { Err("an operand is no number".into()) }
    }

    /// The sources from the second operand on; missing ones are zero.
    pub(super) fn sources<const N: usize>(
        &self,
        operands: &[Operand],
        ty: Type,
    ) -> Result<[Source; N], String> {
        let mut out = [Source::Value(0); N];
        for (to, operand) in out.iter_mut().zip(operands.iter().skip(1)) {
            *to = self.source(operand, ty)?;
        }
        Ok(out)
    }

    /// The register that is written.
    pub(super) fn destination(&self, operands: &[Operand]) -> Result<Register, String> {
        self.register_of(operands.first().ok_or("it has no destination")?)
    }

    pub(super) fn register_of(&self, operand: &Operand) -> Result<Register, String> {
        self.sink(operand)?.ok_or_else(|| "`_` is no destination here".into())
    }

    /// A register that is written, or `_`.
    pub(super) fn sink(&self, operand: &Operand) -> Result<Option<Register>, String> {
        if let Operand::Sink(_) = operand {
            return Ok(None);
        }
        let Operand::Name(name) = operand else { return Err(format!("{operand:?} is no register")) };
        match self.scopes.find(&name.text) {
            Some(Entity::Register(register)) => Ok(Some(*register)),
            _ => Err(format!("`{}` is no register", name.text)),
        }
    }

    /// `d|p`, or `d` alone.
    pub(super) fn pair(&self, operand: &Operand) -> Result<(Option<Register>, Option<Register>), String> {
        if let Operand::Pair(first, second) = operand {
            return Ok((self.sink(first)?, self.sink(second)?));
        }
        Ok((self.sink(operand)?, None))
    }

    /// The registers of `{a, _, b}`, or one.
    pub(super) fn destinations(&self, operand: &Operand) -> Result<Vec<Option<Register>>, String> {
        if let Operand::Vector(parts, _) = operand {
            return parts.iter().map(|part| self.sink(part)).collect();
        }
        Ok(vec![self.sink(operand)?])
    }

    /// The registers of a fragment.
    pub(super) fn fragment(&self, operand: &Operand) -> Result<Vec<Register>, String> {
        let all = self.destinations(operand)?.into_iter();
        all.map(|register| register.ok_or_else(|| "a fragment has no `_`".to_string())).collect()
    }

    /// The values of `{a, 0, b}`, or one.
    pub(super) fn values(&self, operand: &Operand, ty: Type) -> Result<Vec<Source>, String> {
        if let Operand::Vector(parts, _) = operand {
            return parts.iter().map(|part| self.source(part, ty)).collect();
        }
        Ok(vec![self.source(operand, ty)?])
    }

    /// `[base+offset]`; the address of a variable without a named space is in its own space.
    pub(super) fn address(&self, operand: &Operand, space: Space) -> Result<Address, String> {
        match self.address_and_rest(operand, space)? {
            (address, []) => Ok(address),
            (_, [_, ..]) => Err("coordinates are not known".into()),
        }
    }

    /// `[map, {x, y}]`: the address of a tensor map, and coordinates.
    pub(super) fn tile(&self, operand: &Operand) -> Result<(Address, Vec<Source>), String> {
        let (address, rest) = self.address_and_rest(operand, Space::Generic)?;
        let [coordinates] = rest else { return Err("it has no coordinates".into()) };
        Ok((address, self.values(coordinates, Type::Bits(32))?))
    }

    fn address_and_rest<'o>(
        &self,
        operand: &'o Operand,
        space: Space,
    ) -> Result<(Address, &'o [Operand]), String> {
        let Operand::Address { base, offset, rest, .. } = operand else {
            return Err(format!("{operand:?} is no address"));
        };
        let Some(name) = base else {
            return Ok((Address { space, base: Source::Value(0), offset: *offset }, rest));
        };
        let own = match self.scopes.find(&name.text) {
            Some(Entity::Variable { space, .. }) => Some(*space),
            _ => None,
        };
        let space = if space == Space::Generic { own.unwrap_or(space) } else { space };
        Ok((Address { space, base: self.named(name, 0)?, offset: *offset }, rest))
    }
}
