//! What each comparison means: whether a claim held, and the numbers that say so.
//!
//! | function | held if |
//! |---|---|
//! | `less(a, b)`, `greater(a, b)` | the 95 % Student interval of the paired differences excludes 0, on the right side |
//! | `lower_mean(a, b)`, `higher_mean(a, b)` | the means are in this order |
//! | `similar(a, b)` | the means differ by at most 10 % of b's |
//! | `similar(a, b, points)` | that, or they differ by at most `points` |
//! | `at_most_or_similar(a, b)` | a's mean is at most b's, or they are similar; with `points` too |
//! | `at_least_or_similar(a, b)` | a's mean is at least b's, or they are similar; with `points` too |
//! | `within(x, low, high)` | the mean lies between them, both ends included |
//! | `close(x, expected, tolerance)` | the mean differs by at most the tolerance |

use super::quantity::{NO_SPREAD, Quantity, number};

/// Means that differ by at most this share are similar.
const SIMILAR: f64 = 0.10;

/// Whether something held, with the numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// Whether it did.
    pub held: bool,
    /// What came out.
    pub text: String,
    /// Whether the text says of each of several parts that did not hold that it did not.
    in_parts: bool,
}

impl Verdict {
    /// Whether something held, and what came out.
    pub fn new(held: bool, text: String) -> Verdict {
        Verdict { held, text, in_parts: false }
    }

    /// The same under a name.
    pub fn named(self, name: &str) -> Verdict {
        Verdict { text: format!("{name}: {}", self.text), ..self }
    }

    /// Held if the other did not.
    pub fn reversed(self) -> Verdict {
        Verdict { held: !self.held, in_parts: false, ..self }
    }

    /// Held if all did.
    pub fn all(verdicts: &[Verdict]) -> Verdict {
        joined(verdicts.iter().all(|it| it.held), verdicts)
    }

    /// Held if one did.
    pub fn any(verdicts: &[Verdict]) -> Verdict {
        joined(verdicts.iter().any(|it| it.held), verdicts)
    }

    /// The text, which says so if it did not hold.
    pub fn told(&self) -> String {
        match self.held || self.in_parts {
            true => self.text.clone(),
            false => format!("{} (not so)", self.text),
        }
    }
}

/// What came out of several, each of which says so if it did not hold.
fn joined(held: bool, verdicts: &[Verdict]) -> Verdict {
    match verdicts {
        [one] => Verdict { held, ..one.clone() },
        _ => {
            let text = verdicts.iter().map(Verdict::told).collect::<Vec<_>>().join("; ");
            Verdict { held, text, in_parts: true }
        }
    }
}

/// a < b, seed by seed.
///
/// # Errors
/// If the samples cannot be paired, or one replication leaves no spread.
pub fn less(a: &Quantity, b: &Quantity) -> Result<Verdict, String> {
    let difference = a.with(b, |a, b| a - b)?;
    let estimate = difference.estimate();
    let held = match difference.n() {
        None => estimate.mean < 0.0,
        Some(_) => {
            let half = estimate.half_width.ok_or_else(|| {
                format!(
                    "{NO_SPREAD} to compare with: run more of them, or use lower_mean or higher_mean"
                )
            })?;
            estimate.mean + half < 0.0
        }
    };
    Ok(Verdict::new(held, against(a, b, Some(&difference))))
}

/// a > b, seed by seed.
///
/// # Errors
/// As [`less`].
pub fn greater(a: &Quantity, b: &Quantity) -> Result<Verdict, String> {
    let held = less(b, a)?.held;
    Ok(Verdict::new(held, against(a, b, Some(&a.with(b, |a, b| a - b)?))))
}

/// The mean of a is below that of b.
pub fn lower_mean(a: &Quantity, b: &Quantity) -> Verdict {
    Verdict::new(a.mean() < b.mean(), against(a, b, None))
}

/// The mean of a is above that of b.
pub fn higher_mean(a: &Quantity, b: &Quantity) -> Verdict {
    Verdict::new(a.mean() > b.mean(), against(a, b, None))
}

/// The means differ by little: 10 % of b's, or so many points.
pub fn similar(a: &Quantity, b: &Quantity, points: f64) -> Verdict {
    Verdict::new(are_similar(a, b, points), with_share(a, b))
}

/// The mean of a is at most that of b, or similar.
pub fn at_most_or_similar(a: &Quantity, b: &Quantity, points: f64) -> Verdict {
    Verdict::new(a.mean() <= b.mean() || are_similar(a, b, points), with_share(a, b))
}

/// The mean of a is at least that of b, or similar.
pub fn at_least_or_similar(a: &Quantity, b: &Quantity, points: f64) -> Verdict {
    Verdict::new(a.mean() >= b.mean() || are_similar(a, b, points), with_share(a, b))
}

/// The mean lies from `low` to `high`.
pub fn within(x: &Quantity, low: f64, high: f64) -> Verdict {
    let held = (low..=high).contains(&x.mean());
    let range = match (low.is_finite(), high.is_finite()) {
        (true, true) => format!("{} to {}", number(low), number(high)),
        (true, false) => format!("at least {}", number(low)),
        _ => format!("at most {}", number(high)),
    };
    Verdict::new(held, format!("{}, asked for {range}", with_n(x)))
}

/// The mean differs from what is expected by at most a tolerance.
pub fn close(x: &Quantity, expected: f64, tolerance: f64) -> Verdict {
    let held = (x.mean() - expected).abs() <= tolerance;
    let wanted = format!("{} within {}", number(expected), number(tolerance));
    Verdict::new(held, format!("{}, asked for {wanted}", with_n(x)))
}

