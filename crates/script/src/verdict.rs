//! Meaning of each comparison: it decides if a claim held, and gives the numbers.
//!
//! | function | held if |
//! |---|---|
//! | `less(a, b)`, `greater(a, b)` | the means are in this order |
//! | `lower_mean(a, b)`, `higher_mean(a, b)` | that; of one replication, too |
//! | `similar(a, b)` | the means differ by at most 10 % of b's |
//! | `similar(a, b, points)` | that, or they differ by at most `points` |
//! | `at_most_or_similar(a, b)` | a's mean is at most b's, or they are similar; with `points` too |
//! | `at_least_or_similar(a, b)` | a's mean is at least b's, or they are similar; with `points` too |
//! | `within(x, low, high)` | the mean lies between them, both ends included |
//! | `close(x, expected, tolerance)` | the mean differs by at most the tolerance |
//! | `falls(list)`, `rises(list)` | no mean is above, or below, the one before it |
//!
//! A comparison is undecided if the mean is within [`NOISE`] standard errors of the value at which the
//! result changes. For samples with the same seeds, these are standard errors of the differences under
//! each seed. Numbers, and samples of one replication, have no such noise.

use super::quantity::{NO_SPREAD, Quantity, number};

/// Means that differ by at most this share are similar.
const SIMILAR: f64 = 0.10;

/// Number of standard errors that counts as noise.
pub const NOISE: f64 = 2.0;

/// A spread below this part of the mean is a rounding error.
const ROUNDING: f64 = 1e-12;

/// Outcome of a comparison or a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It held.
    Held,
    /// It did not hold.
    Missed,
    /// It lies within the noise.
    Undecided,
}

impl Outcome {
    const fn of(held: bool) -> Outcome {
        if held { Outcome::Held } else { Outcome::Missed }
    }

    /// Outcome of several that must all hold: missed if one is missed, otherwise undecided if one is
    /// undecided.
    fn all(outcomes: impl IntoIterator<Item = Outcome>) -> Outcome {
        outcomes.into_iter().fold(Outcome::Held, |all, one| match (all, one) {
            (Outcome::Missed, _) | (_, Outcome::Missed) => Outcome::Missed,
            (Outcome::Undecided, _) | (_, Outcome::Undecided) => Outcome::Undecided,
            _ => Outcome::Held,
        })
    }

    const fn reversed(self) -> Outcome {
        match self {
            Outcome::Held => Outcome::Missed,
            Outcome::Missed => Outcome::Held,
            Outcome::Undecided => Outcome::Undecided,
        }
    }
}

/// Outcome of a comparison, with the numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// The outcome.
    pub outcome: Outcome,
    /// The numbers.
    pub text: String,
    /// True if the text already marks each part that did not hold.
    in_parts: bool,
}

impl Verdict {
    /// A verdict with its numbers.
    pub fn new(held: bool, text: String) -> Verdict {
        Verdict { outcome: Outcome::of(held), text, in_parts: false }
    }

    /// A verdict that would change if the mean differed by `margin`. It is undecided if the noise is larger.
    fn judged(held: bool, margin: f64, noise: f64, text: String) -> Verdict {
        match margin.abs() < noise {
            true => Verdict { outcome: Outcome::Undecided, ..Verdict::new(held, text) },
            false => Verdict::new(held, text),
        }
    }

    /// The verdict with a name before its text.
    pub fn named(self, name: &str) -> Verdict {
        Verdict { text: format!("{name}: {}", self.text), ..self }
    }

    /// Held if the other one is missed, and vice versa.
    pub fn reversed(self) -> Verdict {
        Verdict { outcome: self.outcome.reversed(), in_parts: false, ..self }
    }

    /// Held if all held; missed if one is missed.
    pub fn all(verdicts: &[Verdict]) -> Verdict {
        joined(Outcome::all(outcomes(verdicts)), verdicts)
    }

    /// Held if one held; missed if all are missed.
    pub fn any(verdicts: &[Verdict]) -> Verdict {
        // None held if all are missed: the rule for all of them, with each outcome reversed.
        let none = Outcome::all(outcomes(verdicts).map(Outcome::reversed));
        joined(none.reversed(), verdicts)
    }

