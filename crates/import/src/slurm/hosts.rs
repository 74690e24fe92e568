//! Lists of nodes, such as `n[01-03,7],rack[1-2]x[1-4]`.

/// Most nodes of a list.
const HOSTS_MAX: usize = 1_000_000;

/// The names of a list; `None` if it is malformed, or has too many names.
pub(super) fn expand(list: &str) -> Option<Vec<String>> {
    let mut hosts = Vec::new();
    for part in split(list)? {
        let mut names = vec![String::new()];
        let mut rest = part;
        while let Some((before, behind)) = rest.split_once('[') {
            let (ranges, behind) = behind.split_once(']')?;
            let numbers = numbers(ranges)?;
            if names.len().checked_mul(numbers.len())? > HOSTS_MAX {
                return None;
            }
            let join = |name: &String| {
                let name = name.clone();
                numbers.iter().map(move |number| format!("{name}{before}{number}"))
            };
            names = names.iter().flat_map(join).collect();
            rest = behind;
        }
        hosts.extend(names.into_iter().map(|name| name + rest));
        if hosts.len() > HOSTS_MAX {
            return None;
        }
    }
    Some(hosts)
}

/// The parts between commas outside of brackets.
fn split(list: &str) -> Option<Vec<&str>> {
    let (mut parts, mut start, mut is_inside) = (Vec::new(), 0, false);
    for (at, sign) in list.char_indices() {
        match (sign, is_inside) {
            ('[', false) => is_inside = true,
            (']', true) => is_inside = false,
            ('[' | ']', _) => return None,
            (',', false) => {
                parts.push(&list[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&list[start..]);
    parts.retain(|part| !part.is_empty());
    (!is_inside).then_some(parts)
}

/// The numbers of ranges, with their leading zeros.
fn numbers(ranges: &str) -> Option<Vec<String>> {
    let mut numbers = Vec::new();
    for range in ranges.split(',') {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        let is_number = |text: &str| !text.is_empty() && text.bytes().all(|it| it.is_ascii_digit());
        if !is_number(first) || !is_number(last) {
            return None;
        }
        let (from, to): (u64, u64) = (first.parse().ok()?, last.parse().ok()?);
        if to < from || to - from >= HOSTS_MAX as u64 {
            return None;
        }
        let width = first.len();
        numbers.extend((from..=to).map(|number| format!("{number:0width$}")));
    }
    Some(numbers)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_lists() {
        let hosts = |list: &str| expand(list).map(|hosts| hosts.join(" "));
        assert_eq!(hosts("n1").as_deref(), Some("n1"));
        assert_eq!(hosts("n[08-10,2],login").as_deref(), Some("n08 n09 n10 n2 login"));
        assert_eq!(hosts("r[1-2]n[1-2]-ib").as_deref(), Some("r1n1-ib r1n2-ib r2n1-ib r2n2-ib"));
        for wrong in
            ["n[", "n]", "n[a]", "n[2-1]", "n[1-99999999999]", "n[[1]]", "a[1-9999]b[1-9999]"]
        {
            assert_eq!(hosts(wrong), None, "{wrong}");
        }
    }
}
