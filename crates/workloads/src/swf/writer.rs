//! Writes the format, so that the field's other tools can read results.

use std::io::{self, Write};

use super::header::SwfHeader;
use super::record::SwfRecord;
use haggle_model::Span;
use haggle_model::time::MICROS_PER_SECOND;

/// Writes the header's comments.
pub fn write_header(out: &mut impl Write, header: &SwfHeader) -> io::Result<()> {
    for line in &header.lines {
        // A line feed inside a value would end the comment; other control characters would command a terminal.
        let value = line.value.replace(|it: char| it.is_control() && it != '\t', " ");
        if line.key.is_empty() {
            writeln!(out, "; {value}")?;
        } else {
            writeln!(out, "; {}: {value}", line.key)?;
        }
    }
    Ok(())
}

/// Writes one record as a line; for many of them [`SwfWriter`] is faster.
pub fn write_record(out: &mut impl Write, record: &SwfRecord) -> io::Result<()> {
    let mut line = Vec::with_capacity(128);
    push_record(&mut line, record);
    out.write_all(&line)
}

/// Writes a header and records through one reused line buffer.
pub struct SwfWriter<W> {
    out: W,
    line: Vec<u8>,
}

impl<W: Write> SwfWriter<W> {
    /// Writes the header.
    pub fn new(mut out: W, header: &SwfHeader) -> io::Result<SwfWriter<W>> {
        write_header(&mut out, header)?;
        Ok(SwfWriter { out, line: Vec::with_capacity(128) })
    }

    /// Writes one record.
    pub fn write(&mut self, record: &SwfRecord) -> io::Result<()> {
        self.write_with(record, &[])
    }

    /// Writes one record, and values behind the eighteenth column. An empty value is -1; white space and control
    /// characters in a value become `_`, because they would separate columns or command a terminal.
    pub fn write_with(&mut self, record: &SwfRecord, further: &[String]) -> io::Result<()> {
        self.line.clear();
        push_record(&mut self.line, record);
        // The line is complete already; the values continue it.
        for value in further {
            self.line.pop();
            self.line.push(b' ');
            push_word(&mut self.line, value);
            self.line.push(b'\n');
        }
        self.out.write_all(&self.line)
    }

    /// Flushes and returns the output.
    pub fn finish(mut self) -> io::Result<W> {
        self.out.flush()?;
        Ok(self.out)
    }
}

fn push_record(line: &mut Vec<u8>, record: &SwfRecord) {
    push_integer(line, record.number);
    push_seconds(line, record.submit - haggle_model::Time::ZERO);
    push_seconds(line, record.wait);
    push_seconds(line, record.run_time);
    push_integer(line, record.allocated_processors.into());
    push_seconds(line, record.average_cpu_time);
    push_integer(line, record.used_memory);
    push_integer(line, record.requested_processors.into());
    push_seconds(line, record.requested_time);
    push_integer(line, record.requested_memory);
    push_integer(line, record.status.into());
    push_integer(line, record.user.into());
    push_integer(line, record.group.into());
    push_integer(line, record.executable.into());
    push_integer(line, record.queue.into());
    push_integer(line, record.partition.into());
    push_integer(line, record.preceding_job);
    push_seconds(line, record.think_time);
    // Every field ends with a space, and the last one becomes the end of the line.
    if let Some(last) = line.last_mut() {
        *last = b'\n';
    }
}

fn push_word(line: &mut Vec<u8>, value: &str) {
    if value.is_empty() {
        line.extend_from_slice(b"-1");
    }
    let is_odd = |byte: u8| byte == b' ' || byte.is_ascii_control();
    line.extend(value.bytes().map(|byte| if is_odd(byte) { b'_' } else { byte }));
}

/// Seconds, with decimals only if they are needed, because some readers accept only integers.
fn push_seconds(line: &mut Vec<u8>, span: Span) {
    let micros = span.as_micros();
    if micros % MICROS_PER_SECOND == 0 {
        push_integer(line, micros / MICROS_PER_SECOND);
    } else {
        line.extend_from_slice(span.to_string().as_bytes());
        line.push(b' ');
    }
}

