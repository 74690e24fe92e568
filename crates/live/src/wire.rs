//! Messages as bytes between actors of different owners.
//!
//! ```text
//!   Message ── encode ──▶ kind number, body ── Envelope ──▶ Frame ── FrameCodec ──▶ bytes
//!   Message ◀── decode ── kind number, body ◀────────────── Frame ◀── FrameCodec ── bytes
//! ```
//!
//! | file | contents |
//! |---|---|
//! | `envelope.rs` | the first bytes of a frame: kind, sender, sequence, check sum |
//! | `codec.rs` | frames in a stream of bytes, and errors after which it must close |
//! | `kinds.rs` | the table of kinds, and bodies by kind |
//! | `described.rs` | the description of a job for strangers, and its program |
//! | `forms.rs` | bodies that differ from their messages, because these hide something |
//! | `contents.rs` | bounds that a message must keep, whoever sent it |
//! | `complaint.rs` | the answer to a frame that cannot be taken |
//! | `text.rs` | a frame as a line of JSON |
//!
//! docs/internals/wire.md has the bytes of an envelope, the kinds, and the rules for changes.

mod codec;
mod complaint;
mod contents;
mod described;
mod envelope;
mod forms;
mod kinds;
mod text;

pub use codec::{BODY_MAX, Broken, Frame, FrameCodec};
pub use complaint::{Complaint, Problem};
pub use contents::{Limits, Wrong};
pub use described::{Described, DescribedIterative, DescribedTask, Process, Program};
pub use envelope::{Envelope, HEADER, MAGIC, Unframed, VERSION, name_hash};
pub use kinds::{KINDS, Kind, Route, Unread, Unsendable, decode, encode, may_send};
pub use text::line;
