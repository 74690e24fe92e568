//! Bounds that the contents of a message must keep, whoever sent it.
//!
//! A message describes itself to [`Bounds`] as it would to any format: types and fields by name. So a rule
//! about a type holds wherever that type occurs, also in messages that are added later. Actors check the
//! rest, such as the order of steps, because only they know what it means.

use std::fmt::Display;

use haggle_agents::Message;
use haggle_agents::protocol::{NumberedMessage, PlanningMessage};
use haggle_model::{Job, Time};
use haggle_planning::Interval;
use serde::ser::{self, Serialize, Serializer};
use thiserror::Error;

/// Largest value of a counter: sums of a few never overflow.
const COUNT_MAX: u64 = 1 << 62;
/// Largest amount of computing, in its own parts: the same.
const WORK_MAX: u128 = 1 << 120;
/// Largest size of data, in bytes: a sum over all inputs in a frame does not overflow.
const BYTES_MAX: u64 = 1 << 44;
/// Longest name, in bytes.
const NAME_MAX: usize = 256;
/// Reports of progress of one task.
const REPORTS_MAX: f64 = 1e6;

/// Sizes of the world of which a message may speak. Each number is one above the largest allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Actors.
    pub actors: u32,
    /// Places where jobs run.
    pub providers: u32,
    /// Jobs.
    pub jobs: u32,
    /// Processors of a job, tasks of a bag, processes of an application.
    pub processors: u32,
}

/// Larger than any world that was simulated.
impl Default for Limits {
    fn default() -> Limits {
        Limits { actors: 1 << 20, providers: 1 << 20, jobs: 1 << 30, processors: 1 << 24 }
    }
}

/// A number out of its bounds.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{0}")]
pub struct Wrong(String);

impl ser::Error for Wrong {
    fn custom<T: Display>(message: T) -> Wrong {
        Wrong(message.to_string())
    }
}

impl Limits {
    /// Checks all numbers of a message.
    pub(super) fn check(&self, message: &Message) -> Result<(), Wrong> {
        let about = About { of: "message", field: "" };
        message.serialize(&mut Bounds { limits: *self, about, first: 1, length: 0.0 })?;
        phases(message)
    }
}

/// The innermost type and field.
#[derive(Clone, Copy)]
struct About {
    of: &'static str,
    field: &'static str,
}

/// Checks numbers as they pass.
struct Bounds {
    limits: Limits,
    about: About,
    /// The first phase of an interval, of which the last follows.
    first: u64,
    /// The length of a task, of which the work between two reports follows.
    length: f64,
}

/// The fields of a type or a variant.
struct Inside<'a> {
    bounds: &'a mut Bounds,
    of: &'static str,
}

impl Bounds {
    fn keep<T: PartialOrd + Display + Copy>(
        &self,
        value: T,
        least: T,
        most: T,
    ) -> Result<(), Wrong> {
        if (least..=most).contains(&value) {
            return Ok(());
        }
        let About { of, field } = self.about;
        let place = if field.is_empty() { of.to_owned() } else { format!("{of}.{field}") };
        Err(Wrong(format!("{place} is {value}, not within {least} to {most}")))
    }

    /// Checks a value as the field of a type.
    fn within<T: Serialize + ?Sized>(
        &mut self,
        of: &'static str,
        field: &'static str,
        value: &T,
    ) -> Result<(), Wrong> {
        let around = std::mem::replace(&mut self.about, About { of, field });
        value.serialize(&mut *self)?;
        self.about = around;
        Ok(())
    }

    fn unsigned(&mut self, value: u64) -> Result<(), Wrong> {
        let below = |limit: u32| u64::from(limit.max(1) - 1);
        let Limits { actors, providers, jobs, processors } = self.limits;
        let (least, most) = match (self.about.of, self.about.field) {
            // A hash, and a seed.
            ("Lot", _) | (_, "seed") => return Ok(()),
            ("ActorId", _) => (0, below(actors)),
            ("ProviderId" | "ResourceId", _) => (0, below(providers)),
            ("JobId", _) => (0, below(jobs)),
            // Offers of nothing, and a share without tasks, are harmless.
            (_, "tasks") if self.about.of != "Call" => (0, below(processors)),
            (_, "processors" | "tasks") | ("Kept", _) => (1, below(processors)),
            (_, "processes" | "machines" | "unheld") => (0, below(processors)),
            // Of a moldable job.
            ("Speedup", "limit") => (1, u64::from(u32::MAX)),
            ("Speedup", "parallel") => (0, 1_000_000),
            ("Interval", "first") => (1, COUNT_MAX),
            ("Interval", "last") => (self.first, COUNT_MAX),
            (_, "bytes" | "input" | "output" | "checkpoint") => (0, BYTES_MAX),
            _ => (0, COUNT_MAX),
        };
        self.keep(value, least, most)?;
        if let About { of: "Interval", field: "first" } = self.about {
            self.first = value;
        }
        Ok(())
    }

