//! The words that a scenario can use, each with its meaning: read from the
//! schema, so that no list can be out of date.

use super::schema::SCHEMA;

/// A word and what it means.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Word {
    /// As scenarios write it.
    pub word: String,
    /// What it means.
    pub meaning: String,
}

/// The table that may stand in the place of one of the words of a type, and what it means.
pub fn table_beside(definition: &str) -> Option<Word> {
    let table = SCHEMA.table_beside_words(SCHEMA.definition(definition))?;
    let key = SCHEMA.required(table).next()?;
    let word = format!("{{ {key} = \"NAME\" }}");
    Some(Word { word, meaning: SCHEMA.purpose(table).unwrap_or_default() })
}

/// Reads a word of a type of the format on the command line; help texts have the meanings.
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
        .try_map(|word| T::deserialize(IntoDeserializer::<Error>::into_deserializer(word)))
}

/// The words of a type of the format, by the type's name in the schema, such as
/// `Policy`; none for types that are not made of words.
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
