//! Resources as PBS and Torque write them.

use crate::swf::number;

/// A number of processors.
pub(super) fn count(text: &[u8]) -> Option<i32> {
    number::small(text).ok().filter(|&count| count >= 0)
}

/// Processors of chunks: `2:ncpus=8:mem=4gb+1:ncpus=4` are 20.
pub(super) fn select(text: &[u8]) -> Option<i32> {
    chunks(text, b"ncpus=")
}

/// Processors of nodes: `2:ppn=8+n7:ppn=4` are 20.
pub(super) fn nodes(text: &[u8]) -> Option<i32> {
    chunks(text, b"ppn=")
}

fn chunks(text: &[u8], key: &[u8]) -> Option<i32> {
    let mut sum = 0_i32;
    for chunk in text.split(|&byte| byte == b'+') {
        let mut parts = chunk.split(|&byte| byte == b':');
        let first = parts.next()?;
        // A chunk may begin with the name of a node, which is one.
        let times = if first.first()?.is_ascii_digit() { count(first).unwrap_or(1) } else { 1 };
        let each = match [first].into_iter().chain(parts).find_map(|part| part.strip_prefix(key)) {
            Some(each) => count(each)?,
            None => 1,
        };
        sum = sum.checked_add(times.checked_mul(each)?)?;
    }
    Some(sum)
}

/// Processors of hosts: `n1/0*8` has 8, `n1/0+n1/1` has 2, `n1/0-3,6` has 5.
pub(super) fn hosts(text: &[u8]) -> Option<i32> {
    let mut sum = 0_i32;
    for host in text.split(|&byte| byte == b'+') {
        let slots = memchr::memchr(b'/', host).map_or(&b"0"[..], |at| &host[at + 1..]);
        let here = match memchr::memchr(b'*', slots) {
            Some(at) => count(&slots[at + 1..])?,
            None => ranges(slots)?,
        };
        sum = sum.checked_add(here)?;
    }
    Some(sum)
}

fn ranges(text: &[u8]) -> Option<i32> {
    let mut sum = 0_i32;
    for range in text.split(|&byte| byte == b',') {
        let here = match memchr::memchr(b'-', range) {
            Some(at) => {
                count(&range[at + 1..])?.checked_sub(count(&range[..at])?)?.checked_add(1)?
            }
            None => count(range).map(|_| 1)?,
        };
        sum = sum.checked_add(here.max(0))?;
    }
    Some(sum)
}

/// An amount of memory in KB: `8gb`, `8192mb`, `100kb`, `2048b` or a number of bytes.
pub(super) fn kilobytes(text: &[u8]) -> Option<i64> {
    let text = text.to_ascii_lowercase();
    let (digits, power) = match &text[..] {
        [rest @ .., b't', b'b'] => (rest, 3),
        [rest @ .., b'g', b'b'] => (rest, 2),
        [rest @ .., b'm', b'b'] => (rest, 1),
        [rest @ .., b'k', b'b'] => (rest, 0),
        [rest @ .., b'b'] => (rest, -1),
        rest => (rest, -1),
    };
    let amount = number::large(digits, number::Decimals::RoundUp).ok().filter(|&it| it >= 0)?;
    match u32::try_from(power) {
        Ok(power) => amount.checked_mul(1024_i64.pow(power)).filter(|&it| it <= 1 << 53),
        // Rounded up.
        Err(_) => Some((amount + 1023) / 1024),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processors_of_chunks_nodes_and_hosts() {
        assert_eq!(select(b"2:ncpus=8:mem=4gb+1:ncpus=4"), Some(20));
        assert_eq!(select(b"3"), Some(3));
        assert_eq!(nodes(b"2:ppn=8+n7:ppn=4+n8"), Some(21));
        assert_eq!(hosts(b"n1/0*8+n2/1*4"), Some(12));
        assert_eq!(hosts(b"n1/0+n1/1+n2/0-3,6"), Some(7));
        assert_eq!(hosts(b"n1"), Some(1));
        assert_eq!((select(b"2:ncpus=x"), hosts(b"n1/x"), nodes(b"")), (None, None, None));
        assert_eq!(select(b"2147483647:ncpus=2"), None);
    }

    #[test]
    fn amounts_of_memory() {
        let read = |text: &str| kilobytes(text.as_bytes());
        assert_eq!(
            [read("8gb"), read("1MB"), read("7kb"), read("2048b"), read("1")],
            [8 << 20, 1024, 7, 2, 1].map(Some)
        );
        assert_eq!([read("gb"), read("-1gb"), read("9007199254740992tb")], [None; 3]);
    }
}
