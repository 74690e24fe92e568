//! Header comments: `; Key: value`, in order, with typed access to the usual keys.

/// Key of the names of the columns behind the eighteenth.
const EXTRA_COLUMNS: &str = "ExtraColumns";

/// The comments before the first job line, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SwfHeader {
    /// All comment lines; keys may repeat (`Note`, `Queue`).
    pub lines: Vec<HeaderLine>,
}

/// One comment line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeaderLine {
    /// The key; empty if the line is free text.
    pub key: String,
    /// The value after the colon, or the free text.
    pub value: String,
}

impl SwfHeader {
    /// Adds an entry at the end.
    pub fn push(&mut self, key: impl Into<String>, value: impl ToString) {
        self.lines.push(HeaderLine { key: key.into(), value: value.to_string() });
    }

    /// Adds a comment line as it is in the log, with its `;`.
    pub(super) fn push_comment(&mut self, line: &[u8]) {
        let text = String::from_utf8_lossy(line);
        let text = text.trim().trim_start_matches(';').trim();
        let line = match text.split_once(':') {
            // `http://…` is text, not a key.
            Some((key, value)) if is_key(key) && !value.starts_with("//") => {
                HeaderLine { key: key.to_owned(), value: value.trim().to_owned() }
            }
            _ => HeaderLine { key: String::new(), value: text.to_owned() },
        };
        self.lines.push(line);
    }

    /// The first value of `key`, case-insensitive.
    pub fn value(&self, key: &str) -> Option<&str> {
        self.lines
            .iter()
            .find(|line| line.key.eq_ignore_ascii_case(key))
            .map(|line| line.value.as_str())
    }

    /// The number with which the value of `key` begins: 338 for `338 (512 total)`, 1024 for `1,024`.
    pub fn number(&self, key: &str) -> Option<i64> {
        leading_number(self.value(key)?)
    }

    /// Version of the format.
    pub fn version(&self) -> Option<&str> {
        self.value("Version")
    }

    /// Make and model of the machine.
    pub fn computer(&self) -> Option<&str> {
        self.value("Computer")
    }

    /// Site of the machine.
    pub fn installation(&self) -> Option<&str> {
        self.value("Installation")
    }

    /// Number of processors.
    pub fn max_procs(&self) -> Option<u32> {
        self.count("MaxProcs")
    }

    /// Number of nodes. Old logs of one-processor nodes give only this size.
    pub fn max_nodes(&self) -> Option<u32> {
        self.count("MaxNodes")
    }

    /// Number of lines, often that before the log was cleaned.
    pub fn max_records(&self) -> Option<i64> {
        self.number("MaxRecords")
    }

    /// Unix time of the log's time zero, seconds.
    pub fn unix_start_time(&self) -> Option<i64> {
        self.number("UnixStartTime")
    }

    /// Offset of the local clock from UTC, seconds, without summer time.
    pub fn time_zone(&self) -> Option<i64> {
        self.number("TimeZone")
    }

    /// Names of the columns behind the eighteenth (`ExtraColumns`), between spaces or commas. The format has no
    /// key for them; this program writes the key as well.
    pub fn extra_columns(&self) -> Vec<String> {
        let names = self.value(EXTRA_COLUMNS).unwrap_or_default();
        let between = |letter: char| letter == ',' || letter.is_whitespace();
        names.split(between).filter(|name| !name.is_empty()).map(str::to_owned).collect()
    }

    /// Sets the names of the columns behind the eighteenth.
    pub fn set_extra_columns(&mut self, names: &[String]) {
        self.lines.retain(|line| !line.key.eq_ignore_ascii_case(EXTRA_COLUMNS));
        if !names.is_empty() {
            self.push(EXTRA_COLUMNS, names.join(" "));
        }
    }

    /// Processors of the machine: `MaxProcs`, else `MaxNodes`.
    pub fn machine_size(&self) -> Option<u32> {
        self.max_procs().or_else(|| self.max_nodes())
    }

    fn count(&self, key: &str) -> Option<u32> {
        let count = u32::try_from(self.number(key)?).ok()?;
        (count > 0).then_some(count)
    }
}

/// Commas may stand between groups of three digits; `1,5` is no whole number.
fn leading_number(text: &str) -> Option<i64> {
    let digits = |text: &str| text.bytes().take_while(u8::is_ascii_digit).count();
    let sign = usize::from(text.starts_with('-'));
    let mut end = sign + digits(&text[sign..]);
    let mut number = text[..end].to_owned();
    // A first group of more than three digits, as in `1024,512`, has no thousands separators.
    let is_grouped = (1..=3).contains(&(end - sign));
    while let Some(group) = text[end..].strip_prefix(',') {
        match digits(group) {
            0 => break,
            3 if is_grouped => number.push_str(&group[..3]),
            _ => return None,
        }
        end += 4;
    }
    number.parse().ok()
}

fn is_key(text: &str) -> bool {
    let letters = |c: char| c.is_ascii_alphanumeric() || c == '_';
    text.starts_with(|c: char| c.is_ascii_alphabetic()) && text.chars().all(letters)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header(lines: &[&str]) -> SwfHeader {
        let mut header = SwfHeader::default();
        for line in lines {
            header.push_comment(line.as_bytes());
        }
        header
    }

    #[test]
    fn usual_keys_are_typed() {
        let header = header(&[
            "; Version: 2.2",
            ";     Computer: IBM SP2",
            "; MaxNodes: 338 (batch partition; 512 total)",
            "; TimeZone: -18000",
            ";TimeZoneString: US/Eastern",
            "; Queue:  1 DSI",
            "; Queue:  2 astro",
        ]);
        assert_eq!(header.version(), Some("2.2"));
        assert_eq!(header.computer(), Some("IBM SP2"));
        assert_eq!(header.machine_size(), Some(338));
        assert_eq!(header.time_zone(), Some(-18000));
        assert_eq!(header.value("queue"), Some("1 DSI"));
        assert_eq!(header.max_procs(), None);
        assert_eq!(header.lines.len(), 7);
    }

    #[test]
    fn numbers_may_have_separators_of_thousands() {
        let number = |text: &str| header(&[&format!("; MaxProcs: {text}")]).number("MaxProcs");
        assert_eq!(number("1,024"), Some(1_024));
        assert_eq!(number("-1,234,567 s"), Some(-1_234_567));
        assert_eq!(number("338, 512 in all"), Some(338));
        assert_eq!(number("4 (2 nodes of 2)"), Some(4));
        for wrong in ["1,5", "1,0245", "1024,512", "1,024,5", "", "-", ",5", "x"] {
            assert_eq!(number(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn free_text_has_no_key() {
        let header =
            header(&["; user=135 and (job>=1: 2)", ";   http://a.b/", ";", "; MaxProcs: -1"]);
        let keys: Vec<&str> = header.lines.iter().map(|line| line.key.as_str()).collect();
        assert_eq!(keys, ["", "", "", "MaxProcs"]);
        assert_eq!(header.max_procs(), None);
        assert_eq!(header.lines[1].value, "http://a.b/");
    }
}