    /// Held if at least `count` held; missed if they cannot be reached even with the undecided ones.
    pub fn enough(verdicts: &[Verdict], count: usize) -> Verdict {
        let number = |outcome| outcomes(verdicts).filter(|it| *it == outcome).count();
        let (held, undecided) = (number(Outcome::Held), number(Outcome::Undecided));
        let outcome = match held + undecided {
            _ if held >= count => Outcome::Held,
            possible if possible >= count => Outcome::Undecided,
            _ => Outcome::Missed,
        };
        let mut text = format!("{held} of {}", verdicts.len());
        if undecided > 0 {
            text.push_str(&format!(", {undecided} undecided"));
        }
        Verdict { outcome, text, in_parts: false }
    }

    /// The text, with a note if the outcome is not `Held`.
    pub fn told(&self) -> String {
        let note = match self.outcome {
            Outcome::Held => "",
            _ if self.in_parts => "",
            Outcome::Missed => " (not so)",
            Outcome::Undecided => " (within the noise)",
        };
        format!("{}{note}", self.text)
    }
}

fn outcomes(verdicts: &[Verdict]) -> impl Iterator<Item = Outcome> {
    verdicts.iter().map(|it| it.outcome)
}

/// A verdict with the texts of several, each with its note.
fn joined(outcome: Outcome, verdicts: &[Verdict]) -> Verdict {
    match verdicts {
        // Its text has no note yet, so the note of the outcome can still follow.
        [one] => Verdict { outcome, ..one.clone() },
        _ => {
            let text = verdicts.iter().map(Verdict::told).collect::<Vec<_>>().join("; ");
            Verdict { outcome, text, in_parts: true }
        }
    }
}

/// Noise of a mean: [`NOISE`] standard errors.
fn noise(of: &Quantity) -> f64 {
    let estimate = of.estimate();
    let error = estimate.std.map_or(0.0, |std| std / (estimate.n as f64).sqrt());
    if error <= ROUNDING * estimate.mean.abs() { 0.0 } else { NOISE * error }
}

/// a - b with its noise, paired by seed. Samples with different seeds are treated as independent.
fn difference(a: &Quantity, b: &Quantity) -> (f64, f64) {
    let mean = a.mean() - b.mean();
    let size = a.mean().abs().max(b.mean().abs());
    let noise = a
        .with(b, |a, b| a - b)
        .map_or_else(|_| f64::hypot(noise(a), noise(b)), |difference| noise(&difference));
    // Relative to the means, because their difference may be 0.
    (mean, if noise <= ROUNDING * size { 0.0 } else { noise })
}

/// a < b, paired by seed.
///
/// # Errors
/// If the samples cannot be paired, or there is only one replication and thus no spread.
pub fn less(a: &Quantity, b: &Quantity) -> Result<Verdict, String> {
    has_spread(&a.with(b, |a, b| a - b)?)?;
    Ok(lower_mean(a, b))
}

/// a > b, paired by seed.
///
/// # Errors
/// See [`less`].
pub fn greater(a: &Quantity, b: &Quantity) -> Result<Verdict, String> {
    has_spread(&a.with(b, |a, b| a - b)?)?;
    Ok(higher_mean(a, b))
}

fn has_spread(difference: &Quantity) -> Result<(), String> {
    match (difference.n(), difference.estimate().std) {
        (None, _) | (_, Some(_)) => Ok(()),
        _ => Err(format!(
            "{NO_SPREAD} to compare with: run more of them, or use lower_mean or higher_mean"
        )),
    }
}

/// The mean of a is below that of b.
pub fn lower_mean(a: &Quantity, b: &Quantity) -> Verdict {
    let (mean, noise) = difference(a, b);
    Verdict::judged(mean < 0.0, mean, noise, against(a, b))
}

/// The mean of a is above that of b.
pub fn higher_mean(a: &Quantity, b: &Quantity) -> Verdict {
    let (mean, noise) = difference(a, b);
    Verdict::judged(mean > 0.0, mean, noise, against(a, b))
}

/// The means differ by at most 10 % of b's, or by at most `points`.
pub fn similar(a: &Quantity, b: &Quantity, points: f64) -> Verdict {
    let ((mean, noise), room) = (difference(a, b), room(b, points));
    let beyond = mean.abs() - room;
    Verdict::judged(beyond <= 0.0, beyond, noise, with_share(a, b))
}

/// The mean of a is at most that of b, or similar.
pub fn at_most_or_similar(a: &Quantity, b: &Quantity, points: f64) -> Verdict {
    let ((mean, noise), room) = (difference(a, b), room(b, points));
    Verdict::judged(mean <= room, mean - room, noise, with_share(a, b))
}

