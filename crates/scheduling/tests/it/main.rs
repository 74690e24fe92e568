//! The schedulers as a provider uses them, against obvious versions and published cases.

mod capabilities;
mod checkpoints;
mod coallocation;
mod composition;
mod composition_properties;
mod coordinated;
mod coordination;
mod displaced;
mod edf;
mod edf_history;
mod failures;
mod maintenance;
mod obvious;
mod obvious_coallocation;
mod obvious_edf;
mod obvious_parts;
mod obvious_reservations;
mod one_by_one;
mod parts;
mod profile;
mod published;
mod reallocation;
mod replay;
mod reservations;
mod schedulers;
mod system;
