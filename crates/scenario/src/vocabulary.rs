//! The words that a scenario can use, with their meanings. They are read from the schema, so that no list is out
//! of date.

use super::schema::SCHEMA;

/// A word and its meaning.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Word {
    /// Word, as scenarios write it.
    pub word: String,
    /// Meaning of the word.
    pub meaning: String,
}

/// Table that may be written in place of a word of a type, with its meaning.
pub fn table_beside(definition: &str) -> Option<Word> {
    let table = SCHEMA.table_beside_words(SCHEMA.definition(definition))?;
    let key = SCHEMA.required(table).next()?;
    let word = format!("{{ {key} = \"NAME\" }}");
    Some(Word { word, meaning: SCHEMA.purpose(table).unwrap_or_default() })
}

/// Parser of a word of a type of the format, for the command line. Help texts contain the meanings.
#[cfg(feature = "clap")]
pub fn parser<T>() -> impl clap::builder::TypedValueParser<Value = T>
where
    T: serde::de::DeserializeOwned + schemars::JsonSchema + Clone + Send + Sync + 'static,
{
    use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
    use serde::de::IntoDeserializer;
    use serde::de::value::Error;

    let known = words(&T::schema_name()).into_iter();
    let values = known.map(|known| PossibleValue::new(known.word).help(known.meaning));
    PossibleValuesParser::new(values)
        // Read as from a file, so that both accept the same words.
        .try_map(|word| T::deserialize(IntoDeserializer::<Error>::into_deserializer(word)))
}

/// Words of a type of the format, by the name of the type in the schema, such as `Policy`. Types that are not made
/// of words have none.
pub fn words(definition: &str) -> Vec<Word> {
    let schema = SCHEMA.definition(definition);
    let word = |word: &str, schema| Word {
        word: word.to_owned(),
        meaning: SCHEMA.purpose(schema).unwrap_or_default(),
    };
    if let Some((_, variants)) = SCHEMA.variants(schema) {
        return variants.into_iter().map(|(name, variant)| word(name, variant)).collect();
    }
    let choices = SCHEMA.plain(schema)["oneOf"].as_array().into_iter().flatten();
    choices.filter_map(|choice| Some(word(choice["const"].as_str()?, choice))).collect()
}
