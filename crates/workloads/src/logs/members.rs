//! The members of a job in a JSON text, and the columns of a converted log that keep them unchanged.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

use super::error::LogProblem;
use super::json::Number;
use super::keep::Kept;
use super::notes::{NoteKind, Notes};

/// The members of an object, in their order, with values that are not read yet.
pub(super) struct Members<'a>(pub(super) Vec<(Cow<'a, str>, &'a RawValue)>);

impl<'a> Members<'a> {
    /// The value of a member; `None` if it is missing or null.
    pub(super) fn read<T: Deserialize<'a>>(&self, key: &str) -> Result<Option<T>, LogProblem> {
        let Some((_, value)) = self.0.iter().find(|(name, _)| *name == key) else {
            return Ok(None);
        };
        serde_json::from_str(value.get()).map_err(|error| {
            let text = error.to_string();
            let text = text.rsplit_once(" at line ").map_or(&*text, |(text, _)| text);
            LogProblem::Record(format!("{key}: {text}"))
        })
    }

    /// The value of a member that may not be missing.
    pub(super) fn needed<T: Deserialize<'a>>(&self, key: &str) -> Result<T, LogProblem> {
        self.read(key)?.ok_or_else(|| LogProblem::Record(format!("the member `{key}` is missing")))
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Members<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Members<'a>, D::Error> {
        struct Object;

        /// A name with an escape is no part of the text.
        #[derive(serde::Deserialize)]
        struct Name<'a>(#[serde(borrow)] Cow<'a, str>);

        impl<'de> Visitor<'de> for Object {
            type Value = Vec<(Cow<'de, str>, &'de RawValue)>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut members = Vec::new();
                while let Some((Name(name), value)) = map.next_entry()? {
                    members.push((name, value));
                }
                Ok(members)
            }
        }

        deserializer.deserialize_map(Object).map(Members)
    }
}

/// The members of jobs that have no place in a record: they are kept, or counted as dropped.
pub(super) struct OtherMembers {
    used: &'static [&'static str],
    keep: Vec<String>,
    /// The columns that are kept; known behind the first job.
    kept: Option<Kept>,
}

impl OtherMembers {
    /// All members but those that a record uses. `keep` names the columns.
    pub(super) fn new(used: &'static [&'static str], keep: Vec<String>) -> OtherMembers {
        OtherMembers { used, keep, kept: None }
    }

    /// Names of the columns that are kept.
    pub(super) fn names(&self) -> &[String] {
        self.kept.as_ref().map_or(&[], Kept::names)
    }

    /// Finds the columns to keep among the members of the first job.
    pub(super) fn find(&mut self, members: &Members<'_>) -> Result<(), LogProblem> {
        if self.kept.is_none() {
            let names: Vec<String> = members.0.iter().map(|(name, _)| name.to_string()).collect();
            let is_other = |at: &usize| !self.used.contains(&names[*at].as_str());
            let others = (0..names.len()).filter(is_other).collect();
            self.kept = Some(Kept::choose(&names, others, &self.keep)?.0);
        }
        Ok(())
    }

    /// The values of a job in the columns that are kept. Other values are noted.
    pub(super) fn values(
        &self,
        members: &Members<'_>,
        notes: &mut Notes,
        line: u64,
    ) -> Vec<String> {
        let kept = self.names();
        for (name, value) in &members.0 {
            let is_used = self.used.contains(&&**name) || kept.iter().any(|it| it == name);
            if !is_used && !matches!(value.get(), "null" | "\"\"" | "[]" | "{}") {
                notes.add(NoteKind::Dropped, format!("member {name}"), line);
            }
        }
        let value = |name: &String| {
            let found = members.0.iter().find(|(key, _)| key == name);
            found.map(|(_, value)| plain(value)).unwrap_or_default()
        };
        kept.iter().map(value).collect()
    }
}

/// A value as a text: a text without quotes, a number without its object, and everything else as JSON.
fn plain(value: &RawValue) -> String {
    if let Ok(text) = serde_json::from_str::<Cow<'_, str>>(value.get()) {
        return text.into_owned();
    }
    match serde_json::from_str::<Number>(value.get()) {
        Ok(Number::Of(number)) => number.to_string(),
        Ok(Number::Unknown | Number::Infinite) => String::new(),
        Err(_) => value.get().to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_members_may_have_escapes() {
        let members: Members<'_> =
            serde_json::from_str(r#"{"jo\u0062": 7, "a": null}"#).expect("an object");
        assert_eq!(members.read("job").ok(), Some(Some(7)));
        assert_eq!(members.read::<u8>("a").ok(), Some(None));
    }
}