fn are_similar(a: &Quantity, b: &Quantity, points: f64) -> bool {
    let difference = (a.mean() - b.mean()).abs();
    difference <= SIMILAR * b.mean().abs() || difference <= points
}

/// A quantity with the number of replications it comes from.
fn with_n(x: &Quantity) -> String {
    match x.n() {
        None => x.text(),
        Some(n) => format!("{} (n = {n})", x.text()),
    }
}

fn against(a: &Quantity, b: &Quantity, difference: Option<&Quantity>) -> String {
    let mut text = format!("{} against {}", a.text(), b.text());
    let n = a.n().or(b.n());
    if let Some(difference) = difference.filter(|_| n.is_some()) {
        text.push_str(&format!(", difference {}", difference.text()));
    }
    if let Some(n) = n {
        text.push_str(&format!(" (n = {n})"));
    }
    text
}

fn with_share(a: &Quantity, b: &Quantity) -> String {
    let mut text = against(a, b, None);
    let share = (a.mean() - b.mean()) / b.mean().abs() * 100.0;
    if share.is_finite() {
        text.push_str(&format!(", {share:+.1} %"));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Sample;

    fn sample(values: &[f64]) -> Quantity {
        Quantity::Sample(Sample::new((1..).zip(values.iter().copied())))
    }

    #[test]
    fn orders_are_those_of_pairs() {
        // The means differ by less than their own spread, the pairs always by about 1.
        let (a, b) = (sample(&[10.0, 20.0, 30.0]), sample(&[11.0, 21.1, 30.9]));
        let verdict = less(&a, &b).expect("three pairs");
        assert!(verdict.held);
        assert_eq!(verdict.text, "20 ± 24.84 against 21 ± 24.72, difference -1 ± 0.2484 (n = 3)");
        assert!(!greater(&a, &b).expect("three pairs").held);
        assert!(greater(&b, &a).expect("three pairs").held);
        // A difference that may as well be 0 orders nothing.
        let c = sample(&[12.0, 18.0, 31.0]);
        assert!(!less(&a, &c).expect("three pairs").held);
        assert!(lower_mean(&a, &c).held && higher_mean(&c, &a).held);
    }

    #[test]
    fn samples_compare_with_numbers() {
        assert!(greater(&sample(&[5.0, 6.0, 7.0]), &Quantity::Number(1.0)).expect("a sample").held);
        assert!(less(&Quantity::Number(1.0), &Quantity::Number(2.0)).expect("numbers").held);
        let one = sample(&[5.0]);
        assert!(less(&one, &Quantity::Number(9.0)).unwrap_err().contains("no spread"));
        assert!(lower_mean(&one, &Quantity::Number(9.0)).held);
    }

    #[test]
    fn similar_is_ten_per_cent_or_some_points() {
        let (a, b) = (sample(&[109.0, 111.0]), Quantity::Number(100.0));
        let verdict = similar(&a, &b, 0.0);
        assert!(verdict.held);
        assert_eq!(verdict.text, "110 ± 12.71 against 100 (n = 2), +10.0 %");
        let number = Quantity::Number;
        assert!(!similar(&number(1.5), &number(1.0), 0.0).held);
        assert!(similar(&number(1.5), &number(1.0), 1.0).held);
        assert!(similar(&number(0.0), &number(0.0), 0.0).held);
        assert!(at_most_or_similar(&number(1.0), &number(5.0), 0.0).held);
        assert!(at_most_or_similar(&number(5.4), &number(5.0), 0.0).held);
        assert!(!at_most_or_similar(&number(5.6), &number(5.0), 0.0).held);
        assert!(at_least_or_similar(&number(4.6), &number(5.0), 0.0).held);
        assert!(!at_least_or_similar(&number(4.0), &number(5.0), 0.5).held);
    }

    #[test]
    fn ranges_include_their_ends() {
        assert!(within(&Quantity::Number(0.97), 0.8, 0.97).held);
        assert!(!within(&Quantity::Number(0.98), 0.8, 0.97).held);
        assert!(!within(&Quantity::Number(f64::NAN), 0.8, 0.97).held);
        let verdict = within(&sample(&[1.0, 3.0]), 3.0, f64::INFINITY);
        assert!(!verdict.held);
        assert_eq!(verdict.text, "2 ± 12.71 (n = 2), asked for at least 3");
        let verdict = close(&Quantity::Number(10.4), 10.3, 0.2);
        assert!(verdict.held);
        assert_eq!(verdict.text, "10.4, asked for 10.3 within 0.2");
        assert!(!close(&Quantity::Number(10.0), 10.3, 0.2).held);
    }

    #[test]
    fn verdicts_are_put_together() {
        let (yes, no) = (Verdict::new(true, "a".into()), Verdict::new(false, "b".into()));
        let both = [yes.clone().named("one"), no.clone()];
        assert_eq!(Verdict::all(&both).text, "one: a; b (not so)");
        assert!(Verdict::any(&both).held);
        assert_eq!(Verdict::all(&[no.clone(), no.clone()]).text, "b (not so); b (not so)");
        // A part of parts says which of these did not hold, and no more.
        let nested = [yes.clone(), Verdict::all(&[no.clone(), yes.clone()]).named("two")];
        assert_eq!(Verdict::all(&nested).told(), "a; two: b (not so); a");
        assert_eq!((no.told(), yes.told()), ("b (not so)".to_owned(), "a".to_owned()));
        assert!(no.reversed().held);
        assert!(Verdict::all(&[yes]).held);
    }
}
