//! Draws documents that fit the schema. Names of others are filled in afterwards.

use serde_json::Value as Json;
use toml::Value;

use super::dice::Dice;
use super::fill::fill;
use super::keys::named;
use super::records;
use super::size::{Theme, Wish, always, ascending, members, most, recurs, usual};
use super::strings::{Kind, Role, role};
use super::wanted::Wanted;
use haggle_scenario::quantity::TimeSpan;
use haggle_scenario::schema::SCHEMA;

/// Placeholder for a name, or a path into the scenario, until all names exist.
pub(super) const OPEN: &str = "?";

/// Draws values under a theme.
pub(super) struct Draw<'d> {
    pub(super) dice: &'d mut Dice,
    pub(super) theme: Theme,
    /// Kinds that are named somewhere, but do not exist.
    pub(super) missing: Vec<Kind>,
    /// Number of names given so far.
    names: usize,
    /// Probability of an optional key, in percent; some tables are fuller than others.
    fullness: usize,
}

impl Draw<'_> {
    pub(super) fn new(dice: &mut Dice, theme: Theme) -> Draw<'_> {
        Draw { dice, theme, missing: Vec::new(), names: 0, fullness: 0 }
    }

    /// A whole scenario, with the `wanted` key in it.
    pub(super) fn document(&mut self, wanted: &mut Option<Wanted>) -> toml::Table {
        let mut document = self.table("Scenario", SCHEMA.whole());
        if let Some(wanted) = wanted {
            wanted.put(&mut document, self);
        }
        fill(&mut document, self);
        document
    }

    /// A table of the type `name`.
    pub(super) fn table(&mut self, name: &str, schema: &Json) -> toml::Table {
        if let Some((tag, variants)) = SCHEMA.variants(schema) {
            let mut choice = *self.dice.pick(&variants);
            while self.theme.avoids(name, choice.0) {
                choice = *self.dice.pick(&variants);
            }
            let (word, variant) = choice;
            return self.tagged(name, tag, word, variant);
        }
        self.rows(name, schema)
    }

    /// A table of the type `name` with this tag, which is empty for tables without tags.
    pub(super) fn table_of(&mut self, name: &str, schema: &Json, word: &str) -> toml::Table {
        let variant = SCHEMA
            .variants(schema)
            .and_then(|(tag, all)| Some((tag, all.into_iter().find(|it| it.0 == word)?.1)));
        match variant {
            Some((tag, variant)) => self.tagged(name, tag, word, variant),
            None => self.table(name, schema),
        }
    }

    fn tagged(&mut self, name: &str, tag: &str, word: &str, variant: &Json) -> toml::Table {
        let mut table = self.rows(name, variant);
        table.insert(tag.to_owned(), Value::String(word.to_owned()));
        table
    }

    fn rows(&mut self, name: &str, schema: &Json) -> toml::Table {
        let outer = self.fullness;
        let root = name == "Scenario";
        self.fullness = if root { 45 } else { *self.dice.pick(&[3, 10, 20, 35, 60]) };
        let mut table = toml::Table::new();
        for (key, property) in SCHEMA.properties(schema) {
            // The theme comes before all probabilities.
            let there = match self.theme.wish(name, key) {
                Some(Wish::Absent) => false,
                Some(Wish::Present | Wish::OneOf(_)) => true,
                None if always(name, key) => true,
                None if usual(name, key) => self.dice.chance(95),
                None => self.dice.chance(self.fullness),
            };
            if there || SCHEMA.required(schema).any(|it| it == key) {
                table.insert(key.to_owned(), self.value(name, key, property));
            }
        }
        // Inner tables have set their own.
        self.fullness = outer;
        table
    }

    /// The value of a key of a table of the type `name`.
    pub(super) fn value(&mut self, name: &str, key: &str, schema: &Json) -> Value {
        let (type_name, inner) = named(schema);
        let type_name = type_name.unwrap_or(name);
        let wished = self.theme.wish(name, key);
        let words = match &wished {
            Some(Wish::OneOf(words)) => Some(words.to_vec()),
            _ => SCHEMA.words(schema),
        };
        if let Some(words) = words {
            let word = *self.dice.pick(&words);
            // If a word alone is enough, half of the values are the word, and the others are the table.
            let alone = SCHEMA.words(schema).unwrap_or_default().contains(&word);
            let table = SCHEMA.variants(inner).is_some();
            return match table && (!alone || self.dice.chance(50)) {
                true => Value::Table(self.table_of(type_name, inner, word)),
                false => Value::String(word.to_owned()),
            };
        }
        if SCHEMA.variants(inner).is_some() {
            return Value::Table(self.table(type_name, inner));
        }
        match SCHEMA.type_of(inner) {
            Some("string") => Value::String(self.string(name, key, inner)),
            Some("integer") => Value::Integer(self.integer(name, key, inner)),
            Some("number") => Value::Float(self.number(name, key, inner)),
            Some("boolean") => Value::Boolean(self.dice.chance(50)),
            Some("array") => Value::Array(self.list(name, key, inner)),
            Some("object") => Value::Table(self.table(type_name, inner)),
            _ => Value::String(OPEN.to_owned()),
        }
    }

    fn list(&mut self, name: &str, key: &str, schema: &Json) -> Vec<Value> {
        let (low, high) = members(name, key);
        let least = schema["minItems"].as_u64().map_or(low, |count| (count as usize).max(low));
        let greatest = schema["maxItems"].as_u64().map_or(high.max(least), |it| it as usize);
        let count = self.dice.between(least, greatest.min(high.max(least)));
        let mut list: Vec<Value> =
            (0..count).map(|_| self.value(name, key, &schema["items"])).collect();
        if ascending(name, key) {
            list.sort_by(|a, b| size_of(a).total_cmp(&size_of(b)));
        }
        if let Some(word) = self.theme.member(name, key) {
            let (type_name, inner) = named(&schema["items"]);
            list.push(Value::Table(self.table_of(type_name.unwrap_or(name), inner, word)));
        }
        list
    }

    fn string(&mut self, name: &str, key: &str, schema: &Json) -> String {
        if let Some(role) = role(name, key) {
            return self.role(role);
        }
        let format = schema["format"].as_str().unwrap_or_default();
        if format == "time-span" && recurs(name, key) {
            return (*self.dice.pick(&RECURRING)).to_owned();
        }
        match quantities(format) {
            // Most times are among the same few, so that events meet at one instant.
            Some(pool) if self.dice.chance(90) => (*self.dice.pick(pool)).to_owned(),
            Some(_) if format == "time-span" => format!("{}s", self.dice.between(1, 5_000)),
            Some(_) if format == "share" => format!("{}%", self.dice.below(101)),
            Some(pool) => (*self.dice.pick(pool)).to_owned(),
            None => schema["examples"][0].as_str().unwrap_or_default().to_owned(),
        }
    }

    fn role(&mut self, role: Role) -> String {
        match role {
            Role::Own(letter) => {
                self.names += 1;
                format!("{letter}{}", self.names)
            }
            Role::Names(_) | Role::Path | Role::Record | Role::Scenario => OPEN.to_owned(),
            Role::Text => (*self.dice.pick(&["", "drawn", "ä \"quoted\" text"])).to_owned(),
            Role::Log => records::log(self.dice.below(records::LOGS)),
            Role::Loads => records::LOADS.to_owned(),
            Role::StartState => records::START_STATE.to_owned(),
            Role::Workflow => self.dice.pick(&records::WORKFLOWS).0.to_owned(),
            Role::RecordedSite => (*self.dice.pick(&records::SITES)).to_owned(),
        }
    }

    fn integer(&mut self, name: &str, key: &str, schema: &Json) -> i64 {
        let bound = |key: &str| schema[key].as_f64().map(|bound| bound as i64);
        let least = bound("minimum").unwrap_or(-3);
        let largest = bound("maximum").unwrap_or(i64::MAX);
        let cap = most(name, key).unwrap_or(i64::MAX).min(largest);
        let drawn = match self.dice.below(100) {
            // Often at the bounds, where mistakes are.
            0..12 => least,
            12..24 => least.saturating_add(1),
            24..30 => cap,
            // Rarely a large number: it makes runs long.
            30..32 => cap.min(1_000),
            32..40 => 0,
            _ => least.saturating_add(self.dice.below(17) as i64),
        };
        drawn.clamp(least, cap.max(least))
    }

    fn number(&mut self, name: &str, key: &str, schema: &Json) -> f64 {
        let bound = |key: &str| schema[key].as_f64();
        let above = bound("exclusiveMinimum");
        let least = bound("minimum").or(above).unwrap_or(-1.0);
        let most = most(name, key).map(|most| most as f64);
        let largest = [bound("maximum"), most].into_iter().flatten().reduce(f64::min);
        let drawn = match self.dice.below(100) {
            0..5 => least,
            5..7 => largest.unwrap_or(10.0),
            7..25 => 1.0,
            _ => *self.dice.pick(&[0.0, 0.25, 0.5, 0.5, 1.5, 2.0, 2.0, 3.0, 4.0, 10.0]),
        };
        let drawn = drawn.clamp(least, largest.unwrap_or(f64::MAX).max(least));
        // The bound itself is not allowed, so another number is taken.
        if above == Some(drawn) { largest.unwrap_or(1.0).min(0.5) } else { drawn }
    }
}

