//! Messages and disclosures of a run, read when they are asked for.

use std::collections::BTreeMap;

use haggle_results::reader::{CellValue, MessageFaultRow, Rows, TableData};
use haggle_results::{ResultsError, RunReader, Table};

use super::Data;
use crate::Refusal;
use crate::clock::micros;
use crate::shown::shown;
use crate::view::{MessageEntry, MessagesAnswer, MessagesQuery, Told};

/// Most rows in an answer.
const ROWS_MAX: usize = 5_000;

/// Most faults that are merged with the messages.
const FAULTS_MAX: usize = 200_000;

/// Most kinds of told items in an answer.
const TOLD_MAX: usize = 10_000;

/// True if an actor has the name that the page asks for. The page has names as they are shown.
pub(super) fn is_called(name: &str, asked: &str) -> bool {
    name == asked
        || (name.len() > asked.len() || name.contains(char::is_control)) && shown(name) == asked
}

/// Messages of a query.
pub(super) fn messages(data: &Data, query: &MessagesQuery) -> Result<MessagesAnswer, Refusal> {
    let run = data.run()?;
    if !data.had(Table::Messages) {
        let note = "the run kept no messages: set `messages = \"all\"` under [results]";
        return Ok(MessagesAnswer { note: Some(note.to_owned()), ..MessagesAnswer::default() });
    }
    let all = read(run, query);
    all.map_err(|error| Data::refusal(&error))
}

fn read(run: &RunReader, query: &MessagesQuery) -> Result<MessagesAnswer, ResultsError> {
    const COLUMNS: [&str; 5] = ["time", "sender", "receiver", "kind", "job"];
    let faults = faults(run, query)?;
    let mut page = Page::new(query, faults);
    // Rows about a job are found by one column, which is read first for their numbers.
    let (rows, numbers) = match query.job {
        Some(job) => {
            let job = i64::from(job);
            let mut numbers = Vec::new();
            run.in_batches(Table::Messages, &["job"], &Rows::all(), |batch| {
                let before = page.total_rows;
                page.total_rows += batch.rows();
                let jobs = batch.integer("job")?.iter().enumerate();
                numbers.extend(jobs.filter(|it| *it.1 == Some(job)).map(|it| before + it.0));
                Ok(())
            })?;
            (Rows::of("job", [job]), Some(numbers))
        }
        None => (Rows::all(), None),
    };
    let mut first = 0;
    run.in_batches(Table::Messages, &COLUMNS, &rows, |batch| {
        let asks = Asks::of(query, &batch)?;
        let times = batch.real("time")?;
        for (row, time) in times.iter().enumerate() {
            let Some(time) = time.and_then(micros) else { continue };
            if asks.has(&batch, row, time) {
                let place = first + row;
                let number = numbers.as_ref().map_or(Some(&place), |it| it.get(place));
                page.add(time, |number_of_row| entry(&batch, row, time, number_of_row), number);
            }
        }
        first += batch.rows();
        Ok(())
    })?;
    Ok(page.finished())
}

/// A query for the rows of a block.
struct Asks<'q> {
    query: &'q MessagesQuery,
    /// For each text of the senders and of the receivers, true if it is the actor.
    actors: Option<(Vec<bool>, Vec<bool>)>,
    known: Option<(Vec<bool>, Vec<bool>)>,
}

