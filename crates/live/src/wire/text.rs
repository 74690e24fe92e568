//! A frame as a line of JSON, to watch a connection.

use std::fmt::Write;

use haggle_agents::Message;
use serde::Serialize;

use super::codec::Frame;
use super::complaint::Complaint;
use super::kinds::{Kind, read};

/// A line of JSON without its end.
#[derive(Serialize)]
struct Line<'a> {
    kind: &'a str,
    number: u16,
    sender: String,
    incarnation: u32,
    sequence: u64,
    acknowledged: u64,
    receiver: u32,
    /// Microseconds.
    time: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<Message>,
    #[serde(skip_serializing_if = "Option::is_none")]
    complaint: Option<Complaint>,
    /// The body, if it cannot be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    body: Option<String>,
}

/// The frame as one line of JSON, without an end of line. It shows all that the body has, also a
/// program. A body that cannot be read is written in hexadecimal.
pub fn line(frame: &Frame) -> String {
    let Frame { envelope, body } = frame;
    let message = read(envelope.kind, body).ok();
    let is_complaint = envelope.kind == Complaint::KIND;
    let complaint = is_complaint.then(|| Complaint::decode(body)).flatten();
    let word = Kind::numbered(envelope.kind).map(|it| it.word);
    let is_read = message.is_some() || complaint.is_some();
    let line = Line {
        kind: word.unwrap_or(if is_complaint { "complaint" } else { "unsupported" }),
        number: envelope.kind,
        sender: format!("{:016x}", envelope.sender),
        incarnation: envelope.incarnation,
        sequence: envelope.sequence,
        acknowledged: envelope.acknowledged,
        receiver: envelope.receiver.0,
        time: envelope.time.as_micros(),
        message,
        complaint,
        body: (!is_read).then(|| hex(body)),
    };
    serde_json::to_string(&line).expect("keys are words and numbers")
}

fn hex(bytes: &[u8]) -> String {
    let mut text = String::new();
    for byte in bytes {
        write!(text, "{byte:02x}").expect("memory takes it");
    }
    text
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use haggle_agents::protocol::SubmissionMessage;
    use haggle_model::{ActorId, JobId, Time};

    use super::*;
    use crate::wire::{Envelope, Problem, encode};

    fn line_of(kind: u16, body: Vec<u8>) -> String {
        let envelope = Envelope {
            kind,
            sender: 0xAB,
            incarnation: 1,
            sequence: 9,
            acknowledged: 4,
            receiver: ActorId(3),
            time: Time::from_micros(1_500_000),
        };
        line(&Frame { envelope, body: Bytes::from(body) })
    }

    #[test]
    fn a_frame_is_one_line() {
        let rest = r#""sender":"00000000000000ab","incarnation":1,"sequence":9,"acknowledged":4,"receiver":3,"time":1500000"#;
        let accepted = SubmissionMessage::Accepted { job: JobId(7) };
        let (kind, body) = encode(accepted.into()).expect("it travels");
        assert_eq!(
            line_of(kind, body),
            format!(
                r#"{{"kind":"accepted","number":260,{rest},"message":{{"Submission":{{"Accepted":{{"job":7}}}}}}}}"#
            )
        );
        let complaint = Complaint { sequence: 2, kind: 0x7777, problem: Problem::Unsupported };
        assert_eq!(
            line_of(Complaint::KIND, complaint.encode()),
            format!(
                r#"{{"kind":"complaint","number":1,{rest},"complaint":{{"sequence":2,"kind":30583,"problem":"Unsupported"}}}}"#
            )
        );
        assert_eq!(
            line_of(0x7777, vec![0x0A, 0xFF]),
            format!(r#"{{"kind":"unsupported","number":30583,{rest},"body":"0aff"}}"#)
        );
    }
}
