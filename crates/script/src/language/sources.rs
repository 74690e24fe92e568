//! The words that take values from runs: `value`, `axis`, `from`.

use std::collections::BTreeMap;
use std::rc::Rc;

use rhai::{Array, Dynamic, Engine, Map};

use super::{Fallible, Gaps, failed, or_fail};
use crate::quantity::Sample;
use crate::source::{Absent, Point, Source};

/// One of several sources, as a value of expressions.
#[derive(Clone)]
struct Asked {
    data: Rc<dyn Source>,
    gaps: Rc<Gaps>,
}

impl Asked {
    fn value(&self, metric: &str, group: &str, at: &Map) -> Fallible<Sample> {
        let group = (!group.is_empty()).then_some(group);
        self.taken(self.data.sample(metric, group, &or_fail(point(at))?))
    }

    /// A value of the jobs that are in the group at `base`.
    fn value_by(&self, metric: &str, group: &str, at: &Map, base: &Map) -> Fallible<Sample> {
        let (at, base) = (or_fail(point(at))?, or_fail(point(base))?);
        self.taken(self.data.sample_by(metric, group, &at, &base))
    }

    fn taken(&self, sample: Result<Sample, Absent>) -> Fallible<Sample> {
        if self.data.lacks_replications() {
            self.gaps.part.set(true);
        }
        self.noted(sample)
    }

    fn axis(&self, name: &str) -> Fallible<Array> {
        let axis = self.noted(self.data.axis(name))?;
        if self.data.lacks_values(name) {
            self.gaps.part.set(true);
        }
        let number = |text: &String| {
            // A whole number stays one, because a point must have it as the axis writes it.
            let whole = text.parse::<i64>().ok().map(Dynamic::from);
            whole.or_else(|| text.parse::<f64>().ok().map(Dynamic::from))
        };
        // An axis is numeric only as a whole, so that its values can be compared.
        let numbers: Option<Array> = axis.iter().map(number).collect();
        Ok(numbers.unwrap_or_else(|| axis.iter().map(|it| it.clone().into()).collect()))
    }

    fn noted<T>(&self, result: Result<T, Absent>) -> Fallible<T> {
        if let Err(Absent::Cut { .. }) = result {
            self.gaps.cut.set(true);
        }
        result.or_else(|error| failed(error.to_string()))
    }
}

/// A map of a script as a point.
fn point(at: &Map) -> Result<Point, String> {
    let text = |value: &Dynamic| match value.is_string() || value.is_int() || value.is_float() {
        true => Ok(value.to_string()),
        false => Err(format!("a point is made of texts and numbers, not {}", value.type_name())),
    };
    at.iter().map(|(axis, value)| Ok((axis.to_string(), text(value)?))).collect()
}

/// Registers these words with an engine. `gaps` records requests for data that a quick reproduction
/// leaves out.
pub(super) fn register<S: Source + 'static>(
    engine: &mut Engine,
    sources: Vec<Rc<S>>,
    gaps: &Rc<Gaps>,
) {
    engine.register_type_with_name::<Asked>("sweep");
    let named: BTreeMap<String, Asked> = sources
        .into_iter()
        .map(|data| {
            (data.name().to_owned(), Asked { data: data as Rc<dyn Source>, gaps: Rc::clone(gaps) })
        })
        .collect();
    let names = named.keys().cloned().collect::<Vec<_>>().join(", ");
    let only = match named.len() {
        1 => named.values().next().cloned().ok_or_else(String::new),
        0 => Err("there is no sweep to take values from".to_owned()),
        _ => Err(format!("say which sweep is meant, as in from(\"…\"): there is {names}")),
    };
    let from = move |name: &str| -> Fallible<Asked> {
        let none = || failed(format!("there is no sweep \"{name}\" here: there is {names}"));
        named.get(name).cloned().map_or_else(none, Ok)
    };
    engine.register_fn("from", from);
    let empty = Map::new;
    engine.register_fn("value", move |it: &mut Asked, m: &str| it.value(m, "", &empty()));
    engine.register_fn("value", |it: &mut Asked, m: &str, at: Map| it.value(m, "", &at));
    engine.register_fn("value", move |it: &mut Asked, m: &str, g: &str| it.value(m, g, &empty()));
    engine.register_fn("value", |it: &mut Asked, m: &str, g: &str, at: Map| it.value(m, g, &at));
    engine.register_fn("value", |it: &mut Asked, m: &str, g: &str, at: Map, base: Map| {
        it.value_by(m, g, &at, &base)
    });
    engine.register_fn("axis", |it: &mut Asked, name: &str| it.axis(name));
    let one = Rc::new(move || or_fail(only.clone()));
    let it = Rc::clone(&one);
    engine.register_fn("value", move |m: &str| it()?.value(m, "", &empty()));
    let it = Rc::clone(&one);
    engine.register_fn("value", move |m: &str, at: Map| it()?.value(m, "", &at));
    let it = Rc::clone(&one);
    engine.register_fn("value", move |m: &str, g: &str| it()?.value(m, g, &empty()));
    let it = Rc::clone(&one);
    engine.register_fn("value", move |m: &str, g: &str, at: Map| it()?.value(m, g, &at));
    let it = Rc::clone(&one);
    let by = move |m: &str, g: &str, at: Map, base: Map| it()?.value_by(m, g, &at, &base);
    engine.register_fn("value", by);
    engine.register_fn("axis", move |name: &str| one()?.axis(name));
}