impl<'q> Asks<'q> {
    fn of(query: &'q MessagesQuery, batch: &TableData) -> Result<Asks<'q>, ResultsError> {
        let (senders, receivers) = (batch.text("sender")?, batch.text("receiver")?);
        let is = |asked: &String| {
            let of = |texts: &[String]| texts.iter().map(|it| is_called(it, asked)).collect();
            (of(&senders.texts), of(&receivers.texts))
        };
        Ok(Asks {
            query,
            actors: query.actor.as_ref().map(is),
            known: query.known_to.as_ref().map(is),
        })
    }

    fn has(&self, batch: &TableData, row: usize, time: i64) -> bool {
        let in_time = self.query.from.is_none_or(|from| from <= time)
            && self.query.to.is_none_or(|to| time < to);
        let is_actor = |sides: &Option<(Vec<bool>, Vec<bool>)>| {
            let Some((senders, receivers)) = sides else { return true };
            let is = |name, known: &[bool]| {
                let code =
                    batch.text(name).ok().and_then(|it| it.codes.get(row).copied().flatten());
                code.and_then(|it| known.get(it as usize).copied()).unwrap_or(false)
            };
            is("sender", senders) || is("receiver", receivers)
        };
        in_time && is_actor(&self.actors) && is_actor(&self.known)
    }
}

fn text(batch: &TableData, row: usize, name: &str) -> String {
    match batch.cell(row, name) {
        CellValue::Text(text) => shown(text),
        _ => String::new(),
    }
}

fn entry(batch: &TableData, row: usize, time: i64, number: usize) -> MessageEntry {
    let job = match batch.cell(row, "job") {
        CellValue::Integer(job) => u32::try_from(job).ok(),
        _ => None,
    };
    MessageEntry {
        number: Some(number),
        time,
        sender: text(batch, row, "sender"),
        receiver: text(batch, row, "receiver"),
        kind: text(batch, row, "kind"),
        job,
        fault: None,
        values: None,
    }
}

/// Faults of a query, by time.
fn faults(run: &RunReader, query: &MessagesQuery) -> Result<Vec<MessageEntry>, ResultsError> {
    let rows = match query.job {
        Some(job) => Rows::of("job", [i64::from(job)]),
        None => Rows::all(),
    };
    let mut faults: Vec<MessageEntry> = Vec::new();
    let is = |asked: &Option<String>, row: &MessageFaultRow| {
        asked.as_ref().is_none_or(|it| is_called(&row.sender, it) || is_called(&row.receiver, it))
    };
    MessageFaultRow::each(run, &rows, |row| {
        let Some(time) = micros(row.time) else { return };
        let in_time = query.from.is_none_or(|it| it <= time) && query.to.is_none_or(|it| time < it);
        if in_time
            && is(&query.actor, &row)
            && is(&query.known_to, &row)
            && faults.len() < FAULTS_MAX
        {
            faults.push(MessageEntry {
                number: None,
                time,
                sender: shown(&row.sender),
                receiver: shown(&row.receiver),
                kind: shown(&row.kind),
                job: row.job.and_then(|it| u32::try_from(it).ok()),
                fault: Some(shown(&row.fault)),
                values: None,
            });
        }
    })?;
    faults.sort_by_key(|it| it.time);
    Ok(faults)
}

/// The rows of a page, out of messages and faults in order of time.
struct Page {
    first: usize,
    last: usize,
    /// Faults that have not been passed, the next one last.
    faults: Vec<MessageEntry>,
    total: usize,
    total_rows: usize,
    rows: Vec<MessageEntry>,
}

impl Page {
    fn new(query: &MessagesQuery, mut faults: Vec<MessageEntry>) -> Page {
        faults.reverse();
        Page {
            first: query.first,
            last: query.first.saturating_add(query.count.min(ROWS_MAX)),
            faults,
            total: 0,
            total_rows: 0,
            rows: Vec::new(),
        }
    }

    fn add(
        &mut self,
        time: i64,
        entry: impl FnOnce(usize) -> MessageEntry,
        number: Option<&usize>,
    ) {
        while let Some(fault) = self.faults.pop_if(|it| it.time <= time) {
            self.push(|| fault);
        }
        self.push(|| entry(number.copied().unwrap_or(0)));
    }

    fn push(&mut self, entry: impl FnOnce() -> MessageEntry) {
        if (self.first..self.last).contains(&self.total) {
            self.rows.push(entry());
        }
        self.total += 1;
    }

    fn finished(mut self) -> MessagesAnswer {
        while let Some(fault) = self.faults.pop() {
            self.push(|| fault);
        }
        MessagesAnswer { total: self.total, rows: self.rows, note: None }
    }
}

/// Items that were told to an actor.
pub(super) fn told(data: &Data, actor: &str, until: Option<i64>) -> Result<Vec<Told>, Refusal> {
    const COLUMNS: [&str; 5] = ["time", "sender", "receiver", "item", "count"];
    let run = data.run()?;
    if !data.had(Table::Disclosures) {
        return Ok(Vec::new());
    }
    let mut all: BTreeMap<(String, String), (i64, i64, i64)> = BTreeMap::new();
    let read = run.in_batches(Table::Disclosures, &COLUMNS, &Rows::all(), |batch| {
        let (senders, receivers) = (batch.text("sender")?, batch.text("receiver")?);
        let is = Vec::from_iter(receivers.texts.iter().map(|it| is_called(it, actor)));
        let (times, items) = (batch.real("time")?, batch.text("item")?);
        let counts = batch.integer("count")?;
        for row in 0..batch.rows() {
            let is = receivers.codes[row].and_then(|it| is.get(it as usize).copied());
            let time = times[row].and_then(micros);
            let Some(time) = time.filter(|it| until.is_none_or(|until| *it <= until)) else {
                continue;
            };
            if is != Some(true) {
                continue;
            }
            let key = [senders.at(row), items.at(row)].map(|it| it.unwrap_or_default());
            // Most rows repeat a key, and need no new text.
            let key = (key[0].to_owned(), key[1].to_owned());
            if all.len() >= TOLD_MAX && !all.contains_key(&key) {
                continue;
            }
            let entry = all.entry(key).or_insert((0, time, time));
            let count = counts[row].unwrap_or(0);
            *entry = (entry.0.saturating_add(count), entry.1.min(time), entry.2.max(time));
        }
        Ok(())
    });
    read.map_err(|error| Data::refusal(&error))?;
    let told = |((sender, item), (count, first, last)): ((String, String), (i64, i64, i64))| Told {
        sender: shown(&sender),
        item: shown(&item),
        count,
        first,
        last,
        values: None,
    };
    Ok(all.into_iter().map(told).collect())
}
