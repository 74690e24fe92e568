//! Limits for the depth and the size of values.
//!
//! The engine limits lists, maps and texts. A function value holds the variables that it captures,
//! which may be function values again. The engine does not limit these. A value gets into another one
//! only through a variable, so each variable is measured where it is read or captured.

use std::cell::Cell;
use std::rc::Rc;

use rhai::{Dynamic, Engine, EvalAltResult, EvalContext, FnPtr, Position};

use super::{Fallible, failed};

/// Maximum depth: lists in lists, maps in lists, captured variables in functions and so on.
const DEEPEST: usize = 16;

/// Maximum number of values inside one value, on all levels.
const MOST: usize = 20_000;

/// Maximum number of values that are measured for one expression: a fraction of a second.
const EFFORT: usize = 50_000_000;

/// Remaining effort for one expression.
#[derive(Clone, Debug, Default)]
pub(super) struct Effort(Rc<Cell<usize>>);

impl Effort {
    /// Resets the effort. Call it before each expression.
    pub(super) fn renew(&self) {
        self.0.set(EFFORT);
    }
}

/// Makes an engine measure each variable that is read or captured.
pub(super) fn bound(engine: &mut Engine, effort: &Effort) {
    let effort = effort.clone();
    #[expect(deprecated, reason = "the engine marks what may change with a new version so")]
    engine.on_var(move |name: &str, _: usize, context: EvalContext<'_, '_, '_, '_, '_, '_>| {
        if let Some(value) = context.scope().get(name) {
            measure(value, &effort)?;
        }
        // The engine then reads the variable as usual.
        Ok(None)
    });
}

fn measure(value: &Dynamic, effort: &Effort) -> Fallible<()> {
    let mut left = MOST.min(effort.0.get());
    let before = left;
    let fits = count(value, 0, &mut left);
    effort.0.set(effort.0.get().saturating_sub(before - left));
    match fits {
        Fit::Fits => Ok(()),
        Fit::TooDeep => failed(format!("a value is nested more than {DEEPEST} deep")),
        // The effort for this expression ran out before the value was measured.
        Fit::TooLarge if effort.0.get() == 0 => {
            Err(Box::new(EvalAltResult::ErrorTooManyOperations(Position::NONE)))
        }
        Fit::TooLarge => failed(format!("a value is too large: it holds more than {MOST} others")),
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Fit {
    Fits,
    TooDeep,
    TooLarge,
}

/// Decreases `left` by the number of values inside.
fn count(value: &Dynamic, depth: usize, left: &mut usize) -> Fit {
    if depth > DEEPEST {
        return Fit::TooDeep;
    }
    if *left == 0 {
        return Fit::TooLarge;
    }
    *left -= 1;
    let inside = if value.is_array() {
        value.as_array_ref().ok().map(|list| count_all(list.iter(), depth, left))
    } else if value.is_map() {
        value.as_map_ref().ok().map(|map| count_all(map.values(), depth, left))
    } else if value.is_fnptr() {
        let function = value.read_lock::<FnPtr>();
        function.map(|it| count_all(it.iter_curry(), depth, left))
    } else {
        None
    };
    inside.unwrap_or(Fit::Fits)
}

fn count_all<'v>(
    mut inside: impl Iterator<Item = &'v Dynamic>,
    depth: usize,
    left: &mut usize,
) -> Fit {
    let bad = inside
        .find_map(|value| Some(count(value, depth + 1, left)).filter(|&fit| fit != Fit::Fits));
    bad.unwrap_or(Fit::Fits)
}
