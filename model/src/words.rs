//! Choices that have a word: in scenario files, in tables and in what is printed.

/// Declares an enum each of whose values has a word.
///
/// The word is what is read and written in files and messages, the comment of a value is its meaning in the manual, in
/// help texts and in the schema of scenario files, and the enum is what the engine works with: there is no second
/// list of any of them. So a comment says first what its author wants to know who writes a scenario.
///
/// A crate that declares words depends on `serde`, and has a feature `schema` by which it depends on `schemars`.
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
            /// All of them, in the order of the manual.
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
