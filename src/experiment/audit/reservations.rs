//! `reservations` against `jobs` and the summary.

use std::collections::BTreeMap;

use super::Books;
use super::findings::Findings;
use super::rows::{Job, Reservation};

pub(super) fn check(books: &Books, findings: &mut Findings) {
    let jobs: BTreeMap<i64, &Job> = books.rows.jobs.iter().map(|it| (it.job, it)).collect();
    let rows = &books.rows.reservations;
    for it in rows {
        let place = || format!("job {}", it.job);
        let Some(job) = jobs.get(&it.job) else {
            findings.expect(false, "what was granted is in `jobs`", place);
            continue;
        };
        let in_window = |start: i64| {
            it.ready.is_none_or(|ready| ready <= start)
                && it.deadline.is_none_or(|deadline| start + it.span <= deadline)
        };
        let holds = in_window(it.planned);
        findings.expect(holds, "what is granted is planned in its window", place);
        let holds = it.broken || job.started.is_none_or(in_window);
        findings.expect(holds, "what is granted starts in its window", place);
        let holds = it.broken || it.fixed.zip(job.started).is_none_or(|(a, b)| a == b);
        findings.expect(holds, "what is fixed moves no more", place);
    }
    // Jobs that a summary leaves out have rows all the same.
    if books.summary.jobs_cut > 0 {
        return;
    }
    let all = books.summary.all.reservations.as_ref();
    let sums = all.map_or([0; 4], |it| [it.granted, it.beside, it.fixed, it.broken]);
    let count = |is: &dyn Fn(&Reservation) -> bool| rows.iter().filter(|it| is(it)).count() as u64;
    let counted = [
        rows.len() as u64,
        count(&|it| it.beside),
        count(&|it| it.fixed.is_some()),
        count(&|it| it.broken),
    ];
    let names = ["granted", "beside", "fixed", "broken"];
    for ((name, sum), counted) in names.into_iter().zip(sums).zip(counted) {
        let rule = "the summary counts all reservations";
        findings.equal(rule, name.to_owned(), counted, sum);
    }
}
