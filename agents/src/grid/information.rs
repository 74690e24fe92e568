//! The information service: passes the state of resources on to the dispatcher, at once or later.

use std::collections::BTreeMap;

use haggle_model::random::Stream;
use haggle_model::{ActorId, Span, Time};
use rand::RngExt;
use serde::{Deserialize, Serialize};

use crate::glimpse::{Fact, FactKind, Glimpse};
use crate::protocol::{GridTimer, InformationMessage, Message, RunMessage, Status, Timer};
use crate::{Actor, Outbox};

/// Delay until the dispatcher learns of a change (Chtepen 2011, sections 2.2 and 4.3.4).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Delay {
    /// At once.
    None,
    /// At the next multiple of this time. A change that is reversed by then is not seen.
    Periodic(Span),
    /// After a time drawn for each change, uniform between zero and this time. The changes of one
    /// resource stay in order.
    Random(Span),
}

/// Passes the reports of resources on.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct InformationService {
    dispatcher: ActorId,
    delay: Delay,
    stream: Stream,
    /// Reports not passed on yet, by the time at which they are due, then in order of arrival.
    pending: BTreeMap<(Time, u64), (ActorId, Box<Status>)>,
    received: u64,
    /// Due time of the last report so far, by resource; empty if the delay is not drawn.
    last: Vec<Time>,
}

impl InformationService {
    /// A service for so many resources, without reports yet.
    pub fn new(
        dispatcher: ActorId,
        resources: usize,
        delay: Delay,
        stream: Stream,
    ) -> InformationService {
        let drawn = matches!(delay, Delay::Random(_));
        InformationService {
            dispatcher,
            delay,
            stream,
            pending: BTreeMap::new(),
            received: 0,
            last: if drawn { vec![Time::ZERO; resources] } else { Vec::new() },
        }
    }

    fn on_status(&mut self, now: Time, from: ActorId, status: Box<Status>, out: &mut Outbox) {
        let at = match self.delay {
            Delay::None => now,
            Delay::Periodic(period) => now.next_multiple_of(period),
            Delay::Random(longest) => {
                let drawn = self.stream.random_range(0..=longest.as_micros());
                let Some(last) = self.last.get_mut(status.resource.index()) else {
                    return out.refuse(from);
                };
                // Not before the last change, so that the changes of one resource stay in order.
                *last = (now + Span::from_micros(drawn)).max(*last);
                *last
            }
        };
        // A report that is due now needs no timer.
        if at == now {
            out.send(self.dispatcher, InformationMessage::Report(status));
            return;
        }
        self.received += 1;
        self.pending.insert((at, self.received), (from, status));
        // One wake-up for each report; the first of an instant passes on all that are due.
        out.wake(at, GridTimer::ReportDue);
    }

    fn on_report_due(&mut self, now: Time, out: &mut Outbox) {
        while let Some(entry) = self.pending.first_entry().filter(|entry| entry.key().0 <= now) {
            let (_, status) = entry.remove();
            out.send(self.dispatcher, InformationMessage::Report(status));
        }
    }
}

impl InformationService {
    /// The reports that it has not passed on; a resource is named by its actor.
    pub(crate) fn glimpse(&self) -> Glimpse {
        let facts = self.pending.values().flat_map(|(from, status)| {
            let report = &status.report;
            let fact =
                |kind, value| Fact { at: Some(report.taken), ..Fact::about(*from, kind, value) };
            [
                fact(FactKind::Up, f64::from(u8::from(report.up))),
                fact(FactKind::Speed, report.avail.as_mips_f64()),
                fact(FactKind::UsedSlots, report.jobs.len() as f64),
            ]
        });
        Glimpse::of_facts(facts.collect())
    }
}

impl Actor for InformationService {
    type Message = Message;

    fn on_message(&mut self, now: Time, from: ActorId, message: Message, out: &mut Outbox) {
        match message {
            Message::Information(InformationMessage::Status(status)) => {
                self.on_status(now, from, status, out)
            }
            Message::Wake(Timer::Grid(GridTimer::ReportDue)) => self.on_report_due(now, out),
            Message::Run(RunMessage::RunOver) => {}
            _ => out.refuse(from),
        }
    }
}
