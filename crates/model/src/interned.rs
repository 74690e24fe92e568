//! Serialization of the words of a program: a word that is read is one of few, and is kept for ever.

use std::collections::BTreeSet;
use std::sync::Mutex;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A word of a program. Derived readers would borrow a plain `&'static str` from their input.
pub type Word = &'static str;

static WORDS: Mutex<BTreeSet<&'static str>> = Mutex::new(BTreeSet::new());

/// Writes the word.
///
/// # Errors
/// If the serializer fails.
pub fn serialize<S: Serializer>(word: &'static str, serializer: S) -> Result<S::Ok, S::Error> {
    word.serialize(serializer)
}

/// Reads a word.
///
/// # Errors
/// If the deserializer fails.
pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<&'static str, D::Error> {
    let word = String::deserialize(deserializer)?;
    // A panic of another thread leaves the set as it was.
    let mut words = WORDS.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    if let Some(known) = words.get(word.as_str()) {
        return Ok(known);
    }
    let kept: &'static str = word.leak();
    words.insert(kept);
    Ok(kept)
}
