//! The words after a command: flags, numbers, and a clear refusal of anything else.
//!
//! It must never know what a flag means.

use crate::failure::Failure;

/// The words not yet taken, and the command they belong to.
#[derive(Debug)]
pub(crate) struct Arguments {
    command: &'static str,
    words: Vec<String>,
}

impl Arguments {
    pub(crate) fn new(command: &'static str, words: Vec<String>) -> Self {
        Self { command, words }
    }

    /// Takes `flag` if it is there.
    pub(crate) fn flag(&mut self, flag: &str) -> bool {
        let before = self.words.len();
        self.words.retain(|word| word != flag);
        self.words.len() < before
    }

    /// Takes `flag` and the number after it, also as `flag=number`.
    pub(crate) fn number(&mut self, flag: &str) -> Result<Option<u16>, Failure> {
        let Some(text) = self.value(flag)? else {
            return Ok(None);
        };
        match text.parse() {
            Ok(number) => Ok(Some(number)),
            Err(_) => Err(self.refusal(&format!(
                "{flag} takes a number from 0 to {}, not `{text}`",
                u16::MAX
            ))),
        }
    }

    /// Takes every word that is not a flag.
    pub(crate) fn plain_words(&mut self) -> Vec<String> {
        let (flags, plain) = std::mem::take(&mut self.words)
            .into_iter()
            .partition(|word| word.starts_with('-'));
        self.words = flags;
        plain
    }

    /// Refuses whatever nobody took.
    pub(crate) fn finish(self) -> Result<(), Failure> {
        match self.words.first() {
            None => Ok(()),
            Some(word) => Err(self.refusal(&format!("unknown argument `{word}`"))),
        }
    }

    pub(crate) fn refusal(&self, problem: &str) -> Failure {
        Failure::usage(format!(
            "{problem}; see `cargo xtask {} --help`",
            self.command
        ))
    }

    fn value(&mut self, flag: &str) -> Result<Option<String>, Failure> {
        let prefix = format!("{flag}=");
        if let Some(at) = self.words.iter().position(|word| word.starts_with(&prefix)) {
            return Ok(Some(self.words.remove(at)[prefix.len()..].to_owned()));
        }
        let Some(at) = self.words.iter().position(|word| word == flag) else {
            return Ok(None);
        };
        if at + 1 == self.words.len() {
            return Err(self.refusal(&format!("{flag} takes a value")));
        }
        self.words.remove(at);
        Ok(Some(self.words.remove(at)))
    }
}

#[cfg(test)]
mod tests {
    use super::Arguments;

    fn arguments(words: &[&str]) -> Arguments {
        Arguments::new("serve", words.iter().map(|&word| word.to_owned()).collect())
    }

    #[test]
    fn a_number_is_taken_in_both_forms() {
        assert_eq!(arguments(&["--port", "81"]).number("--port"), Ok(Some(81)));
        assert_eq!(arguments(&["--port=82"]).number("--port"), Ok(Some(82)));
        assert_eq!(arguments(&["--check"]).number("--port"), Ok(None));
    }

    #[test]
    fn a_bad_number_is_refused_by_name() {
        let failure = arguments(&["--port", "high"])
            .number("--port")
            .expect_err("not a number");
        assert_eq!(failure.exit_code(), 2);
        assert!(
            failure.to_string().contains("--port takes a number"),
            "{failure}"
        );
        assert!(arguments(&["--port"]).number("--port").is_err());
    }

    #[test]
    fn what_nobody_took_is_refused() {
        let mut given = arguments(&["--check", "--chekc"]);
        assert!(given.flag("--check"));
        let failure = given.finish().expect_err("one word is left");
        assert_eq!(
            failure.to_string(),
            "unknown argument `--chekc`; see `cargo xtask serve --help`"
        );
    }

    #[test]
    fn plain_words_leave_the_flags() {
        let mut given = arguments(&["native", "--check", "golden"]);
        assert_eq!(given.plain_words(), ["native", "golden"]);
        assert!(given.flag("--check"));
        assert_eq!(given.finish(), Ok(()));
    }
}
