//! The project's tool: `cargo xtask COMMAND` sets up, builds, serves, tests and measures.
//!
//! This file dispatches and nothing else. The whole tool must need no crate but std, so that it compiles in seconds on
//! a fresh machine, before anything else is there.

mod arguments;
mod bench;
mod chromium;
mod dist;
mod failure;
mod golden;
mod mutants;
mod npm;
mod process;
mod project;
mod serve;
mod setup;
mod site;
mod steps;
mod tally;
mod test;
mod tidy;
mod tools;

use arguments::Arguments;
use failure::Failure;
use project::Project;
use std::process::ExitCode;

/// One command: its name, what it does in a line, its help, and its code.
struct Command {
    name: &'static str,
    summary: &'static str,
    help: &'static str,
    run: fn(&Project, Arguments) -> Result<(), Failure>,
}

const COMMANDS: [Command; 7] = [
    Command {
        name: "serve",
        summary: "set up what is missing, build the page, serve it and print its address",
        help: serve::HELP,
        run: serve::run,
    },
    Command {
        name: "test",
        summary: "set up what is missing, then run every check and every test",
        help: test::HELP,
        run: test::run,
    },
    Command {
        name: "golden",
        summary: "compare the golden table natively, under Node and in Chromium",
        help: golden::HELP,
        run: golden::run,
    },
    Command {
        name: "bench",
        summary: "measure speed natively and in Chromium, and the page's size",
        help: bench::HELP,
        run: bench::run,
    },
    Command {
        name: "mutants",
        summary: "switch rules of the protocol off, one by one, and see an oracle notice",
        help: mutants::HELP,
        run: mutants::run,
    },
    Command {
        name: "dist",
        summary: "build the site to host into dist/",
        help: dist::HELP,
        run: dist::run,
    },
    Command {
        name: "tidy",
        summary: "check the rules of the source that no compiler checks",
        help: tidy::HELP,
        run: tidy::run,
    },
];

fn main() -> ExitCode {
    match dispatch(std::env::args().skip(1).collect()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("error: {failure}");
            ExitCode::from(failure.exit_code())
        }
    }
}

fn dispatch(mut words: Vec<String>) -> Result<(), Failure> {
    if words.is_empty() {
        return Err(Failure::usage(format!(
            "no command given\n\n{}",
            overview()
        )));
    }
    let name = words.remove(0);
    if matches!(name.as_str(), "--help" | "-h" | "help") {
        println!("{}", overview());
        return Ok(());
    }
    let Some(command) = COMMANDS.iter().find(|command| command.name == name) else {
        return Err(Failure::usage(format!(
            "unknown command `{name}`; `cargo xtask --help` lists the commands"
        )));
    };
    let mut arguments = Arguments::new(command.name, words);
    if arguments.flag("--help") || arguments.flag("-h") {
        println!("{}", command.help);
        return Ok(());
    }
    (command.run)(&Project::locate()?, arguments)
}

fn overview() -> String {
    let mut text = String::from(
        "cargo xtask COMMAND\n\nThe commands, in the order in which you will need them:\n\n",
    );
    for command in &COMMANDS {
        text += &format!("  {:<8} {}\n", command.name, command.summary);
    }
    text += "\n`cargo xtask COMMAND --help` tells more about one.";
    text
}

#[cfg(test)]
mod tests {
    use super::{COMMANDS, dispatch, overview};

    #[test]
    fn an_unknown_command_is_a_usage_error_of_one_line() {
        let failure = dispatch(vec!["sevre".to_owned()]).expect_err("no such command");
        assert_eq!(failure.exit_code(), 2);
        assert_eq!(
            failure.to_string(),
            "unknown command `sevre`; `cargo xtask --help` lists the commands"
        );
    }

    #[test]
    fn the_overview_and_each_help_name_the_command() {
        for command in &COMMANDS {
            assert!(overview().contains(command.summary));
            let usage = format!("cargo xtask {}", command.name);
            assert!(command.help.starts_with(&usage), "{}", command.help);
        }
    }
}
