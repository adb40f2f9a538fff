use super::*;
use crate::base::index::InstId;
use crate::number::format::Format;
use crate::term::InputId;

fn x(element: u64) -> TermId {
    TermId::input(InputId(0), element)
}

fn op(store: &mut Store, op: TermOp, operands: &[TermId]) -> TermId {
    store.apply(op, operands, InstId(0))
}

fn constant(store: &mut Store, exact: Extended) -> TermId {
    store.intern(Constant { exact, literal: None, rounded: None })
}

/// Folds operands from the left, and in a tree.
fn in_order(store: &mut Store, by: TermOp, of: &[TermId]) -> TermId {
    of[1..].iter().fold(of[0], |all, term| op(store, by, &[all, *term]))
}

fn in_a_tree(store: &mut Store, by: TermOp, of: &[TermId]) -> TermId {
    if let [term] = of {
        return *term;
    }
    let halves = of.split_at(of.len() / 2);
    let halves = [in_a_tree(store, by, halves.1), in_a_tree(store, by, halves.0)];
    op(store, by, &halves)
}

type Side<'a> = &'a dyn Fn(&mut Store) -> TermId;

/// Whether two terms have one number, where some terms have names.
fn same_with(sides: [Side<'_>; 2], names: &dyn Fn([&Store; 2]) -> Names) -> bool {
    let mut stores = [Store::new(), Store::new()];
    let roots = [0, 1].map(|side: usize| sides[side](&mut stores[side]));
    let analysis = [0, 1].map(|side: usize| Analysis::new(&stores[side], &[roots[side]]));
    let census = [0, 1].map(|side: usize| Census::new(&stores[side], &[roots[side]]).expect("a census"));
    let mut numbers = Numbers::new(stores.each_ref(), analysis.each_ref(), &census, 1 << 16, 1 << 30);
    let [one, other] = [0, 1].map(|side: usize| Located { side, term: roots[side] });
    are_same(&mut numbers, [one, other], &names(stores.each_ref()))
}

fn are_same(numbers: &mut Numbers<'_, '_>, [one, other]: [Located; 2], names: &Names) -> bool {
    let number = numbers.number(one, names);
    number.is_some() && number == numbers.number(other, names)
}

fn same(one: Side<'_>, other: Side<'_>) -> bool {
    same_with([one, other], &|_| Names::default())
}

#[test]
fn sums_and_extremes_are_the_same_in_any_order() {
    let all: Vec<TermId> = (0..37).map(x).collect();
    for by in [TermOp::Add, TermOp::Max, TermOp::Min] {
        let tree = |store: &mut Store| in_a_tree(store, by, &all);
        assert!(same(&|store| in_order(store, by, &all), &tree), "{by:?}");
        // Not without the last, nor with another in place of it.
        assert!(!same(&|store| in_order(store, by, &all[..36]), &tree), "{by:?}");
        let other: Vec<TermId> = all[..36].iter().copied().chain([x(40)]).collect();
        assert!(!same(&|store| in_order(store, by, &other), &tree), "{by:?}");
    }
    assert!(!same(&|store| in_order(store, TermOp::Max, &all), &|store| in_order(store, TermOp::Min, &all)));
}

#[test]
fn what_a_sum_holds_twice_counts_twice() {
    let twice = [x(0), x(1), x(1)];
    let once = [x(0), x(1)];
    let of = |by, all: &'static [u64]| {
        move |store: &mut Store| in_order(store, by, &all.iter().map(|at| x(*at)).collect::<Vec<_>>())
    };
    assert!(!same(&of(TermOp::Add, &[0, 1, 1]), &of(TermOp::Add, &[0, 1])));
    assert!(!same(&of(TermOp::Add, &[0, 0, 1]), &of(TermOp::Add, &[0, 1, 1])));
    let max = |store: &mut Store| in_order(store, TermOp::Max, &twice);
    assert!(same(&max, &|store: &mut Store| in_order(store, TermOp::Max, &once)));
}

#[test]
fn signs_and_products_are_parts_of_sums() {
    // x₀ − (x₁ − x₂·x₃) and x₂·x₃ + x₀ − x₁, fused.
    let nested = |store: &mut Store| {
        let product = op(store, TermOp::Mul, &[x(2), x(3)]);
        let inner = op(store, TermOp::Sub, &[x(1), product]);
        op(store, TermOp::Sub, &[x(0), inner])
    };
    let fused = |store: &mut Store| {
        let minus = op(store, TermOp::Neg, &[x(1)]);
        let sum = op(store, TermOp::Fma, &[x(3), x(2), x(0)]);
        op(store, TermOp::Add, &[minus, sum])
    };
    let wrong = |store: &mut Store| {
        let sum = op(store, TermOp::Fma, &[x(3), x(2), x(0)]);
        op(store, TermOp::Add, &[x(1), sum])
    };
    assert!(same(&nested, &fused));
    assert!(!same(&nested, &wrong));
}

