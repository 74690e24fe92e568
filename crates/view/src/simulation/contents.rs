//! The contents of messages, as values with names and units.
//!
//! The types of messages write themselves (serde). This reader keeps the values, gives each its unit by its type, and
//! leaves out what only machines read: no page shows the true run time of a job.

use std::fmt::Display;
use std::sync::PoisonError;

use haggle_agents::Message;
use haggle_agents::protocol::bargain::Answer;
use haggle_agents::protocol::{AgreementMessage, BargainMessage, NumberedMessage};
use haggle_experiment::readable::duration;
use haggle_model::work::{Speed, Work};
use haggle_model::{ActorId, Cast, JobId, Time};
use serde::de::DeserializeOwned;
use serde::de::value::Error;
use serde::ser::{self, Serialize, Serializer};
use serde_json::{Value, json};

use super::past::Said;
use super::walk::name;
use crate::clock::{clamped, elapsed};
use crate::shown::shown;
use crate::view::Values;

/// Most items of a list.
const LIST_MAX: usize = 40;

/// Fields that are not shown: data for machines, draws and logs, counters of protocols, and large models.
const HIDDEN: [&str; 16] = [
    "run_time",
    "program",
    "progress",
    "lot",
    "origin",
    "task",
    "iterative",
    "phases",
    "initial",
    "key",
    "workload",
    "settled",
    "settings",
    "actor",
    "extra",
    "log",
];

/// Fields whose own fields stand among those of the message.
const OPEN: [&str; 9] =
    ["body", "message", "instruction", "answer", "request", "submission", "view", "job", "order"];

/// Names and values of a message that was kept, in its order.
pub(crate) fn contents(message: &Said, cast: &Cast) -> Values {
    let message = &*message.lock().unwrap_or_else(PoisonError::into_inner);
    let reader = Reader { cast, is_open: true };
    let mut fields = match message.serialize(reader) {
        Ok(Content::Fields(fields)) => fields,
        // A message that cannot be written is shown by its kind alone.
        Ok(_) | Err(_) => Vec::new(),
    };
    let own = message.job();
    fields.retain(|(_, value)| match value {
        Content::Job(job) => Some(*job) != own,
        Content::Hidden => false,
        _ => true,
    });
    let mut values = Vec::from_iter(fields.into_iter().map(|(name, value)| (name, value.json())));
    values.extend(offers(message).iter().flat_map(|answer| disclosed(answer)));
    values
}

/// Contents as text, as the page writes them.
pub(crate) fn in_words(values: &[(String, Value)]) -> String {
    let each = values.iter().map(|(name, value)| format!("{name} {}", value_in_words(value)));
    Vec::from_iter(each).join(", ")
}

fn value_in_words(value: &Value) -> String {
    let micros = |key: &str| value[key].as_i64();
    match value {
        Value::String(text) => text.clone(),
        Value::Array(items) => Vec::from_iter(items.iter().map(value_in_words)).join(", "),
        Value::Object(_) => {
            let number = value["job"].as_u64().map(|job| format!("job {job}"));
            let time = micros("time").map(elapsed);
            // As in the story of a job of a run, so that no length looks like a time of day.
            let span = micros("span").map(|it| duration(it as f64 / 1e6));
            let fields = value["fields"].as_array().map(|fields| {
                let pair =
                    |it: &Value| format!("{} {}", value_in_words(&it[0]), value_in_words(&it[1]));
                Vec::from_iter(fields.iter().map(pair)).join(" ")
            });
            number.or(time).or(span).or(fields).unwrap_or_default()
        }
        other => other.to_string(),
    }
}

/// The offers that a message has.
fn offers(message: &Message) -> Option<&Answer> {
    match message {
        Message::Bargain(BargainMessage::Offers(answer)) => Some(answer),
        Message::Agreement(message) => AgreementMessage::new_offers(message),
        Message::Numbered(NumberedMessage::Item { message, .. }) => offers(message),
        _ => None,
    }
}