/// The mean of a is at least that of b, or similar.
pub fn at_least_or_similar(a: &Quantity, b: &Quantity, points: f64) -> Verdict {
    let ((mean, noise), room) = (difference(a, b), room(b, points));
    Verdict::judged(mean >= -room, mean + room, noise, with_share(a, b))
}

/// The mean lies from `low` to `high`.
pub fn within(x: &Quantity, low: f64, high: f64) -> Verdict {
    let mean = x.mean();
    let range = match (low.is_finite(), high.is_finite()) {
        (true, true) => format!("{} to {}", number(low), number(high)),
        (true, false) => format!("at least {}", number(low)),
        _ => format!("at most {}", number(high)),
    };
    // The result would change at the nearer bound.
    let (held, margin) =
        ((low..=high).contains(&mean), (mean - low).abs().min((mean - high).abs()));
    let text = format!("{}, asked for {range}", with_n(x));
    Verdict::judged(held, margin, noise(x), text)
}

/// The mean differs from the expected value by at most a tolerance.
pub fn close(x: &Quantity, expected: f64, tolerance: f64) -> Verdict {
    let beyond = (x.mean() - expected).abs() - tolerance;
    let wanted = format!("{} within {}", number(expected), number(tolerance));
    let text = format!("{}, asked for {wanted}", with_n(x));
    Verdict::judged(beyond <= 0.0, beyond, noise(x), text)
}

/// No mean is above the one before it.
pub fn falls(list: &[Quantity]) -> Verdict {
    ordered(list, lower_mean)
}

/// No mean is below the one before it.
pub fn rises(list: &[Quantity]) -> Verdict {
    ordered(list, higher_mean)
}

/// No neighbours have means in the wrong order.
fn ordered(list: &[Quantity], wrong: impl Fn(&Quantity, &Quantity) -> Verdict) -> Verdict {
    let neighbours = list.windows(2).map(|two| wrong(&two[0], &two[1]).outcome.reversed());
    let texts = list.iter().map(Quantity::text).collect::<Vec<_>>().join(", ");
    let n = list.first().and_then(Quantity::n).map(|n| format!(" (n = {n})"));
    let outcome = Outcome::all(neighbours);
    Verdict { outcome, text: format!("{texts}{}", n.unwrap_or_default()), in_parts: false }
}

/// Allowed difference of similar means.
fn room(b: &Quantity, points: f64) -> f64 {
    (SIMILAR * b.mean().abs()).max(points)
}

/// A quantity with its number of replications.
fn with_n(x: &Quantity) -> String {
    match x.n() {
        None => x.text(),
        Some(n) => format!("{} (n = {n})", x.text()),
    }
}

fn against(a: &Quantity, b: &Quantity) -> String {
    let mut text = format!("{} against {}", a.text(), b.text());
    let Some(n) = a.n().or(b.n()) else { return text };
    if let Ok(difference) = a.with(b, |a, b| a - b) {
        text.push_str(&format!(", difference {}", difference.text()));
    }
    text.push_str(&format!(" (n = {n})"));
    text
}