#[test]
fn only_what_changes_nothing_is_left_out() {
    let start = |by, exact: Extended| {
        move |store: &mut Store| {
            let start = constant(store, exact.clone());
            let all = in_order(store, by, &[start, x(0), x(1)]);
            op(store, TermOp::Sin, &[all])
        }
    };
    let plain = |by| {
        move |store: &mut Store| {
            let all = in_order(store, by, &[x(1), x(0)]);
            op(store, TermOp::Sin, &[all])
        }
    };
    let zero = || Extended::Finite(Rational::ZERO);
    assert!(same(&start(TermOp::Add, zero()), &plain(TermOp::Add)));
    assert!(same(&start(TermOp::Max, Extended::NegInf), &plain(TermOp::Max)));
    assert!(same(&start(TermOp::Min, Extended::PosInf), &plain(TermOp::Min)));
    assert!(!same(&start(TermOp::Max, zero()), &plain(TermOp::Max)));
    assert!(!same(&start(TermOp::Max, Extended::PosInf), &plain(TermOp::Max)));
    assert!(!same(&start(TermOp::Add, Extended::NegInf), &plain(TermOp::Add)));
    assert!(!same(&start(TermOp::Add, Extended::Finite(Rational::ONE)), &plain(TermOp::Add)));
}

#[test]
fn a_copied_sign_is_that_of_one_order() {
    let copied = |turned: bool| {
        move |store: &mut Store| {
            let of = if turned { [x(1), x(0)] } else { [x(0), x(1)] };
            let largest = op(store, TermOp::Max, &of);
            op(store, TermOp::CopySign, &[largest, x(2)])
        }
    };
    assert!(!same(&copied(false), &copied(true)));
}

#[test]
fn literals_are_one_where_they_are_read_alike() {
    // Of a power of two, log₂ e is read as that number; of a sine it is what its bits encode.
    let scaled = |of: TermOp, literal: Option<(Format, u64)>| {
        move |store: &mut Store| {
            let significand = 0xb8_aa3b;
            let exact = Extended::Finite(Rational::from_dyadic(significand, -23));
            let scale = store.intern(Constant { exact, literal, rounded: None });
            let product = op(store, TermOp::Mul, &[x(0), scale]);
            op(store, of, &[product])
        }
    };
    let literal = Some((Format::F32, 0x3fb8_aa3b));
    assert!(same(&scaled(TermOp::Exp2, literal), &scaled(TermOp::Exp2, literal)));
    assert!(!same(&scaled(TermOp::Exp2, literal), &scaled(TermOp::Exp2, None)));
}

#[test]
fn names_stand_for_what_they_name_below_but_not_at_the_root() {
    // The square of a sum on one side, and of a difference on the other.
    let square = |by: TermOp| {
        move |store: &mut Store| {
            let inner = op(store, by, &[x(0), x(1)]);
            op(store, TermOp::Mul, &[inner, inner])
        }
    };
    let named = |stores: [&Store; 2]| {
        stores.map(|store| {
            let inner = (0..store.len())
                .map(|at| TermId::lane(crate::term::NodeId::from_index(at), crate::base::lane::Lane::FIRST))
                .find(|term| matches!(store.op(*term), Some(TermOp::Add | TermOp::Sub)));
            inner.into_iter().map(|term| (term, TermId::input(InputId(9), 0))).collect()
        })
    };
    let (sum, difference) = (square(TermOp::Add), square(TermOp::Sub));
    assert!(!same(&sum, &difference));
    assert!(same_with([&sum, &difference], &named));
    let inner = |by: TermOp| move |store: &mut Store| op(store, by, &[x(0), x(1)]);
    assert!(!same_with([&inner(TermOp::Add), &inner(TermOp::Sub)], &named));
}

