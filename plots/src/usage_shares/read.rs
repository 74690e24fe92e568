//! Reads shares of usage from the folder of a run.

use std::collections::{BTreeMap, BTreeSet};

use haggle_results::JobRow;
use haggle_results::about::SiteInfo;

use super::tree::{Tree, User};
use super::{UsageLine, UsagePart, UsageShares};
use crate::Figure;
use crate::ask::Ask;
use crate::error::PlotError;
use crate::load::{Part, Tables, changes_of};
use crate::owners::NO_ACCOUNT;

/// Maximum number of lines of a provider.
const LINES_MAX: usize = 8;
/// Number of intervals between the points of a line.
const INTERVALS: u32 = 800;

/// The owners of jobs that have lines.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Owner {
    Account,
    User,
}

/// The requested figure.
pub(crate) fn asked(run: &Tables, ask: &Ask) -> Result<Figure, PlotError> {
    let (owner, word) = match ask.group_by.as_deref() {
        None | Some("account") => (Owner::Account, "account"),
        Some("user") => (Owner::User, "user"),
        Some(other) => {
            let why = format!("usage cannot be grouped by \"{other}\": use account or user");
            return Err(PlotError::Unsuitable(why));
        }
    };
    let about = run.about()?;
    let mut parts = Vec::new();
    for place in run.resources()?.iter().filter(|it| ask.part.has_provider(&it.provider)) {
        let site = about.sites.get(&place.provider).filter(|it| !it.accounts.is_empty());
        if let Some(site) = site {
            let lines = lines(run, (&place.provider, site), &ask.part, owner)?;
            let (name, all) = (place.provider.clone(), lines.len());
            parts.push(UsagePart { name, lines: most_used(lines), all });
        }
    }
    if parts.is_empty() {
        let reason = "no provider has accounts: `[[provider.account]]` states them";
        return Err(PlotError::NoValues(reason.to_owned()));
    }
    Ok(Figure::UsageShares(UsageShares {
        title: ask.title(about, &format!("share of usage by {word}")),
        owner: word,
        parts,
        changes: changes_of([run])?,
        clock: ask.clock(run)?,
    }))
}

/// The lines with the largest last shares, in their order.
fn most_used(mut lines: Vec<UsageLine>) -> Vec<UsageLine> {
    let last = |it: &UsageLine| it.points.last().map_or(0.0, |it| it.1);
    let mut shares = Vec::from_iter(lines.iter().map(last).enumerate());
    shares.sort_by(|a, b| b.1.total_cmp(&a.1));
    let kept: BTreeSet<usize> = shares.into_iter().take(LINES_MAX).map(|it| it.0).collect();
    let mut place = 0..;
    lines.retain(|_| place.next().is_some_and(|it| kept.contains(&it)));
    lines
}

/// The lines of all accounts or users of a provider.
fn lines(
    run: &Tables,
    (provider, site): (&str, &SiteInfo),
    part: &Part,
    owner: Owner,
) -> Result<Vec<UsageLine>, PlotError> {
    let user = |job: &JobRow| (site.account_of(job.user, job.group), job.user.max(-1));
    let here = |job: &&JobRow| job.provider.as_deref() == Some(provider);
    let jobs: BTreeMap<i64, User> =
        run.jobs()?.iter().filter(here).map(|it| (it.job, user(it))).collect();
    let mut tree = Tree::new(site, jobs.values().copied());
    let mut changes = Vec::new();
    for row in run.attempts()?.iter().filter(|it| it.provider == provider) {
        let (Some(&user), Some((start, end))) = (jobs.get(&row.job), row.start.zip(row.end)) else {
            continue;
        };
        // No user is charged for work before time zero.
        if end > start.max(0.0) {
            let processors = row.processors as f64;
            changes.push((start.max(0.0), user, processors));
            changes.push((end, user, -processors));
        }
    }
    changes.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut lines = empty(&tree, site, owner);
    let ends = changes.first().zip(changes.last()).map(|(first, last)| (first.0, last.0));
    let Some((low, high)) = ends.and_then(|(first, last)| part.clipped(first, last)) else {
        return Ok(Vec::from_iter(lines.into_iter().map(|it| it.1)));
    };
    let mut next = changes.into_iter().peekable();
    for step in 0..=INTERVALS {
        let time = low + (high - low) * f64::from(step) / f64::from(INTERVALS);
        while let Some((at, user, processors)) = next.next_if(|it| it.0 <= time) {
            tree.change(user, processors, at);
        }
        let Some(usage) = tree.usage(time) else { continue };
        for (of, line) in &mut lines {
            line.points.push((time, of.share(&tree, &usage)));
        }
    }
    Ok(lines.into_iter().map(|it| it.1).collect())
}

/// The owner of one line.
enum Of {
    Account(usize),
    /// All users outside of accounts.
    NoAccount,
    User(User),
}

impl Of {
    fn share(&self, tree: &Tree, usage: &BTreeMap<User, f64>) -> f64 {
        match *self {
            Of::Account(account) => tree.of_account(usage, account),
            Of::NoAccount => usage.iter().filter(|(user, _)| user.0.is_none()).map(|it| it.1).sum(),
            Of::User(user) => usage[&user],
        }
    }
}

/// Lines without points.
fn empty(tree: &Tree, site: &SiteInfo, owner: Owner) -> Vec<(Of, UsageLine)> {
    let line = |name: String, target| UsageLine { name, target, points: Vec::new() };
    let name = |account: Option<usize>| account.map_or(NO_ACCOUNT, |it| &site.accounts[it].name);
    if owner == Owner::User {
        let of_user = |user: User| {
            let number = if user.1 < 0 { "unknown".to_owned() } else { user.1.to_string() };
            let name = format!("{} ({})", number, name(user.0));
            (Of::User(user), line(name, tree.target_of_user(user)))
        };
        return tree.users().map(of_user).collect();
    }
    let accounts = (0..site.accounts.len())
        .map(|it| (Of::Account(it), line(name(Some(it)).to_owned(), tree.target(it))));
    let others: Vec<User> = tree.users().filter(|it| it.0.is_none()).collect();
    let target = others.iter().map(|&it| tree.target_of_user(it)).sum();
    let outside =
        (!others.is_empty()).then(|| (Of::NoAccount, line(NO_ACCOUNT.to_owned(), target)));
    accounts.chain(outside).collect()
}
