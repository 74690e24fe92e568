//! Transfer times of data from one place to another.
//!
//! ```text
//!  site 0                  site 1              service site
//!  r0 ──LAN─┐              ┌─LAN── r2          ┌─LAN── storage
//!  r1 ──LAN─┴──── WAN ─────┴─LAN── r3 ── WAN ──┴─LAN── scheduler
//! ```
//!
//! A [`Star`] is this topology; [`Sites`] have one access link each; a [`Network`] is any set of links.
//! A route is a list of links, and a [`Path`] has the properties of a route that a transfer needs.
//! [`Flows`] are the transfers over paths with their rates. They are driven from outside: they have no
//! clock and send no messages.
//!
//! A transfer waits for the latency of its whole route once, then its data flow at a
//! rate that changes only when another flow starts or ends. How flows share a
//! link is [`LinkSharing`]; the model is that of Chtepen 2011, section 5.3.1.
//!
//! Data are counted in bytes, rates in bit/s, both decimal (1 GB = 8e9 bit).

mod error;
mod flows;
mod link;
mod path;
mod sharing;
mod sites;
mod star;

pub use error::NetworkError;
pub use flows::{Completion, FlowId, Flows};
pub use link::{Capacity, Link, LinkId, Network};
pub use path::Path;
pub use sharing::LinkSharing;
pub use sites::Sites;
pub use star::{Node, Star, StarParameters};