/// The facts that the level of an answer adds to its offers.
fn disclosed(answer: &Answer) -> Values {
    let view = &answer.view;
    let thousandths = |it: f64| it / 1_000.0;
    let mut facts: Vec<(&str, Value)> = Vec::new();
    facts.extend(view.power().map(|it| ("reference processors", json!(thousandths(it as f64)))));
    facts.extend(view.load().map(|it| {
        let seconds = thousandths(it as f64) / 1e6;
        ("load", json!(format!("{seconds} processor seconds")))
    }));
    facts.extend(view.free_time().map(|it| ("free slots", json!(it.slots.len()))));
    if !view.queue().is_empty() {
        facts.push(("waiting jobs", json!(view.queue().len())));
    }
    Vec::from_iter(facts.into_iter().map(|(name, value)| (name.to_owned(), value)))
}

/// A value of a message.
#[derive(Clone, Debug)]
enum Content {
    /// Not to be shown, or missing.
    Hidden,
    Job(JobId),
    Plain(Value),
    List(Vec<Content>),
    Fields(Vec<(String, Content)>),
}

impl Content {
    fn json(self) -> Value {
        match self {
            Content::Hidden => Value::Null,
            Content::Job(job) => json!({ "job": job.0 }),
            Content::Plain(value) => value,
            Content::List(items) => items.into_iter().map(Content::json).collect(),
            Content::Fields(fields) => {
                let shown = fields.into_iter().filter(|(_, it)| !matches!(it, Content::Hidden));
                let pairs = shown.map(|(name, it)| json!([name, it.json()]));
                json!({ "fields": Vec::from_iter(pairs) })
            }
        }
    }

    fn text(text: impl Display) -> Content {
        Content::Plain(json!(shown(&text.to_string())))
    }
}

/// `JobEnds` and `job_ends` in words.
fn words(name: &str) -> String {
    let mut words = String::new();
    for letter in name.chars() {
        match letter {
            '_' | '-' => words.push(' '),
            _ if letter.is_uppercase() && !words.is_empty() => {
                words.push(' ');
                words.extend(letter.to_lowercase());
            }
            _ => words.extend(letter.to_lowercase()),
        }
    }
    words
}

/// `2-5` for the interval from 2 to 5.
fn interval(ends: &Content) -> String {
    match ends {
        Content::List(ends) => match ends.as_slice() {
            [Content::Plain(first), Content::Plain(last)] if first != last => {
                format!("{first}-{last}")
            }
            [Content::Plain(first), ..] => first.to_string(),
            _ => String::new(),
        },
        // The text with the number of the intervals that are left out.
        Content::Plain(Value::String(text)) => text.clone(),
        _ => String::new(),
    }
}

/// Writes a value as [`Content`].
#[derive(Clone, Copy)]
struct Reader<'c> {
    cast: &'c Cast,
    /// True for the message itself, and what stands among its fields.
    is_open: bool,
}

impl<'c> Reader<'c> {
    fn inner(self) -> Reader<'c> {
        Reader { is_open: false, ..self }
    }

    fn fields(self, of: &'static str) -> Fields<'c> {
        Fields { reader: self, of, fields: Vec::new(), items: Vec::new(), left_out: 0 }
    }

    /// A variant without values. Of a message, its kind tells it; timers have one kind in common.
    fn bare(self, of: &str, variant: &str) -> Vec<(String, Content)> {
        let is_timer = matches!(of, "Timer" | "GridTimer") && variant != "Grid";
        Vec::from_iter(is_timer.then(|| ("timer".to_owned(), Content::text(words(variant)))))
    }

    fn number(self, of: impl Into<Value>) -> Result<Content, Error> {
        Ok(Content::Plain(of.into()))
    }
}

/// A value of a type that is known by its name.
fn read<T: DeserializeOwned>(value: &(impl Serialize + ?Sized)) -> Result<T, Error> {
    let value = serde_json::to_value(value).map_err(ser::Error::custom)?;
    serde_json::from_value(value).map_err(ser::Error::custom)
}

/// Values of a list, a structure or a variant.
struct Fields<'c> {
    reader: Reader<'c>,
    /// The structure.
    of: &'static str,
    fields: Vec<(String, Content)>,
    items: Vec<Content>,
    left_out: usize,
}

