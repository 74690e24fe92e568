//! `haggle help`: the `--help` of a command, or the manual's text on a key of scenarios.

use std::fmt::Write;

use crate::scenario::changing::changes;
use crate::scenario::keys::{self, Key};
use clap::CommandFactory;
use clap::builder::StringValueParser;

use super::{Error, complete, print};
use crate::cli::Cli;
use crate::exit::Exit;

/// Explain a command, or a key or word of scenarios
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  haggle help sweep
  haggle help provider.policy
  haggle help fit-load
  haggle help '[[workload]]'    # the key, and not the command")]
pub(crate) struct Args {
    /// A command, or a key: its path with dots, or the end of the path
    #[arg(value_name = "COMMAND|KEY", value_parser = complete::keys(StringValueParser::new()),
        hide_possible_values = true)]
    words: Vec<String>,
}

/// Most keys that are explained in full; more get a line each.
const IN_FULL: usize = 6;

/// Prints the explanation.
pub(crate) fn run(args: &Args) -> Result<Exit, Error> {
    let mut command = Cli::command();
    // Builds the subcommands too, whose help would otherwise lack the name of the program.
    command.build();
    let mut found = Some(&mut command);
    for word in &args.words {
        found = found.and_then(|command| command.find_subcommand_mut(word));
    }
    let text = match (found, args.words.as_slice()) {
        // A command precedes a key of the same name; the brackets of a table name the key.
        (Some(command), words) => {
            let mut text = format!("{}\n", command.render_long_help().to_string().trim_end());
            if let [word] = words
                && !keys::find(word).is_empty()
            {
                let _ =
                    write!(text, "\n`haggle help '[[{word}]]'` explains the key of scenarios.\n");
            }
            text
        }
        (None, [key]) => explained(key)?,
        (None, words) => return Err(unknown(&words.join(" "))),
    };
    print(&text)?;
    Ok(Exit::Success)
}

/// Explanation of a key or a word.
fn explained(typed: &str) -> Result<String, Error> {
    let found = keys::find(typed);
    let words = keys::that_may_be(typed);
    let kind = keys::type_called(typed);
    if found.is_empty() && words.is_empty() && kind.is_none() {
        return Err(unknown(typed));
    }
    let mut texts: Vec<String> = Vec::new();
    texts.extend(kind.map(|about| format!("{typed}, a type of values\n  {about}\n")));
    if found.len() > IN_FULL {
        let width = found.iter().map(|(key, _)| key.path.len()).max().unwrap_or(0);
        let lines = found.iter().map(|(key, _)| format!("{:width$}  {}\n", key.path, key.meaning));
        texts.push(lines.collect());
    } else {
        texts.extend(found.iter().map(|(key, elsewhere)| in_full(key, elsewhere)));
    }
    for (key, word) in words {
        texts.push(format!("{} = \"{}\"\n  {}\n", key.path, word.word, word.meaning));
    }
    Ok(texts.join("\n"))
}

fn in_full(key: &Key, elsewhere: &[String]) -> String {
    let mut text = format!("{}\n  {}\n", key.path, key.meaning);
    let mut line = |name: &str, value: &str| {
        let _ = writeln!(text, "  {name:<8} {value}");
    };
    match &key.form {
        Some(form) => line("form", form),
        None => line("type", &key.takes),
    }
    match &key.default {
        _ if key.required => line("default", "none: it must be given"),
        Some(default) => line("default", default),
        None => {}
    }
    if key.table.is_none() && key.form.is_none() {
        match changes(&key.way) {
            Ok(effect) => line("change", &format!("may change while a run goes on: {effect}")),
            Err(reason) => line("change", &format!("cannot change while a run goes on: {reason}")),
        }
    }
    if !elsewhere.is_empty() {
        line("also", &elsewhere.join(", "));
    }
    let mut rows: Vec<(&str, String)> = Vec::new();
    rows.extend(key.words.iter().map(|it| (it.word.as_str(), it.meaning.clone())));
    rows.extend(key.beside.iter().map(|it| (it.word.as_str(), it.meaning.clone())));
    let below = keys::all();
    let of = format!("{}.", key.path);
    for key in &below {
        if key.path.strip_prefix(&of).is_some_and(|rest| !rest.contains('.')) {
            rows.push((key.name(), key.meaning.clone()));
        }
    }
    let width = rows.iter().map(|row| row.0.len()).max().unwrap_or(0);
    for (name, meaning) in rows {
        let _ = writeln!(text, "    {name:width$}  {meaning}");
    }
    text
}

fn unknown(typed: &str) -> Error {
    let hint = match keys::suggestion(typed) {
        Some(known) => format!("did you mean `{known}`?"),
        None => {
            "docs/scenario.md has all keys, `haggle list` all words, `haggle --help` all commands"
                .to_owned()
        }
    };
    Error::Unfit { message: format!("there is no command and no key `{typed}`"), hint }
}
