//! The messages of Perfetto's trace format that a run needs, with the field numbers of its schema
//! (`perfetto/trace/trace_packet.proto` and `perfetto/trace/track_event/`).

use prost::{Enumeration, Message, Oneof};

/// A file: packets one after the other.
#[derive(Clone, PartialEq, Message)]
pub struct Trace {
    /// The packets.
    #[prost(message, repeated, tag = "1")]
    pub packet: Vec<TracePacket>,
}

/// A track, or an event on a track.
#[derive(Clone, PartialEq, Message)]
pub struct TracePacket {
    /// Time of the event, ns.
    #[prost(uint64, optional, tag = "8")]
    pub timestamp: Option<u64>,
    /// Writer of the packet. Events need one; a file of one writer has a constant.
    #[prost(uint32, optional, tag = "10")]
    pub trusted_packet_sequence_id: Option<u32>,
    /// The contents.
    #[prost(oneof = "Data", tags = "11, 60")]
    pub data: Option<Data>,
}

/// Contents of a packet.
#[derive(Clone, PartialEq, Oneof)]
pub enum Data {
    /// An event.
    #[prost(message, tag = "11")]
    TrackEvent(TrackEvent),
    /// A track.
    #[prost(message, tag = "60")]
    TrackDescriptor(TrackDescriptor),
}

/// A row of the display.
#[derive(Clone, PartialEq, Message)]
pub struct TrackDescriptor {
    /// Number of the track in this file.
    #[prost(uint64, optional, tag = "1")]
    pub uuid: Option<u64>,
    /// Text beside the track.
    #[prost(string, optional, tag = "2")]
    pub name: Option<String>,
    /// Track under which it is shown.
    #[prost(uint64, optional, tag = "5")]
    pub parent_uuid: Option<u64>,
    /// Present if the track shows numbers.
    #[prost(message, optional, tag = "8")]
    pub counter: Option<CounterDescriptor>,
    /// Order of the tracks below.
    #[prost(enumeration = "ChildOrder", optional, tag = "11")]
    pub child_ordering: Option<i32>,
}

/// Order of the tracks below a track.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Enumeration)]
#[repr(i32)]
pub enum ChildOrder {
    /// Chosen by the display.
    Unknown = 0,
    /// The order of their first events.
    Chronological = 2,
}

/// Numbers of a track.
#[derive(Clone, PartialEq, Message)]
pub struct CounterDescriptor {
    /// Name of the unit.
    #[prost(string, optional, tag = "6")]
    pub unit_name: Option<String>,
}

/// An event.
#[derive(Clone, PartialEq, Message)]
pub struct TrackEvent {
    /// Facts about the event.
    #[prost(message, repeated, tag = "4")]
    pub debug_annotations: Vec<DebugAnnotation>,
    /// Kind of the event.
    #[prost(enumeration = "EventType", optional, tag = "9")]
    pub r#type: Option<i32>,
    /// Its track.
    #[prost(uint64, optional, tag = "11")]
    pub track_uuid: Option<u64>,
    /// Classes, by which events are selected.
    #[prost(string, repeated, tag = "22")]
    pub categories: Vec<String>,
    /// Text of the event.
    #[prost(string, optional, tag = "23")]
    pub name: Option<String>,
    /// Value of a counter.
    #[prost(int64, optional, tag = "30")]
    pub counter_value: Option<i64>,
    /// Events with the same number are joined by arrows, in order of time.
    #[prost(fixed64, repeated, packed = "false", tag = "47")]
    pub flow_ids: Vec<u64>,
    /// As `flow_ids`, at the last of these events.
    #[prost(fixed64, repeated, packed = "false", tag = "48")]
    pub terminating_flow_ids: Vec<u64>,
}

/// Kind of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Enumeration)]
#[repr(i32)]
pub enum EventType {
    /// None.
    Unspecified = 0,
    /// Beginning of an interval.
    SliceBegin = 1,
    /// End of the interval that began last on the same track.
    SliceEnd = 2,
    /// An instant.
    Instant = 3,
    /// A new value of a counter.
    Counter = 4,
}

/// A fact about an event.
#[derive(Clone, PartialEq, Message)]
pub struct DebugAnnotation {
    /// Its name.
    #[prost(string, optional, tag = "10")]
    pub name: Option<String>,
    /// Its value.
    #[prost(oneof = "Value", tags = "4, 5, 6")]
    pub value: Option<Value>,
}

/// Value of a fact.
#[derive(Clone, PartialEq, Oneof)]
pub enum Value {
    /// A whole number.
    #[prost(int64, tag = "4")]
    Int(i64),
    /// A number.
    #[prost(double, tag = "5")]
    Double(f64),
    /// A text.
    #[prost(string, tag = "6")]
    Text(String),
}
