//! The words that compute and compare.

use haggle_results::metrics::percentile;
use haggle_results::stats;
use rhai::{Array, Dynamic, Engine, FnPtr, NativeCallContext};

use super::{Fallible, or_fail};
use crate::quantity::{NO_SPREAD, Quantity, Sample};
use crate::verdict::{self, Verdict};

/// Registers these words with an engine.
pub(super) fn register(engine: &mut Engine) {
    register_arithmetic(engine);
    register_lists(engine);
    register_comparisons(engine);
}

/// A value of a script as a quantity.
pub(super) fn quantity(value: &Dynamic) -> Result<Quantity, String> {
    if let Ok(number) = value.as_float() {
        return Ok(Quantity::Number(number));
    }
    if let Ok(number) = value.as_int() {
        return Ok(Quantity::Number(number as f64));
    }
    match value.clone().try_cast::<Sample>() {
        Some(sample) => Ok(Quantity::Sample(sample)),
        None => Err(format!("expected a number or a sample, not {}", value.type_name())),
    }
}

fn quantities(list: &Array) -> Fallible<Vec<Quantity>> {
    or_fail(list.iter().map(quantity).collect())
}

fn means(list: &Array) -> Fallible<Vec<f64>> {
    Ok(quantities(list)?.iter().map(Quantity::mean).collect())
}

fn dynamic(quantity: Quantity) -> Dynamic {
    match quantity {
        Quantity::Number(number) => number.into(),
        Quantity::Sample(sample) => Dynamic::from(sample),
    }
}

fn register_arithmetic(engine: &mut Engine) {
    engine.register_type_with_name::<Sample>("sample");
    type Of = fn(f64, f64) -> f64;
    let operators: [(&str, Of); 4] =
        [("+", |a, b| a + b), ("-", |a, b| a - b), ("*", |a, b| a * b), ("/", |a, b| a / b)];
    for (name, of) in operators {
        engine
            .register_fn(name, move |a: Sample, b: Sample| or_fail(a.pairs(&b, of)))
            .register_fn(name, move |a: Sample, b: f64| a.map(|a| of(a, b)))
            .register_fn(name, move |a: f64, b: Sample| b.map(|b| of(a, b)))
            .register_fn(name, move |a: Sample, b: i64| a.map(|a| of(a, b as f64)))
            .register_fn(name, move |a: i64, b: Sample| b.map(|b| of(a as f64, b)));
    }
    engine.register_fn("-", |a: Sample| a.map(|a| -a));
    engine.register_fn("abs", |a: Sample| a.map(f64::abs));
    engine.register_fn("n", |a: Sample| a.n() as i64);
    engine.register_fn("mean", |a: Dynamic| or_fail(quantity(&a).map(|it| it.mean())));
    engine.register_fn("values", |a: Sample| -> Array {
        a.values().iter().map(|&value| value.into()).collect()
    });
    engine.register_fn("sd", |a: Sample| spread_of(&a, |it| it.std));
    engine.register_fn("half_width", |a: Sample| spread_of(&a, |it| it.half_width));
}

fn spread_of(sample: &Sample, of: impl Fn(&stats::Estimate) -> Option<f64>) -> Fallible<f64> {
    let spread = sample.estimate().and_then(|estimate| of(&estimate));
    or_fail(spread.ok_or_else(|| NO_SPREAD.to_owned()))
}

