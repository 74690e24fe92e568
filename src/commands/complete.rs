//! Completions of shells for arguments that also accept other values.

use std::ffi::OsStr;

use clap::builder::{PossibleValue, TypedValueParser};
use clap::error::Error;
use clap::{Arg, Command};
use haggle_results::metrics::named::NAMED;

use crate::scenario::keys;

/// Parses by `inner`; the known values are only suggestions.
#[derive(Clone)]
pub(crate) struct Known<P> {
    inner: P,
    known: fn() -> Vec<String>,
}

/// Values of which shells complete the names of metrics.
pub(crate) fn metrics<P: TypedValueParser>(inner: P) -> Known<P> {
    Known { inner, known: || NAMED.iter().map(|it| it.name.to_owned()).collect() }
}

/// Values of which shells complete the keys of scenarios.
pub(crate) fn keys<P: TypedValueParser>(inner: P) -> Known<P> {
    Known { inner, known: || keys::ways().into_iter().collect() }
}

/// Values of which shells complete the paths of values of scenarios, each before its `=`.
pub(crate) fn settings<P: TypedValueParser>(inner: P) -> Known<P> {
    let known = || keys::paths().into_iter().map(|path| format!("{path}=")).collect();
    Known { inner, known }
}

impl<P: TypedValueParser> TypedValueParser for Known<P> {
    type Value = P::Value;

    fn parse_ref(
        &self,
        command: &Command,
        arg: Option<&Arg>,
        value: &OsStr,
    ) -> Result<P::Value, Error> {
        self.inner.parse_ref(command, arg, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new((self.known)().into_iter().map(PossibleValue::new)))
    }
}
