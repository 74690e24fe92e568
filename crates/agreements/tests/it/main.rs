//! Agreements as their users see them: by script, over all small histories, over random ones.

mod arena;
mod claimed_elsewhere;
mod contention;
mod counts;
mod cut_off_deletions;
mod draws;
mod every_history;
mod late_outcomes;
mod protocols;
mod random_histories;
mod scripts;
mod seats;
mod witnesses;
mod world;
