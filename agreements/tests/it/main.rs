//! Agreements as their users see them: by script, over all small histories, over random ones.

mod every_history;
mod random_histories;
mod scripts;
mod world;