impl Fields<'_> {
    fn field(&mut self, key: &'static str, value: &(impl Serialize + ?Sized)) -> Result<(), Error> {
        if HIDDEN.contains(&key) {
            return Ok(());
        }
        let is_open = self.reader.is_open && OPEN.contains(&key);
        match value.serialize(Reader { is_open, ..self.reader })? {
            Content::Fields(fields) if is_open => self.fields.extend(fields),
            Content::Plain(coordinator) if key == "id" => {
                self.fields.push(("agreement of".to_owned(), Content::Plain(coordinator)));
            }
            content => self.fields.push((words(key), content)),
        }
        Ok(())
    }

    fn item(&mut self, value: &(impl Serialize + ?Sized)) -> Result<(), Error> {
        if self.items.len() >= LIST_MAX {
            self.left_out += 1;
            return Ok(());
        }
        match value.serialize(self.reader.inner())? {
            Content::Hidden => {}
            content => self.items.push(content),
        }
        Ok(())
    }

    fn structure(self) -> Result<Content, Error> {
        let first = self.fields.first().map(|(_, content)| content);
        Ok(match (self.of, first) {
            ("ProcessorSet", Some(Content::List(intervals))) => {
                let numbers = intervals.iter().map(interval);
                Content::text(Vec::from_iter(numbers).join(" "))
            }
            // Its number orders the agreements of a coordinator, and means nothing else.
            ("AgreementId", Some(coordinator)) => coordinator.clone(),
            _ => Content::Fields(self.fields),
        })
    }

    fn list(mut self) -> Result<Content, Error> {
        if self.left_out > 0 {
            self.items.push(Content::text(format_args!("and {} more", self.left_out)));
        }
        Ok(Content::List(self.items))
    }
}

impl<'c> Serializer for Reader<'c> {
    type Ok = Content;
    type Error = Error;
    type SerializeSeq = Fields<'c>;
    type SerializeTuple = Fields<'c>;
    type SerializeTupleStruct = Fields<'c>;
    type SerializeTupleVariant = Fields<'c>;
    type SerializeMap = Fields<'c>;
    type SerializeStruct = Fields<'c>;
    type SerializeStructVariant = Fields<'c>;

    fn serialize_bool(self, value: bool) -> Result<Content, Error> {
        Ok(Content::text(if value { "yes" } else { "no" }))
    }

    fn serialize_i8(self, value: i8) -> Result<Content, Error> {
        self.number(value)
    }

    fn serialize_i16(self, value: i16) -> Result<Content, Error> {
        self.number(value)
    }

    fn serialize_i32(self, value: i32) -> Result<Content, Error> {
        self.number(value)
    }

    fn serialize_i64(self, value: i64) -> Result<Content, Error> {
        self.number(value)
    }

    fn serialize_u8(self, value: u8) -> Result<Content, Error> {
        self.number(value)
    }

    fn serialize_u16(self, value: u16) -> Result<Content, Error> {
        self.number(value)
    }

    fn serialize_u32(self, value: u32) -> Result<Content, Error> {
        self.number(value)
    }

    fn serialize_u64(self, value: u64) -> Result<Content, Error> {
        self.number(value)
    }

    fn serialize_u128(self, value: u128) -> Result<Content, Error> {
        self.number(value as f64)
    }

    fn serialize_f32(self, value: f32) -> Result<Content, Error> {
        self.number(value)
    }

    fn serialize_f64(self, value: f64) -> Result<Content, Error> {
        self.number(value)
    }

    fn serialize_char(self, value: char) -> Result<Content, Error> {
        Ok(Content::text(value))
    }

    fn serialize_str(self, value: &str) -> Result<Content, Error> {
        Ok(Content::text(value))
    }

    fn serialize_bytes(self, value: &[u8]) -> Result<Content, Error> {
        Ok(Content::text(format_args!("{} bytes", value.len())))
    }