/// `Σ 2^(x − m)`, and the maximum `m`, of some elements: in two passes, or rescaled at each step.
fn powers(store: &mut Store, of: &[TermId], running: bool) -> [TermId; 2] {
    let start = constant(store, Extended::NegInf);
    let zero = constant(store, Extended::Finite(Rational::ZERO));
    let power = |store: &mut Store, a: TermId, b: TermId| {
        let gap = op(store, TermOp::Sub, &[a, b]);
        op(store, TermOp::Exp2, &[gap])
    };
    if running {
        return of.iter().fold([zero, start], |[sum, last], own| {
            let largest = op(store, TermOp::Max, &[last, *own]);
            let scale = power(store, last, largest);
            let own = power(store, *own, largest);
            [op(store, TermOp::Fma, &[sum, scale, own]), largest]
        });
    }
    let largest = in_a_tree(store, TermOp::Max, of);
    let all: Vec<TermId> = of.iter().map(|own| power(store, *own, largest)).collect();
    [in_order(store, TermOp::Add, &all), largest]
}

#[test]
fn a_sum_that_is_rescaled_at_each_step_is_the_same() {
    let all: Vec<TermId> = (0..37).map(x).collect();
    let two_passes = |store: &mut Store| powers(store, &all, false)[0];
    assert!(same(&two_passes, &|store| powers(store, &all, true)[0]));
    // Two halves that are merged.
    let merged = |store: &mut Store, scaled: bool| {
        let [one, other] = [&all[..20], &all[20..]].map(|half| powers(store, half, true));
        let largest = op(store, TermOp::Max, &[one[1], other[1]]);
        let parts = [one, other].map(|[sum, own]| {
            let gap = op(store, TermOp::Sub, &[own, largest]);
            let scale = op(store, TermOp::Exp2, &[gap]);
            if scaled { op(store, TermOp::Mul, &[sum, scale]) } else { sum }
        });
        op(store, TermOp::Add, &parts)
    };
    assert!(same(&two_passes, &|store| merged(store, true)));
    assert!(!same(&two_passes, &|store| merged(store, false)));
    assert!(!same(&two_passes, &|store| powers(store, &all[..36], true)[0]));
    // Under the maximum of fewer elements.
    let other = |store: &mut Store| {
        let [sum, _] = powers(store, &all, true);
        let largest = in_order(store, TermOp::Max, &all);
        let fewer = in_order(store, TermOp::Max, &all[..36]);
        let gap = op(store, TermOp::Sub, &[largest, fewer]);
        let scale = op(store, TermOp::Exp2, &[gap]);
        op(store, TermOp::Mul, &[sum, scale])
    };
    assert!(!same(&two_passes, &other));
}

#[test]
fn so_is_one_of_products_with_the_scale_multiplied_first() {
    let all: Vec<TermId> = (0..9).map(x).collect();
    let weight = |at: usize| TermId::input(InputId(1), at as u64);
    let power = |store: &mut Store, a: TermId, b: TermId| {
        let gap = op(store, TermOp::Sub, &[a, b]);
        op(store, TermOp::Exp2, &[gap])
    };
    let two_passes = |store: &mut Store| {
        let largest = in_order(store, TermOp::Max, &all);
        let mut sum = constant(store, Extended::Finite(Rational::ZERO));
        for (at, own) in all.iter().enumerate() {
            let own = power(store, *own, largest);
            sum = op(store, TermOp::Fma, &[own, weight(at), sum]);
        }
        sum
    };
    let running = |last: usize| {
        let all = &all;
        move |store: &mut Store| {
            let mut sum = constant(store, Extended::Finite(Rational::ZERO));
            let mut largest = constant(store, Extended::NegInf);
            for (at, own) in all.iter().enumerate() {
                let next = op(store, TermOp::Max, &[largest, *own]);
                let scale = power(store, largest, next);
                let scaled = op(store, TermOp::Mul, &[sum, scale]);
                let own = power(store, *own, next);
                sum = op(store, TermOp::Fma, &[own, weight(at.min(last)), scaled]);
                largest = next;
            }
            sum
        }
    };
    assert!(same(&two_passes, &running(8)));
    assert!(!same(&two_passes, &running(7)));
}

#[test]
fn exponents_cancel_only_where_they_have_values() {
    // 2^(t − t)·x₁ and x₁, for a sum t and for a quotient.
    let cancelled = |by: TermOp| {
        move |store: &mut Store| {
            let inner = op(store, by, &[x(0), x(2)]);
            let [up, down] = [[inner, x(3)], [x(3), inner]].map(|of| {
                let gap = op(store, TermOp::Sub, &of);
                op(store, TermOp::Exp2, &[gap])
            });
            let scaled = op(store, TermOp::Mul, &[x(1), up]);
            op(store, TermOp::Fma, &[scaled, down, x(4)])
        }
    };
    let plain = |store: &mut Store| op(store, TermOp::Add, &[x(1), x(4)]);
    assert!(same(&cancelled(TermOp::Add), &plain));
    assert!(!same(&cancelled(TermOp::Div), &plain));
}

