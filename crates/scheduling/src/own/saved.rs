//! Rules of one's own in snapshots: a snapshot has their names and versions, and the program has the rules.

use std::any::Any;
use std::cell::RefCell;

use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::{List, Own};

thread_local! {
    /// The lists of the snapshot that this thread reads. Derived readers have no argument for them.
    static LISTS: RefCell<Vec<Box<dyn Any>>> = const { RefCell::new(Vec::new()) };
}

/// Calls `read`, which finds the rules of a snapshot in these [lists](List), each in a box.
pub fn with_rules<R>(lists: Vec<Box<dyn Any>>, read: impl FnOnce() -> R) -> R {
    let before = LISTS.replace(lists);
    let done = read();
    LISTS.set(before);
    done
}

impl<T> Serialize for Own<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        (self.name, self.version).serialize(serializer)
    }
}

impl<'de, T: Copy + 'static> Deserialize<'de> for Own<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Own<T>, D::Error> {
        let (name, version) = <(String, u32)>::deserialize(deserializer)?;
        let found = LISTS.with_borrow(|lists| {
            let of_kind = lists.iter().filter_map(|list| list.downcast_ref::<List<T>>());
            of_kind.filter_map(|list| list.get(&name).ok()).find(|own| own.version == version)
        });
        found.ok_or_else(|| {
            D::Error::custom(format_args!("this program has no rule {name:?} of version {version}"))
        })
    }
}