fn register_lists(engine: &mut Engine) {
    engine.register_fn("max", |list: Array| extreme(&list, 1.0).map(dynamic));
    engine.register_fn("min", |list: Array| extreme(&list, -1.0).map(dynamic));
    engine.register_fn("spread", |list: Array| -> Fallible<Dynamic> {
        let (most, least) = (extreme(&list, 1.0)?, extreme(&list, -1.0)?);
        or_fail(most.with(&least, |a, b| a - b).map(dynamic))
    });
    engine.register_fn("average", |list: Array| -> Fallible<Dynamic> {
        if list.is_empty() {
            return or_fail(Err("an empty list has no average".to_owned()));
        }
        let count = list.len() as f64;
        let mut sum = Quantity::Number(0.0);
        for item in quantities(&list)? {
            sum = or_fail(sum.with(&item, |a, b| a + b))?;
        }
        Ok(dynamic(sum.map(|sum| sum / count)))
    });
    engine.register_fn("quantile", |list: Array, share: Dynamic| -> Fallible<f64> {
        let mut values = means(&list)?;
        values.sort_unstable_by(f64::total_cmp);
        let share = or_fail(quantity(&share))?.mean();
        let none = || "an empty list has no quantiles".to_owned();
        or_fail(percentile(&values, share).ok_or_else(none))
    });
    engine.register_fn("slope", |xs: Array, ys: Array| -> Fallible<Dynamic> {
        or_fail(slope(&means(&xs)?, &quantities(&ys)?).map(dynamic))
    });
    type Of = fn(&[f64], &[f64]) -> Option<f64>;
    let pairs: [(&'static str, Of); 2] =
        [("kendall_tau", stats::kendall_tau), ("correlation", stats::correlation)];
    for (name, of) in pairs {
        engine.register_fn(name, move |xs: Array, ys: Array| -> Fallible<f64> {
            let (xs, ys) = (means(&xs)?, means(&ys)?);
            let what = || format!("{name} needs two lists of one length, in which values differ");
            or_fail(of(&xs, &ys).ok_or_else(what))
        });
    }
}

/// Slope of the least-squares line; for samples, separately for each seed.
fn slope(xs: &[f64], ys: &[Quantity]) -> Result<Quantity, String> {
    let means: Vec<f64> = ys.iter().map(Quantity::mean).collect();
    // The slope of samples is computed seed by seed below; this checks the lists.
    if stats::slope(xs, &means).is_none() {
        return Err("slope needs two lists of one length, in which values differ".to_owned());
    }
    let centre = xs.iter().sum::<f64>() / xs.len() as f64;
    let square: f64 = xs.iter().map(|x| (x - centre) * (x - centre)).sum();
    let mut slope = Quantity::Number(0.0);
    for (x, y) in xs.iter().zip(ys) {
        let weight = (x - centre) / square;
        slope = slope.with(y, |sum, y| sum + weight * y)?;
    }
    Ok(slope)
}

/// The quantity with the largest mean, or with `sign` -1 with the smallest.
fn extreme(list: &Array, sign: f64) -> Fallible<Quantity> {
    let all = quantities(list)?;
    // Of equal means, the last one in the list is taken.
    let best = all.into_iter().max_by(|a, b| (sign * a.mean()).total_cmp(&(sign * b.mean())));
    or_fail(best.ok_or_else(|| "an empty list has no largest or smallest value".to_owned()))
}

fn register_comparisons(engine: &mut Engine) {
    engine.register_type_with_name::<Verdict>("verdict");
    type Of = fn(&Quantity, &Quantity) -> Result<Verdict, String>;
    let orders: [(&str, Of); 4] = [
        ("less", verdict::less),
        ("greater", verdict::greater),
        ("lower_mean", |a, b| Ok(verdict::lower_mean(a, b))),
        ("higher_mean", |a, b| Ok(verdict::higher_mean(a, b))),
    ];
    for (name, of) in orders {
        engine.register_fn(name, move |a: Dynamic, b: Dynamic| -> Fallible<Verdict> {
            or_fail(quantity(&a).and_then(|a| of(&a, &quantity(&b)?)))
        });
    }
    type Near = fn(&Quantity, &Quantity, f64) -> Verdict;
    let near: [(&str, Near); 3] = [
        ("similar", verdict::similar),
        ("at_most_or_similar", verdict::at_most_or_similar),
        ("at_least_or_similar", verdict::at_least_or_similar),
    ];
    for (name, of) in near {
        let compare = move |a: &Dynamic, b: &Dynamic, points: f64| {
            or_fail(quantity(a).and_then(|a| Ok(of(&a, &quantity(b)?, points))))
        };
        engine.register_fn(name, move |a: Dynamic, b: Dynamic| compare(&a, &b, 0.0));
        engine.register_fn(
            name,
            move |a: Dynamic, b: Dynamic, points: Dynamic| -> Fallible<Verdict> {
                compare(&a, &b, or_fail(quantity(&points))?.mean())
            },
        );
    }
    type Range = fn(&Quantity, f64, f64) -> Verdict;
    let ranges: [(&str, Range); 2] = [("within", verdict::within), ("close", verdict::close)];
    for (name, of) in ranges {
        engine.register_fn(name, move |x: Dynamic, a: Dynamic, b: Dynamic| -> Fallible<Verdict> {
            let (a, b) = (or_fail(quantity(&a))?.mean(), or_fail(quantity(&b))?.mean());
            Ok(of(&or_fail(quantity(&x))?, a, b))
        });
    }
    type Ends = fn(f64) -> (f64, f64);
    let bounds: [(&str, Ends); 2] =
        [("at_least", |low| (low, f64::INFINITY)), ("at_most", |high| (f64::NEG_INFINITY, high))];
    for (name, range) in bounds {
        engine.register_fn(name, move |x: Dynamic, bound: Dynamic| -> Fallible<Verdict> {
            let (low, high) = range(or_fail(quantity(&bound))?.mean());
            Ok(verdict::within(&or_fail(quantity(&x))?, low, high))
        });
    }
    engine.register_fn("all", |list: Array| verdicts(&list).map(|it| Verdict::all(&it)));
    engine.register_fn("any", |list: Array| verdicts(&list).map(|it| Verdict::any(&it)));
    engine.register_fn("not", Verdict::reversed);
    engine.register_fn("enough", |list: Array, count: i64| {
        // A negative count is always reached.
        verdicts(&list).map(|it| Verdict::enough(&it, usize::try_from(count).unwrap_or(0)))
    });
    engine.register_fn("falls", |list: Array| quantities(&list).map(|it| verdict::falls(&it)));
    engine.register_fn("rises", |list: Array| quantities(&list).map(|it| verdict::rises(&it)));
    engine.register_fn("named", |name: Dynamic, verdict: Verdict| verdict.named(&name.to_string()));
    engine.register_fn("check", |held: bool, text: &str| Verdict::new(held, text.to_owned()));
    engine.register_fn(
        "each",
        |context: NativeCallContext, list: Array, of: FnPtr| -> Fallible<Verdict> {
            let mut verdicts = Vec::with_capacity(list.len());
            for item in list {
                let name = item.to_string();
                let verdict: Verdict = of.call_within_context(&context, (item,))?;
                verdicts.push(verdict.named(&name));
            }
            Ok(Verdict::all(&verdicts))
        },
    );
}

fn verdicts(list: &Array) -> Fallible<Vec<Verdict>> {
    let verdict = |item: &Dynamic| {
        let other = || format!("expected comparisons, not {}", item.type_name());
        item.clone().try_cast::<Verdict>().ok_or_else(other)
    };
    or_fail(list.iter().map(verdict).collect())
}
