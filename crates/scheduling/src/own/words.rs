//! Enums of rules that have a word each, or are one's own.

/// Declares an enum of rules: as [`haggle_model::words`], but its last value is `Own`, a rule from outside.
///
/// `Own` holds the rule itself in the engine (`Order`), and the name of a rule in a scenario
/// (`Order<Name>`). Both are one enum, so that the words, their meanings and their effects are in one
/// place. `among` finds the rule of a name in the [`List`](crate::own::List) of a program.
///
/// A crate that declares such words depends on `serde`, and has a feature `schema` that enables `schemars`.
///
/// The comments of the values are texts of the manual.
#[macro_export]
macro_rules! words_or_own {
    ($(#[$about:meta])* pub enum $name:ident of $rule:ident as $schema:literal {
        $($(#[$meaning:meta])* $value:ident = $word:literal,)+
    }) => {
        #[derive(
            Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize,
        )]
        #[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = $schema))]
        $(#[$about])*
        pub enum $name<R = $crate::own::Own<$rule>> {
            $($(#[$meaning])* #[serde(rename = $word)] $value,)+
            /// A rule of one's own, by its name; a program of one's own supplies it (docs/own-rules.md).
            #[serde(rename = "own")]
            Own(R),
        }

        impl $name {
            /// All of ours, in the order of the manual.
            pub const ALL: [$name; [$($word),+].len()] = [$($name::$value),+];

            /// Their words.
            pub const WORDS: [&str; [$($word),+].len()] = [$($word),+];
        }

        impl<R: AsRef<str>> $name<R> {
            /// The word in scenarios, or its name if it is one's own.
            pub fn name(&self) -> &str {
                match self {
                    $($name::$value => $word,)+
                    $name::Own(own) => own.as_ref(),
                }
            }

            /// The same, with the rule of one's own that it names.
            ///
            /// # Errors
            /// If that is none of these.
            pub fn among(
                &self,
                rules: &$crate::own::List<$rule>,
            ) -> Result<$name, $crate::own::NoSuchRule> {
                Ok(match self {
                    $($name::$value => $name::$value,)+
                    $name::Own(own) => $name::Own(rules.get(own.as_ref())?),
                })
            }
        }
    };
}