fn push_integer(line: &mut Vec<u8>, value: i64) {
    let mut digits = [0; 20];
    let mut at = digits.len();
    // The smallest number has no positive counterpart in 64 bits with sign.
    let mut rest = value.unsigned_abs();
    loop {
        at -= 1;
        digits[at] = b'0' + (rest % 10) as u8;
        rest /= 10;
        if rest == 0 {
            break;
        }
    }
    if value < 0 {
        line.push(b'-');
    }
    line.extend_from_slice(&digits[at..]);
    line.push(b' ');
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::{Malformed, SwfReader};
    use super::*;
    use haggle_model::Time;

    fn whole() -> impl Strategy<Value = i64> {
        prop_oneof![Just(-1), 0..1000_i64, -(1_i64 << 53)..=(1 << 53)]
    }

    fn small() -> impl Strategy<Value = i32> {
        prop_oneof![Just(-1), 0..1000_i32, any::<i32>()]
    }

    fn span() -> impl Strategy<Value = Span> {
        let micros = prop_oneof![
            Just(-1_000_000),
            (0..1_000_000_i64).prop_map(|seconds| seconds * 1_000_000),
            -1_000_000_000_000_000_000..1_000_000_000_000_000_000_i64
        ];
        micros.prop_map(Span::from_micros)
    }

    prop_compose! {
        fn record()(
            wholes in prop::array::uniform4(whole()),
            smalls in prop::array::uniform8(small()),
            spans in prop::array::uniform6(span()),
        ) -> SwfRecord {
            SwfRecord {
                number: wholes[0],
                submit: Time::ZERO + spans[0],
                wait: spans[1],
                run_time: spans[2],
                allocated_processors: smalls[0],
                average_cpu_time: spans[3],
                used_memory: wholes[1],
                requested_processors: smalls[1],
                requested_time: spans[4],
                requested_memory: wholes[2],
                status: smalls[2],
                user: smalls[3],
                group: smalls[4],
                executable: smalls[5],
                queue: smalls[6],
                partition: smalls[7],
                preceding_job: wholes[3],
                think_time: spans[5],
            }
        }
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_back(records in prop::collection::vec(record(), 0..5)) {
            let mut header = SwfHeader::default();
            header.push("MaxProcs", 12);
            let mut writer = SwfWriter::new(Vec::new(), &header).expect("memory takes it");
            for record in &records {
                writer.write(record).expect("memory takes it");
            }
            let bytes = writer.finish().expect("memory takes it");
            let reader = SwfReader::new(&bytes[..], "a", Malformed::Refuse).expect("readable");
            prop_assert_eq!(reader.header(), &header);
            let back: Vec<SwfRecord> = reader.map(|r| r.expect("a written record")).collect();
            prop_assert_eq!(back, records);
        }
    }

    #[test]
    fn values_behind_the_eighteenth_column_are_read_back() {
        let mut writer =
            SwfWriter::new(Vec::new(), &SwfHeader::default()).expect("memory takes it");
        let further = ["4", "", "two words", "caf\u{e9}\u{1b}"].map(str::to_owned);
        let record = SwfRecord::unknown(3, Time::from_secs(7));
        writer.write_with(&record, &further).expect("memory takes it");
        let bytes = writer.finish().expect("memory takes it");
        let mut reader = SwfReader::new(&bytes[..], "a", Malformed::Refuse).expect("readable");
        assert_eq!(reader.next().and_then(Result::ok), Some(record));
        assert_eq!(reader.further(), ["4", "-1", "two_words", "caf\u{e9}_"]);
    }

    #[test]
    fn header_values_command_no_terminal_and_end_no_line() {
        let mut header = SwfHeader::default();
        header.push("Queue", "1 a\u{1b}[2J\nb\u{9b}c");
        let writer = SwfWriter::new(Vec::new(), &header).expect("memory takes it");
        let bytes = writer.finish().expect("memory takes it");
        assert_eq!(String::from_utf8_lossy(&bytes), "; Queue: 1 a [2J b c\n");
    }

    #[test]
    fn whole_seconds_have_no_decimals() {
        let mut record = SwfRecord::unknown(3, Time::from_secs(7));
        record.run_time = Span::from_micros(1_500_000);
        let mut out = Vec::new();
        write_record(&mut out, &record).expect("memory takes it");
        let text = String::from_utf8(out).expect("ascii");
        assert_eq!(text, "3 7 -1 1.5 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1\n");
    }
}