    fn serialize_none(self) -> Result<Content, Error> {
        Ok(Content::Hidden)
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<Content, Error> {
        value.serialize(self)
    }

    fn serialize_unit(self) -> Result<Content, Error> {
        Ok(Content::Hidden)
    }

    fn serialize_unit_struct(self, _name: &'static str) -> Result<Content, Error> {
        Ok(Content::Hidden)
    }

    fn serialize_unit_variant(
        self,
        of: &'static str,
        _number: u32,
        variant: &'static str,
    ) -> Result<Content, Error> {
        match self.is_open {
            true => Ok(Content::Fields(self.bare(of, variant))),
            false => Ok(Content::text(words(variant))),
        }
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        of: &'static str,
        value: &T,
    ) -> Result<Content, Error> {
        match of {
            "HiddenRunTime" => Ok(Content::Hidden),
            "JobId" => Ok(Content::Job(JobId(read(value)?))),
            // The first actors are the machines.
            "ActorId" | "ProviderId" => Ok(Content::text(name(self.cast, ActorId(read(value)?)))),
            "Time" => {
                let micros: i64 = read(value)?;
                let is_never = micros >= Time::FOREVER.as_micros();
                let time =
                    if is_never { json!("none") } else { json!({ "time": clamped(micros) }) };
                Ok(Content::Plain(time))
            }
            "Span" => Ok(Content::Plain(json!({ "span": clamped(read(value)?) }))),
            "Speed" => Ok(Content::text(read::<Speed>(value)?)),
            "Work" => {
                let parts = match value.serialize(self.inner())? {
                    Content::Plain(parts) => parts.as_f64(),
                    _ => None,
                };
                let work = Work::from_parts(parts.unwrap_or_default() as u128);
                Ok(Content::text(format_args!("{} million instructions", work.as_mi_f64())))
            }
            _ => value.serialize(self),
        }
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _of: &'static str,
        _number: u32,
        variant: &'static str,
        value: &T,
    ) -> Result<Content, Error> {
        match value.serialize(self)? {
            Content::Fields(fields) if self.is_open => Ok(Content::Fields(fields)),
            Content::Hidden => Ok(Content::text(words(variant))),
            content if self.is_open => Ok(Content::Fields(vec![(words(variant), content)])),
            content => Ok(Content::List(vec![Content::text(words(variant)), content])),
        }
    }

    fn serialize_seq(self, _length: Option<usize>) -> Result<Fields<'c>, Error> {
        Ok(self.fields(""))
    }

    fn serialize_tuple(self, _length: usize) -> Result<Fields<'c>, Error> {
        Ok(self.fields(""))
    }

    fn serialize_tuple_struct(
        self,
        _of: &'static str,
        _length: usize,
    ) -> Result<Fields<'c>, Error> {
        Ok(self.fields(""))
    }

    fn serialize_tuple_variant(
        self,
        _of: &'static str,
        _number: u32,
        _variant: &'static str,
        _length: usize,
    ) -> Result<Fields<'c>, Error> {
        Ok(self.fields(""))
    }

    fn serialize_map(self, _length: Option<usize>) -> Result<Fields<'c>, Error> {
        Ok(self.fields(""))
    }

    fn serialize_struct(self, of: &'static str, _length: usize) -> Result<Fields<'c>, Error> {
        Ok(self.fields(of))
    }

    fn serialize_struct_variant(
        self,
        of: &'static str,
        _number: u32,
        variant: &'static str,
        _length: usize,
    ) -> Result<Fields<'c>, Error> {
        let mut fields = self.fields(of);
        match self.is_open {
            true => fields.fields = self.bare(of, variant),
            false => fields.fields.push(("what".to_owned(), Content::text(words(variant)))),
        }
        Ok(fields)
    }
}

macro_rules! lists {
    ($($list:ident $item:ident)*) => {
        $(impl ser::$list for Fields<'_> {
            type Ok = Content;
            type Error = Error;

            fn $item<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Error> {
                self.item(value)
            }

            fn end(self) -> Result<Content, Error> {
                self.list()
            }
        })*
    };
}

lists! {
    SerializeSeq serialize_element
    SerializeTuple serialize_element
    SerializeTupleStruct serialize_field
    SerializeTupleVariant serialize_field
}

impl ser::SerializeMap for Fields<'_> {
    type Ok = Content;
    type Error = Error;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), Error> {
        self.item(key)
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Error> {
        self.item(value)
    }

    fn end(self) -> Result<Content, Error> {
        self.list()
    }
}

macro_rules! structures {
    ($($structure:ident)*) => {
        $(impl ser::$structure for Fields<'_> {
            type Ok = Content;
            type Error = Error;

            fn serialize_field<T: Serialize + ?Sized>(
                &mut self,
                key: &'static str,
                value: &T,
            ) -> Result<(), Error> {
                self.field(key, value)
            }

            fn end(self) -> Result<Content, Error> {
                self.structure()
            }
        })*
    };
}

structures! { SerializeStruct SerializeStructVariant }

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_and_lengths_have_different_words() {
        let pair = |name: &str, key: &str| (name.to_owned(), json!({ key: 5_400_000_000_i64 }));
        let words = in_words(&[pair("start", "time"), pair("length", "span")]);
        assert_eq!(words, "start 01:30, length 5400 s (1 h 30 min)");
    }
}