    fn signed(&self, value: i64) -> Result<(), Wrong> {
        match self.about.of {
            // The free times of a provider begin before all times.
            "Time" if value == i64::MIN => Ok(()),
            "Time" => self.keep(value, Time::PAST.as_micros(), Time::FOREVER.as_micros()),
            // The time until an instant that never comes is longer than the longest span.
            "Span" => self.keep(value, 0, Time::FOREVER.as_micros()),
            _ => Ok(()),
        }
    }

    fn real(&mut self, value: f64) -> Result<(), Wrong> {
        let (least, most) = match (self.about.of, self.about.field) {
            ("Progress", "actual") => {
                self.length = value;
                (f64::MIN_POSITIVE, f64::MAX)
            }
            ("Progress", "step") => (self.length / REPORTS_MAX, f64::MAX),
            // Divisors.
            ("Behaviour", "slowness") | ("ProgressReport", "part") => (f64::MIN_POSITIVE, f64::MAX),
            ("ProgressReport", "done") | ("Profile", "tolerance") => (0.0, f64::MAX),
            ("Term", "coefficient" | "load") => (0.0, f64::MAX),
            _ => (f64::MIN, f64::MAX),
        };
        self.keep(value, least, most)
    }
}

/// Phases in a message about an application are phases of that application.
fn phases(message: &Message) -> Result<(), Wrong> {
    let of = |job: &Job, last: usize| {
        let phases = job.phases.as_ref().map_or(0, |it| it.phases());
        if last <= phases {
            return Ok(());
        }
        Err(Wrong(format!("an application of {phases} phases has no phase {last}")))
    };
    let each = |job: &Job, interval: &Interval| of(job, interval.last);
    match message {
        Message::Planning(PlanningMessage::PlanRequest { job, first }) => of(job, *first as usize),
        Message::Planning(PlanningMessage::TimesRequest(request)) => {
            request.intervals.iter().try_for_each(|it| each(&request.job, it))
        }
        Message::Planning(
            PlanningMessage::Propose(order) | PlanningMessage::RunInterval(order),
        ) => each(&order.job, &order.interval),
        Message::Numbered(NumberedMessage::Item { message, .. }) => phases(message),
        _ => Ok(()),
    }
}

impl<'a> Serializer for &'a mut Bounds {
    type Ok = ();
    type Error = Wrong;
    type SerializeSeq = Inside<'a>;
    type SerializeTuple = Inside<'a>;
    type SerializeTupleStruct = Inside<'a>;
    type SerializeTupleVariant = Inside<'a>;
    type SerializeMap = Inside<'a>;
    type SerializeStruct = Inside<'a>;
    type SerializeStructVariant = Inside<'a>;

