//! "Did you mean": the known word that is nearest to a mistyped one.

/// The known word that is most similar to `typed`, if it is similar enough.
pub fn nearest<'w>(typed: &str, words: impl IntoIterator<Item = &'w str>) -> Option<&'w str> {
    // A third of the letters may differ. In short words such as "ab" one letter may.
    let allowed = (typed.chars().count() / 3).max(1);
    // Of equally near words, the first one by the alphabet.
    words
        .into_iter()
        .map(|word| (strsim::osa_distance(&typed.to_lowercase(), &word.to_lowercase()), word))
        .filter(|&(distance, _)| distance <= allowed)
        .min()
        .map(|(_, word)| word)
}

/// `one`, `one or two`, `one, two or three`.
pub fn either(words: &[&str]) -> String {
    match words {
        [] => "nothing".into(),
        [only] => (*only).into(),
        [first @ .., last] => format!("{} or {last}", first.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_words_are_suggested_and_far_ones_are_not() {
        let words = ["processors", "policy", "speed"];
        assert_eq!(nearest("procesors", words), Some("processors"));
        assert_eq!(nearest("Policy", words), Some("policy"));
        assert_eq!(nearest("spede", words), Some("speed"));
        assert_eq!(nearest("colour", words), None);
    }
}
