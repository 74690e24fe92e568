//! Serialization of values that several parts of a state share: each is written once, and shared again when it is read.
//!
//! Derived code has no argument for the values so far, so they are kept for the thread, between the start and the
//! end of [`once`].

use std::any::Any;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::Arc;

use serde::de::{DeserializeOwned, Error};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The values of a state that have been written or read.
#[derive(Default)]
struct Known {
    /// Number of each written value, by its address.
    written: BTreeMap<usize, u32>,
    /// The values that have been read, by number.
    read: Vec<Arc<dyn Any + Send + Sync>>,
}

thread_local! {
    static KNOWN: RefCell<Option<Known>> = const { RefCell::new(None) };
}

/// Writes or reads one state. Outside of it, every value is written as often as it occurs.
pub fn once<R>(state: impl FnOnce() -> R) -> R {
    let before = KNOWN.replace(Some(Known::default()));
    let done = state();
    KNOWN.set(before);
    done
}

/// Writes a value, or the number of a value that has been written.
///
/// # Errors
/// If the serializer fails.
pub fn serialize<T: Serialize, S: Serializer>(
    value: &Arc<T>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    let place = Arc::as_ptr(value).addr();
    let number = KNOWN.with_borrow_mut(|known| {
        let written = &mut known.as_mut()?.written;
        if let Some(&number) = written.get(&place) {
            return Some(number);
        }
        written.insert(place, written.len() as u32);
        None
    });
    match number {
        Some(number) => (Some(number), None::<&T>).serialize(serializer),
        None => (None::<u32>, Some(&**value)).serialize(serializer),
    }
}

/// Reads a value, or finds one that has been read.
///
/// # Errors
/// If the deserializer fails, or if the number is of another value.
pub fn deserialize<'de, T, D>(deserializer: D) -> Result<Arc<T>, D::Error>
where
    T: DeserializeOwned + Send + Sync + 'static,
    D: Deserializer<'de>,
{
    match <(Option<u32>, Option<T>)>::deserialize(deserializer)? {
        (_, Some(value)) => {
            let value = Arc::new(value);
            KNOWN.with_borrow_mut(|known| {
                if let Some(known) = known {
                    known.read.push(Arc::clone(&value) as Arc<dyn Any + Send + Sync>);
                }
            });
            Ok(value)
        }
        (Some(number), None) => {
            let found = KNOWN
                .with_borrow(|known| Some(Arc::clone(known.as_ref()?.read.get(number as usize)?)));
            let found = found.and_then(|found| found.downcast().ok());
            found.ok_or_else(|| D::Error::custom("a shared value is missing"))
        }
        (None, None) => Err(D::Error::custom("a shared value is missing")),
    }
}

/// The same for the values of a map.
pub mod map {
    use std::collections::BTreeMap;
    use std::sync::Arc;

    use serde::de::DeserializeOwned;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    /// A value of a map.
    #[derive(Serialize, Deserialize)]
    #[serde(bound(
        serialize = "T: Serialize",
        deserialize = "T: DeserializeOwned + Send + Sync + 'static"
    ))]
    struct Value<T>(#[serde(with = "super")] Arc<T>);

    /// Writes a map.
    ///
    /// # Errors
    /// If the serializer fails.
    pub fn serialize<K: Serialize + Ord, T: Serialize, S: Serializer>(
        map: &BTreeMap<K, Arc<T>>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        serializer.collect_map(map.iter().map(|(key, value)| (key, Value(Arc::clone(value)))))
    }

    /// Reads a map.
    ///
    /// # Errors
    /// If the deserializer fails.
    pub fn deserialize<'de, K, T, D>(deserializer: D) -> Result<BTreeMap<K, Arc<T>>, D::Error>
    where
        K: Deserialize<'de> + Ord,
        T: DeserializeOwned + Send + Sync + 'static,
        D: Deserializer<'de>,
    {
        let map = BTreeMap::<K, Value<T>>::deserialize(deserializer)?;
        Ok(map.into_iter().map(|(key, Value(value))| (key, value)).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Serialize, Deserialize)]
    struct State {
        #[serde(with = "super")]
        one: Arc<String>,
        #[serde(with = "map")]
        all: BTreeMap<u8, Arc<String>>,
    }

    #[test]
    fn a_shared_value_is_written_once_and_shared_again() {
        let one = Arc::new("a long text".repeat(10));
        let other = Arc::new("other".to_owned());
        let all = BTreeMap::from([(1, Arc::clone(&one)), (2, other)]);
        let state = State { one, all };
        let text = once(|| serde_json::to_string(&state)).expect("written");
        assert_eq!(text.matches("a long text").count(), 10);
        let read: State = once(|| serde_json::from_str(&text)).expect("read");
        assert!(Arc::ptr_eq(&read.one, &read.all[&1]));
        assert_eq!((&*read.one, read.all[&2].as_str()), (&*state.one, "other"));
        // Alone, every value is whole.
        let text = serde_json::to_string(&state).expect("written");
        assert_eq!(text.matches("a long text").count(), 20);
        let read: State = serde_json::from_str(&text).expect("read");
        assert_eq!(read.all[&1], state.one);
    }
}