fn with_share(a: &Quantity, b: &Quantity) -> String {
    let mut text = format!("{} against {}", a.text(), b.text());
    if let Some(n) = a.n().or(b.n()) {
        text.push_str(&format!(" (n = {n})"));
    }
    let share = (a.mean() - b.mean()) / b.mean().abs() * 100.0;
    // Relative to a mean of 0, there is no percentage.
    if share.is_finite() {
        text.push_str(&format!(", {share:+.1} %"));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::Outcome::{Held, Missed, Undecided};
    use super::*;
    use crate::Sample;

    fn sample(values: &[f64]) -> Quantity {
        Quantity::Sample(Sample::new((1..).zip(values.iter().copied())))
    }

    fn outcome(verdict: Result<Verdict, String>) -> Outcome {
        verdict.expect("there is a spread").outcome
    }

    #[test]
    fn orders_are_those_of_pairs() {
        // The means differ by less than their own spread, but all pairs differ by about 1.
        let (a, b) = (sample(&[10.0, 20.0, 30.0]), sample(&[11.0, 21.1, 30.9]));
        let verdict = less(&a, &b).expect("three pairs");
        assert_eq!(verdict.outcome, Held);
        assert_eq!(verdict.text, "20 ± 24.84 against 21 ± 24.72, difference -1 ± 0.2484 (n = 3)");
        assert_eq!(outcome(greater(&a, &b)), Missed);
        assert_eq!(outcome(greater(&b, &a)), Held);
    }

    /// Differences of 0, 1, 2 and 3: their mean is 1.5, its standard error 1.291/2. Of 1, 2, 3 and 4 it is 2.5.
    #[test]
    fn a_difference_of_less_than_two_standard_errors_is_undecided() {
        let base = sample(&[10.0, 20.0, 30.0, 40.0]);
        let by = |shift: f64| sample(&[10.0, 21.0, 32.0, 43.0].map(|it| it + shift));
        let orders = |shift| [less(&base, &by(shift)), greater(&base, &by(shift))].map(outcome);
        assert_eq!(orders(0.0), [Held, Missed], "1.5 is 2.32 standard errors");
        assert_eq!(orders(-0.3), [Undecided; 2], "1.2 is 1.86 of them");
        assert_eq!(orders(-2.7), [Undecided; 2], "and so is -1.2");
        assert_eq!(orders(-3.0), [Missed, Held]);
        let means = [lower_mean(&base, &by(-0.3)), higher_mean(&base, &by(-0.3))];
        assert_eq!(means.map(|it| it.outcome), [Undecided; 2]);
        // Unpaired, the noise of each sample exceeds their difference.
        let other = Quantity::Sample(Sample::new((7..).zip([11.0, 22.0, 33.0, 44.0])));
        assert_eq!(lower_mean(&base, &other).outcome, Undecided);
    }

    /// The standard error is 1.225/3.
    #[test]
    fn a_bound_is_decided_where_the_mean_is_clear_of_it() {
        let x = sample(&[9.0, 11.0, 11.0, 9.0, 10.0, 10.0, 12.0, 8.0, 10.0]);
        assert!((noise(&x) - 2.0 * 1.224_744_9 / 3.0).abs() < 1e-6);
        let between = |low, high| within(&x, low, high).outcome;
        assert_eq!([between(9.0, 11.0), between(9.5, 11.0)], [Held, Undecided]);
        assert_eq!([between(10.5, 12.0), between(11.0, 12.0)], [Undecided, Missed]);
        assert_eq!(
            [close(&x, 10.0, 1.0), close(&x, 10.5, 0.1)].map(|it| it.outcome),
            [Held, Undecided]
        );
        let number = Quantity::Number;
        let near = |b| similar(&x, &number(b), 0.0).outcome;
        assert_eq!([near(10.0), near(9.0), near(5.0)], [Held, Undecided, Missed]);
        let most = |b| at_most_or_similar(&x, &number(b), 0.0).outcome;
        assert_eq!([most(20.0), most(9.0), most(5.0)], [Held, Undecided, Missed]);
        let least = |b| at_least_or_similar(&x, &number(b), 0.0).outcome;
        assert_eq!([least(5.0), least(11.5), least(20.0)], [Held, Undecided, Missed]);
    }

    /// The order of 3 and 2 is decided, that of 2 and 1.9 is not.
    #[test]
    fn lists_are_in_order_where_all_neighbours_are() {
        let noisy = |mean: f64| sample(&[-0.3, 0.3, -0.3, 0.3].map(|it| mean + it));
        let flat = sample(&[1.9; 4]);
        let (three, two) = (noisy(3.0), noisy(2.0));
        let of = |list: &[&Quantity]| {
            let list: Vec<Quantity> = list.iter().map(|it| (*it).clone()).collect();
            [falls(&list).outcome, rises(&list).outcome]
        };
        assert_eq!(of(&[&three, &two]), [Held, Missed]);
        assert_eq!(of(&[&three, &two, &flat]), [Undecided, Missed]);
        assert_eq!(of(&[&three, &flat, &three]), [Missed, Missed]);
        assert_eq!(of(&[&flat, &flat]), [Held, Held], "nothing has changed");
        assert_eq!(falls(&[three, two]).text, "3 ± 0.5512, 2 ± 0.5512 (n = 4)");
    }

    #[test]
    fn samples_compare_with_numbers() {
        assert_eq!(outcome(greater(&sample(&[5.0, 6.0, 7.0]), &Quantity::Number(1.0))), Held);
        assert_eq!(outcome(less(&Quantity::Number(1.0), &Quantity::Number(2.0))), Held);
        let one = sample(&[5.0]);
        assert!(less(&one, &Quantity::Number(9.0)).unwrap_err().contains("no spread"));
        assert_eq!(lower_mean(&one, &Quantity::Number(9.0)).outcome, Held);
    }

    #[test]
    fn similar_is_ten_per_cent_or_some_points() {
        let number = Quantity::Number;
        let held = |verdict: Verdict| verdict.outcome == Held;
        let verdict = similar(&sample(&[104.0, 106.0]), &number(100.0), 0.0);
        assert_eq!(verdict.text, "105 ± 12.71 against 100 (n = 2), +5.0 %");
        assert!(held(verdict));
        assert!(!held(similar(&number(1.5), &number(1.0), 0.0)));
        assert!(held(similar(&number(1.5), &number(1.0), 1.0)));
        assert!(held(similar(&number(0.0), &number(0.0), 0.0)));
        assert!(held(at_most_or_similar(&number(1.0), &number(5.0), 0.0)));
        assert!(held(at_most_or_similar(&number(5.4), &number(5.0), 0.0)));
        assert!(!held(at_most_or_similar(&number(5.6), &number(5.0), 0.0)));
        assert!(held(at_least_or_similar(&number(4.6), &number(5.0), 0.0)));
        assert!(!held(at_least_or_similar(&number(4.0), &number(5.0), 0.5)));
    }

    #[test]
    fn ranges_include_their_ends() {
        let outcome = |verdict: &Verdict| verdict.outcome;
        assert_eq!(outcome(&within(&Quantity::Number(0.97), 0.8, 0.97)), Held);
        assert_eq!(outcome(&within(&Quantity::Number(0.98), 0.8, 0.97)), Missed);
        assert_eq!(outcome(&within(&Quantity::Number(f64::NAN), 0.8, 0.97)), Missed);
        let verdict = within(&sample(&[1.0, 1.2]), 3.0, f64::INFINITY);
        assert_eq!(outcome(&verdict), Missed);
        assert_eq!(verdict.text, "1.1 ± 1.271 (n = 2), asked for at least 3");
        let verdict = close(&Quantity::Number(10.4), 10.3, 0.2);
        assert_eq!(outcome(&verdict), Held);
        assert_eq!(verdict.text, "10.4, asked for 10.3 within 0.2");
        assert_eq!(outcome(&close(&Quantity::Number(10.0), 10.3, 0.2)), Missed);
    }

    #[test]
    fn verdicts_are_put_together() {
        let (yes, no) = (Verdict::new(true, "a".into()), Verdict::new(false, "b".into()));
        let open = Verdict { outcome: Undecided, ..Verdict::new(true, "c".into()) };
        let both = [yes.clone().named("one"), no.clone()];
        assert_eq!(Verdict::all(&both).text, "one: a; b (not so)");
        assert_eq!(Verdict::any(&both).outcome, Held);
        assert_eq!(Verdict::all(&[no.clone(), no.clone()]).text, "b (not so); b (not so)");
        // A nested verdict marks its own parts that did not hold, and nothing else.
        let nested = [yes.clone(), Verdict::all(&[no.clone(), yes.clone()]).named("two")];
        assert_eq!(Verdict::all(&nested).told(), "a; two: b (not so); a");
        assert_eq!((no.told(), yes.told()), ("b (not so)".to_owned(), "a".to_owned()));
        assert_eq!(no.clone().reversed().outcome, Held);
        assert_eq!(Verdict::all(std::slice::from_ref(&yes)).outcome, Held);
        // An undecided part leaves the result undecided, unless another part decides it.
        let of = |list: &[&Verdict]| {
            let list: Vec<Verdict> = list.iter().map(|it| (*it).clone()).collect();
            [Verdict::all(&list).outcome, Verdict::any(&list).outcome]
        };
        assert_eq!(of(&[&yes, &open]), [Undecided, Held]);
        assert_eq!(of(&[&open, &no]), [Missed, Undecided]);
        assert_eq!(open.clone().reversed().outcome, Undecided);
        assert_eq!(Verdict::all(&[yes.clone(), open.clone()]).text, "a; c (within the noise)");
        let enough = |count| Verdict::enough(&[yes.clone(), open.clone(), no.clone()], count);
        assert_eq!([1, 2, 3].map(|count| enough(count).outcome), [Held, Undecided, Missed]);
        assert_eq!(enough(2).text, "1 of 3, 1 undecided");
    }
}
