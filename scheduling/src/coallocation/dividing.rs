//! A job in parts of about one size.

/// As many processors as evenly as possible, by the places of providers from `first` on, who get
/// what is left over. Nobody gets none.
pub fn divide(processors: u32, providers: usize, first: usize) -> Vec<(usize, u32)> {
    let count = providers.max(1) as u32;
    let part = |turn: usize| {
        let part = processors / count + u32::from((turn as u32) < processors % count);
        ((first + turn) % providers.max(1), part)
    };
    (0..providers).map(part).filter(|&(_, part)| part > 0).collect()
}

#[cfg(test)]
mod tests {
    use super::divide;

    #[test]
    fn a_job_is_divided_evenly_and_nobody_gets_none() {
        assert_eq!(divide(7, 3, 0), [(0, 3), (1, 2), (2, 2)]);
        assert_eq!(divide(8, 3, 1), [(1, 3), (2, 3), (0, 2)]);
        assert_eq!(divide(2, 4, 3), [(3, 1), (0, 1)]);
    }
}