/// Size of a number or a time.
fn size_of(value: &Value) -> f64 {
    let time = |text: &str| text.parse::<TimeSpan>().map_or(0.0, |time| time.0.as_secs_f64());
    value.as_float().or_else(|| value.as_str().map(time)).unwrap_or_default()
}

/// Times between recurring events.
const RECURRING: [&str; 8] = ["1min", "90s", "5min", "10min", "10min", "1h", "6h", "0s"];

/// Quantities to choose from, by the word for their format. Names are not among them.
pub(super) fn quantities(format: &str) -> Option<&'static [&'static str]> {
    Some(match format {
        "time-span" => &[
            "0s", "0s", "1s", "1s", "10s", "1min", "1min", "5min", "10min", "10min", "30min", "1h",
            "1h", "2h", "6h", "1d", "1us", "1500ms",
        ],
        "instant" => &["0s", "-1h", "-10min", "1s", "10min"],
        "metric" => &[
            "mean_waiting_time",
            "p95_bounded_slowdown",
            "utilisation",
            "makespan",
            "completed_jobs",
            "messages",
            "items_disclosed",
            "deadlines.delayed",
            "failures.outages",
        ],
        "time-zone" => &["UTC", "Europe/Berlin", "-03:30"],
        "share" => &["0%", "1%", "10%", "25%", "50%", "50%", "75%", "100%", "100%"],
        "time-or-share" => &["0s", "1%", "10%", "50%", "100%", "1min", "10min", "1h", "2h"],
        "bytes" => &["0 B", "1 B", "1 kB", "1 MB", "10 MB", "250 MB", "1 GB"],
        "bandwidth" => &["56 kbit/s", "1 Mbit/s", "10 Mbit/s", "100 Mbit/s", "1 Gbit/s"],
        "axis-range" => &["88%..100%", "1min..", "0.5..40"],
        "picture-size" => &["88x60mm", "400x300px", "1600x900px"],
        "job" => &["0", "1", "2", "7", "w1!1"],
        "estimates" => &[
            "trace",
            "exact",
            "no-limit",
            "factor:1",
            "factor:2",
            "over:0%",
            "over:50%",
            "uniform:1",
            "uniform:5",
            "precision:+0",
            "precision:+20",
            "precision:+100",
        ],
        _ => return None,
    })
}
