//! Offers for a bag, and its shares.

use crate::explain::{Offer, Share, Story};

use super::{LISTED, most};
use crate::readable::{count, duration, lines, row, seconds};

/// Offers and shares.
pub(super) fn told(story: &Story) -> String {
    let mut text = offers(story);
    if story.shares.is_empty() {
        return text;
    }
    let (share_at, tasks) = match story.shape.as_str() {
        "bag" => ("share at", "tasks"),
        _ => ("part at", "processors"),
    };
    let mut rows = vec![row([
        share_at,
        tasks,
        "queued, s",
        "first start, s",
        "last end, s",
        "promised, s",
        "promise",
    ])];
    rows.extend(story.shares.iter().map(share));
    text.push_str(&format!("\n{}", lines(&rows, &[0, 6])));
    text.push_str(&delayed(story));
    text
}

/// The provider that was last to have room for its part, and the number of changes that providers
/// notified.
fn delayed(story: &Story) -> String {
    let short = |it: &&Share| it.short_until.is_some();
    let last = story.shares.iter().filter(short).max_by(|a, b| {
        a.short_until.partial_cmp(&b.short_until).unwrap_or(std::cmp::Ordering::Equal)
    });
    let mut text = match last {
        Some(last) if story.shares.len() > 1 => {
            let until = seconds(last.short_until.unwrap_or_default());
            let time = duration(last.short.unwrap_or_default());
            format!(
                "\n{} was the last to have room for its part: too few processors were free there for {time}, \
                 last until {until} s.\n",
                last.provider
            )
        }
        _ => String::new(),
    };
    if story.bookings.is_empty() {
        return text;
    }
    let told = story.disclosures.iter().flatten();
    let asked = told.filter(|it| it.item == "change" && it.sender != it.receiver).count();
    // The first booking is no move.
    let moved = story.bookings.len() - 1;
    if asked > 0 {
        let (asked, moved) = (count(asked, "time"), count(moved, "time"));
        text.push_str(&format!(
            "\nIts providers reported {asked} that their plans had changed; it moved {moved}.\n"
        ));
    }
    text
}

fn share(it: &Share) -> Vec<String> {
    let time = |time: Option<f64>| time.map_or_else(|| "-".to_owned(), seconds);
    let promise = match (it.end, it.promised_end) {
        (Some(end), Some(promised))
            if it.outcome == "completed" || it.outcome == "walltime_reached" =>
        {
            match end > promised {
                true => format!("broken, {} late", duration(end - promised)),
                false => "kept".to_owned(),
            }
        }
        _ => it.outcome.replace('_', " "),
    };
    vec![
        it.provider.clone(),
        it.tasks.to_string(),
        time(it.queued),
        time(it.start),
        time(it.end),
        time(it.promised_end),
        promise,
    ]
}

/// The offers; only the last ones if there are many, since earlier ones were not accepted.
fn offers(story: &Story) -> String {
    let number = story.offers.len();
    if number == 0 {
        return String::new();
    }
    let mut rows = vec![row(["", "made, s", "tasks", "completion, s", "taken up"])];
    rows.extend(story.offers[number.saturating_sub(LISTED)..].iter().map(|it| {
        vec![
            it.provider.clone(),
            seconds(it.time),
            it.tasks.to_string(),
            seconds(it.completion),
            taken(it, story),
        ]
    }));
    let (offers, which) = (count(number, "offer"), most(number, "the last"));
    format!("\n{offers} made{which}\n{}", lines(&rows, &[0]))
}

/// Number of accepted tasks of an offer. A share belongs to it if both have the same promised
/// completion.
fn taken(offer: &Offer, story: &Story) -> String {
    let share = story.shares.iter().find(|share| {
        share.provider == offer.provider && share.promised_end == Some(offer.completion)
    });
    share.map_or_else(String::new, |share| share.tasks.to_string())
}
