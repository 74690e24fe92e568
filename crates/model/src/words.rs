//! Choices that have a word in scenario files, in tables and in printed text.

/// Declares an enum with a word for each of its values.
///
/// Files and messages use the word. The comment of a value is its meaning in the manual, in help texts
/// and in the schema of scenario files. The engine uses the enum. There is no second list of any of
/// them, so a comment must begin with the facts that an author of scenarios needs.
///
/// A crate that declares words depends on `serde`, and has a feature `schema` that enables `schemars`.
///
/// ```
/// haggle_model::words! {
///     /// Which of two comes first.
///     #[derive(Default)]
///     pub enum Turn {
///         /// The older one.
///         #[default]
///         OldestFirst = "oldest-first",
///         /// The younger one.
///         YoungestFirst = "youngest-first",
///     }
/// }
///
/// assert_eq!(Turn::default().name(), "oldest-first");
/// assert_eq!(Turn::ALL.map(Turn::name), ["oldest-first", "youngest-first"]);
/// ```
#[macro_export]
macro_rules! words {
    ($(#[$about:meta])* $vis:vis enum $name:ident {
        $($(#[$meaning:meta])* $value:ident = $word:literal,)+
    }) => {
        $(#[$about])*
        #[derive(
            Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize,
        )]
        #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
        $vis enum $name {
            $($(#[$meaning])* #[serde(rename = $word)] $value,)+
        }

        impl $name {
            /// All values, in the order of the manual.
            pub const ALL: [$name; [$($word),+].len()] = [$($name::$value),+];

            /// The word in scenarios and tables.
            pub const fn name(self) -> &'static str {
                match self {
                    $($name::$value => $word,)+
                }
            }
        }
    };
}