#[test]
fn what_is_multiplied_by_zero_is_left_out_only_where_it_has_a_value() {
    let times_zero = |by: TermOp| {
        move |store: &mut Store| {
            let zero = constant(store, Extended::Finite(Rational::ZERO));
            let inner = op(store, by, &[x(0), x(2)]);
            op(store, TermOp::Fma, &[zero, inner, x(1)])
        }
    };
    let plain = |store: &mut Store| op(store, TermOp::Fma, &[x(1), x(1), x(1)]);
    let with = |by: TermOp| {
        move |store: &mut Store| {
            let own = times_zero(by)(store);
            op(store, TermOp::Fma, &[x(1), x(1), own])
        }
    };
    assert!(same(&with(TermOp::Max), &plain));
    assert!(!same(&with(TermOp::Div), &plain));
}

#[test]
fn exponents_are_sums_of_products_with_numbers() {
    // 2^(c·(x₀ − x₁)), multiplied out and not, with the opposite number and with another.
    let number =
        |store: &mut Store, value: i64| constant(store, Extended::Finite(Rational::from_integer(value)));
    let factored = |store: &mut Store| {
        let (gap, three) = (op(store, TermOp::Sub, &[x(0), x(1)]), number(store, 3));
        let product = op(store, TermOp::Mul, &[gap, three]);
        op(store, TermOp::Exp2, &[product])
    };
    let fused = |by: i64| {
        move |store: &mut Store| {
            let (three, other) = (number(store, 3), number(store, by));
            let product = op(store, TermOp::Mul, &[three, x(0)]);
            let sum = op(store, TermOp::Fma, &[x(1), other, product]);
            op(store, TermOp::Exp2, &[sum])
        }
    };
    assert!(same(&factored, &fused(-3)));
    assert!(!same(&factored, &fused(3)));
    assert!(!same(&factored, &fused(-2)));
}

#[test]
fn the_budget_ends_the_search() {
    let all: Vec<TermId> = (0..64).map(x).collect();
    let mut store = Store::new();
    let root = in_order(&mut store, TermOp::Add, &all);
    let analysis = Analysis::new(&store, &[root]);
    let census = [(); 2].map(|()| Census::new(&store, &[root]).expect("a census"));
    let [one, other] = [0, 1].map(|side| Located { side, term: root });
    let within = |steps, bytes| {
        let mut numbers = Numbers::new([&store; 2], [&analysis; 2], &census, steps, bytes);
        are_same(&mut numbers, [one, other], &Names::default())
    };
    assert!(!within(100, 1 << 20));
    assert!(!within(1 << 10, 1 << 10));
    assert!(within(1 << 10, 1 << 20));
}

