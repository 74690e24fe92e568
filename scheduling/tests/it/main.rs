//! The schedulers as a provider uses them, against obvious versions and published cases.

mod obvious;
mod profile;
mod published;
mod replay;
mod schedulers;