    fn serialize_bool(self, _: bool) -> Result<(), Wrong> {
        Ok(())
    }
    fn serialize_i8(self, value: i8) -> Result<(), Wrong> {
        self.signed(value.into())
    }
    fn serialize_i16(self, value: i16) -> Result<(), Wrong> {
        self.signed(value.into())
    }
    fn serialize_i32(self, value: i32) -> Result<(), Wrong> {
        self.signed(value.into())
    }
    fn serialize_i64(self, value: i64) -> Result<(), Wrong> {
        self.signed(value)
    }
    fn serialize_u8(self, value: u8) -> Result<(), Wrong> {
        self.unsigned(value.into())
    }
    fn serialize_u16(self, value: u16) -> Result<(), Wrong> {
        self.unsigned(value.into())
    }
    fn serialize_u32(self, value: u32) -> Result<(), Wrong> {
        self.unsigned(value.into())
    }
    fn serialize_u64(self, value: u64) -> Result<(), Wrong> {
        self.unsigned(value)
    }
    fn serialize_u128(self, value: u128) -> Result<(), Wrong> {
        self.keep(value, 0, WORK_MAX)
    }
    fn serialize_f32(self, value: f32) -> Result<(), Wrong> {
        self.real(value.into())
    }
    fn serialize_f64(self, value: f64) -> Result<(), Wrong> {
        self.real(value)
    }
    fn serialize_char(self, _: char) -> Result<(), Wrong> {
        Ok(())
    }
    fn serialize_str(self, value: &str) -> Result<(), Wrong> {
        self.keep(value.len(), 0, NAME_MAX)
    }
    fn serialize_bytes(self, _: &[u8]) -> Result<(), Wrong> {
        Ok(())
    }
    fn serialize_none(self) -> Result<(), Wrong> {
        Ok(())
    }
    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<(), Wrong> {
        value.serialize(self)
    }
    fn serialize_unit(self) -> Result<(), Wrong> {
        Ok(())
    }
    fn serialize_unit_struct(self, _: &'static str) -> Result<(), Wrong> {
        Ok(())
    }
    fn serialize_unit_variant(self, _: &'static str, _: u32, _: &'static str) -> Result<(), Wrong> {
        Ok(())
    }
    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        name: &'static str,
        value: &T,
    ) -> Result<(), Wrong> {
        // A program was checked when its run time was hidden, and other run times are unknown.
        if name == "HiddenRunTime" { Ok(()) } else { self.within(name, "", value) }
    }
    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        value: &T,
    ) -> Result<(), Wrong> {
        self.within(variant, "", value)
    }
    fn serialize_seq(self, _: Option<usize>) -> Result<Inside<'a>, Wrong> {
        let of = self.about.of;
        Ok(Inside { bounds: self, of })
    }
    fn serialize_tuple(self, _: usize) -> Result<Inside<'a>, Wrong> {
        self.serialize_seq(None)
    }
    fn serialize_tuple_struct(self, of: &'static str, _: usize) -> Result<Inside<'a>, Wrong> {
        Ok(Inside { bounds: self, of })
    }
    fn serialize_tuple_variant(
        self,
        _: &'static str,
        _: u32,
        of: &'static str,
        _: usize,
    ) -> Result<Inside<'a>, Wrong> {
        Ok(Inside { bounds: self, of })
    }
    fn serialize_map(self, _: Option<usize>) -> Result<Inside<'a>, Wrong> {
        self.serialize_seq(None)
    }
    fn serialize_struct(self, of: &'static str, _: usize) -> Result<Inside<'a>, Wrong> {
        Ok(Inside { bounds: self, of })
    }
    fn serialize_struct_variant(
        self,
        _: &'static str,
        _: u32,
        of: &'static str,
        _: usize,
    ) -> Result<Inside<'a>, Wrong> {
        Ok(Inside { bounds: self, of })
    }
}

impl ser::SerializeSeq for Inside<'_> {
    type Ok = ();
    type Error = Wrong;

    // Elements are seen as the field that has them.
    fn serialize_element<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Wrong> {
        value.serialize(&mut *self.bounds)
    }
    fn end(self) -> Result<(), Wrong> {
        Ok(())
    }
}

impl ser::SerializeTuple for Inside<'_> {
    type Ok = ();
    type Error = Wrong;

    fn serialize_element<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Wrong> {
        value.serialize(&mut *self.bounds)
    }
    fn end(self) -> Result<(), Wrong> {
        Ok(())
    }
}

impl ser::SerializeMap for Inside<'_> {
    type Ok = ();
    type Error = Wrong;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), Wrong> {
        key.serialize(&mut *self.bounds)
    }
    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Wrong> {
        value.serialize(&mut *self.bounds)
    }
    fn end(self) -> Result<(), Wrong> {
        Ok(())
    }
}

/// Fields without a name.
macro_rules! unnamed {
    ($($of:ident)*) => {
        $(impl ser::$of for Inside<'_> {
            type Ok = ();
            type Error = Wrong;

            fn serialize_field<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Wrong> {
                self.bounds.within(self.of, "", value)
            }
            fn end(self) -> Result<(), Wrong> {
                Ok(())
            }
        })*
    };
}

/// Fields with a name.
macro_rules! named {
    ($($of:ident)*) => {
        $(impl ser::$of for Inside<'_> {
            type Ok = ();
            type Error = Wrong;

            fn serialize_field<T: Serialize + ?Sized>(
                &mut self,
                field: &'static str,
                value: &T,
            ) -> Result<(), Wrong> {
                self.bounds.within(self.of, field, value)
            }
            fn end(self) -> Result<(), Wrong> {
                Ok(())
            }
        })*
    };
}

unnamed! { SerializeTupleStruct SerializeTupleVariant }
named! { SerializeStruct SerializeStructVariant }