#[test]
fn what_moves_along_the_inputs_is_told_apart_by_where_it_is() {
    let y = |element: u64| TermId::input(InputId(1), element);
    // A function of both inputs, at an element of each.
    let part = |store: &mut Store, of: u64, other: u64| {
        let product = op(store, TermOp::Mul, &[x(of), y(other)]);
        op(store, TermOp::Sin, &[product])
    };
    let sum = |places: &'static [[u64; 2]]| {
        move |store: &mut Store| {
            let all: Vec<TermId> = places.iter().map(|[of, other]| part(store, *of, *other)).collect();
            in_order(store, TermOp::Add, &all)
        }
    };
    let plain = sum(&[[0, 0], [1, 1], [2, 2]]);
    assert!(same(&plain, &sum(&[[2, 2], [0, 0], [1, 1]])));
    for (others, other) in [
        sum(&[[1, 1], [2, 2], [3, 3]]),
        sum(&[[0, 0], [1, 1], [3, 3]]),
        sum(&[[0, 0], [0, 0], [2, 2]]),
        sum(&[[0, 1], [1, 0], [2, 2]]),
        sum(&[[0, 0], [1, 1], [1 << 40, 1 << 40]]),
    ]
    .into_iter()
    .enumerate()
    {
        let at = others;
        assert!(!same(&plain, &other), "{at}");
    }
    // Far from the first element, and apart from one another.
    let far = sum(&[[1 << 40, 1 << 40], [3, 4], [5, 6]]);
    assert!(same(&far, &sum(&[[5, 6], [1 << 40, 1 << 40], [3, 4]])));
    assert!(!same(&far, &sum(&[[6, 5], [1 << 40, 1 << 40], [3, 4]])));
    assert!(!same(&far, &sum(&[[6, 7], [1 << 40, 1 << 40], [3, 4]])));
    // The elements themselves.
    assert!(!same(&|store| part(store, 1, 1), &|store| part(store, 2, 2)));
    assert!(!same(&|store| op(store, TermOp::Sin, &[x(1)]), &|store| op(store, TermOp::Sin, &[x(2)])));
    // Beside what is fixed, and has the number of an element.
    let one = |store: &mut Store| {
        let sum = op(store, TermOp::Add, &[x(0), x(5)]);
        let [up, down] = [[sum, x(7)], [x(7), sum]].map(|of| {
            let gap = op(store, TermOp::Sub, &of);
            op(store, TermOp::Exp2, &[gap])
        });
        let scaled = op(store, TermOp::Mul, &[x(2), up]);
        op(store, TermOp::Mul, &[scaled, down])
    };
    let scaled = |store: &mut Store| {
        let factor = one(store);
        let all = [x(2), x(3)].map(|own| {
            let product = op(store, TermOp::Mul, &[factor, own]);
            op(store, TermOp::Sin, &[product])
        });
        in_order(store, TermOp::Add, &all)
    };
    let products = |places: &'static [[u64; 2]]| {
        move |store: &mut Store| {
            let all: Vec<TermId> = places
                .iter()
                .map(|[of, other]| {
                    let product = op(store, TermOp::Mul, &[x(*of), x(*other)]);
                    op(store, TermOp::Sin, &[product])
                })
                .collect();
            in_order(store, TermOp::Add, &all)
        }
    };
    assert!(same(&scaled, &products(&[[2, 2], [2, 3]])));
    assert!(!same(&scaled, &products(&[[2, 2], [3, 3]])));
}

/// Whether an element is less than the next one, and 1 where that is so.
fn is_less(store: &mut Store, at: u64) -> TermId {
    op(store, TermOp::Less, &[x(at), x(at + 1)])
}

/// A sum of products of elements, each added where a condition holds. `turned`, the arms of choices are exchanged.
fn added_where(store: &mut Store, length: u64, turned: bool, last: u64) -> TermId {
    let mut sum = x(100);
    for at in 0..length {
        let condition = is_less(store, if at + 1 == length { last } else { at });
        let more = match at % 2 {
            0 => op(store, TermOp::Add, &[sum, x(200 + at)]),
            _ => op(store, TermOp::Fma, &[x(200 + at), x(300 + at), sum]),
        };
        sum = if turned {
            let not = op(store, TermOp::Not, &[condition]);
            op(store, TermOp::Select, &[not, sum, more])
        } else {
            op(store, TermOp::Select, &[condition, more, sum])
        };
    }
    sum
}

/// The same, as a sum of choices in a tree.
fn sum_of_choices(store: &mut Store, length: u64, zero: &Constant) -> TermId {
    let mut parts = vec![x(100)];
    for at in 0..length {
        let condition = is_less(store, at);
        let part = match at % 2 {
            0 => x(200 + at),
            _ => op(store, TermOp::Mul, &[x(300 + at), x(200 + at)]),
        };
        let zero = store.intern(zero.clone());
        parts.push(op(store, TermOp::Select, &[condition, part, zero]));
    }
    in_a_tree(store, TermOp::Add, &parts)
}

#[test]
fn what_is_added_under_a_condition_is_a_part_of_a_sum() {
    let exact = Extended::Finite(Rational::ZERO);
    let zeros = [None, Some((Format::F32, 0))];
    for literal in zeros {
        let zero = Constant { exact: exact.clone(), literal, rounded: None };
        let choices = |store: &mut Store| sum_of_choices(store, 8, &zero);
        for turned in [false, true] {
            assert!(same(&|store| added_where(store, 8, turned, 7), &choices), "{turned}");
            assert!(!same(&|store| added_where(store, 8, turned, 6), &choices), "under another condition");
            assert!(!same(&|store| added_where(store, 7, turned, 6), &choices), "without the last");
        }
    }
}

#[test]
fn what_is_added_where_a_condition_does_not_hold_is_another_sum() {
    let wrong = |store: &mut Store| {
        let (condition, more) = (is_less(store, 0), op(store, TermOp::Add, &[x(100), x(200)]));
        op(store, TermOp::Select, &[condition, x(100), more])
    };
    assert!(!same(&|store| added_where(store, 1, false, 0), &wrong));
    let other = |store: &mut Store| {
        let (condition, more) = (is_less(store, 0), op(store, TermOp::Add, &[x(101), x(200)]));
        op(store, TermOp::Select, &[condition, more, x(100)])
    };
    assert!(!same(&|store| added_where(store, 1, false, 0), &other), "the sums are not of one number");
}

#[test]
fn parts_of_a_residue_need_not_be_residues() {
    let number = |store: &mut Store, of: i64| constant(store, Extended::Finite(Rational::from_integer(of)));
    let each = |store: &mut Store, inner: i64, outer: i64, last: u64| {
        let mut sum = x(0);
        for at in 1..=last {
            let modulus = number(store, if at == last { outer } else { inner });
            sum = op(store, if at == 2 { TermOp::Sub } else { TermOp::Add }, &[x(at), sum]);
            sum = op(store, TermOp::Mod, &[sum, modulus]);
        }
        sum
    };
    let once = |store: &mut Store, last: u64| {
        let modulus = number(store, 8);
        let parts = (2..=last).rev().map(x).collect::<Vec<_>>();
        let sum = in_a_tree(store, TermOp::Add, &parts);
        let sum = op(store, TermOp::Sub, &[sum, x(0)]);
        let sum = op(store, TermOp::Sub, &[sum, x(1)]);
        op(store, TermOp::Mod, &[sum, modulus])
    };
    assert!(same(&|store| each(store, 8, 8, 5), &|store| once(store, 5)));
    assert!(!same(&|store| each(store, 8, 8, 4), &|store| once(store, 5)), "without the last");
    assert!(!same(&|store| each(store, 4, 8, 5), &|store| once(store, 5)), "of another modulus within");
    assert!(!same(&|store| each(store, 8, 4, 5), &|store| once(store, 5)), "of another modulus");
}

#[test]
fn choices_of_constants_are_numbers_of_conditions() {
    let number = |store: &mut Store, of: i64| constant(store, Extended::Finite(Rational::from_integer(of)));
    /// A count of the conditions from `at` on that hold, behind those that have been found to.
    fn tree(store: &mut Store, at: u64, length: u64, found: i64) -> TermId {
        if at == length {
            return constant(store, Extended::Finite(Rational::from_integer(found)));
        }
        let arms = [found + 1, found].map(|found| tree(store, at + 1, length, found));
        let condition = is_less(store, at);
        op(store, TermOp::Select, &[condition, arms[0], arms[1]])
    }
    let sum = |store: &mut Store, last: i64, first: i64| {
        let parts = (0..5).rev().map(|at| {
            let condition = is_less(store, at);
            let [one, zero] = [if at == 4 { last } else { 1 }, 0].map(|of| number(store, of));
            op(store, TermOp::Select, &[condition, one, zero])
        });
        let mut parts: Vec<TermId> = parts.collect();
        parts.push(number(store, first));
        in_order(store, TermOp::Add, &parts)
    };
    assert!(same(&|store| tree(store, 0, 5, 3), &|store| sum(store, 1, 3)));
    assert!(same(&|store| tree(store, 0, 5, 1), &|store| sum(store, 1, 1)));
    assert!(same(&|store| tree(store, 0, 5, 0), &|store| sum(store, 1, 0)));
    assert!(!same(&|store| tree(store, 0, 5, 0), &|store| sum(store, 1, 1)), "another constant");
    assert!(!same(&|store| tree(store, 0, 5, 0), &|store| sum(store, 2, 0)), "another factor");
    assert!(!same(&|store| tree(store, 0, 4, 0), &|store| sum(store, 1, 0)), "without the last");
    // 1 less a condition, as a choice and as a difference.
    let choice = |store: &mut Store| {
        let (condition, one, zero) = (is_less(store, 0), number(store, 1), number(store, 0));
        op(store, TermOp::Select, &[condition, zero, one])
    };
    let difference = |store: &mut Store| {
        let (condition, one, zero) = (is_less(store, 0), number(store, 1), number(store, 0));
        let choice = op(store, TermOp::Select, &[condition, one, zero]);
        op(store, TermOp::Sub, &[one, choice])
    };
    assert!(same(&choice, &difference));
}
