//! The file of a sweep that can be taken up again: a line that says which sweep it is, then one JSON
//! line for each finished seed, appended as it finishes. Files of shards may be put one behind the
//! other. Must never know how a seed is played.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{Read as _, Seek as _, SeekFrom, Write as _};

use engine::error::InputError;
use engine::run::{Gates, VerdictKind};
use engine::sim::record::Totals;
use serde::{Deserialize, Serialize};

/// What is kept of one seed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Row {
    /// As text: readers of JSON hold only 53 bits.
    #[serde(with = "as_text")]
    pub(crate) seed: u64,
    pub(crate) verdict: VerdictKind,
    pub(crate) totals: Totals,
    /// How often each property was put to the test.
    #[serde(default)]
    pub(crate) checks: Vec<u64>,
    pub(crate) explanation: String,
    pub(crate) link: String,
}

/// Which sweep it is: every seed's run but for the seed, and how it is played.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Identity {
    pub(crate) sweep: String,
    pub(crate) ticks: u32,
    pub(crate) settle: bool,
    pub(crate) heal: bool,
    pub(crate) gates: Gates,
}

/// A line of the file.
#[derive(Deserialize)]
#[serde(untagged)]
enum Line {
    Row(Box<Row>),
    Identity(Identity),
}

/// The open file.
pub(crate) struct Ledger {
    name: String,
    file: File,
}

impl Ledger {
    /// Opens or makes the file; what it holds already, by seed.
    pub(crate) fn open(
        name: &str,
        identity: &Identity,
    ) -> Result<(Self, BTreeMap<u64, Row>), InputError> {
        let wrong = |found: String| {
            let expected = "a file of this sweep, or the name of a new one";
            InputError::new("--resume", format!("{name}: {found}"), expected)
        };
        let mut file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(name)
            .map_err(|error| wrong(error.to_string()))?;
        let mut text = String::new();
        file.read_to_string(&mut text)
            .map_err(|error| wrong(error.to_string()))?;
        let (rows, good_bytes) = read(&text, identity).map_err(wrong)?;
        // A line that an interruption tore is overwritten.
        file.set_len(good_bytes)
            .and_then(|()| file.seek(SeekFrom::End(0)))
            .map_err(|error| wrong(error.to_string()))?;
        let mut ledger = Self {
            name: name.to_owned(),
            file,
        };
        if good_bytes == 0 {
            ledger.append(identity)?;
        }
        Ok((ledger, rows))
    }

    /// Writes one finished seed down, with one call, so that an interruption tears no line but the
    /// last.
    pub(crate) fn write(&mut self, row: &Row) -> Result<(), InputError> {
        self.append(row)
    }

    fn append(&mut self, value: &impl Serialize) -> Result<(), InputError> {
        let line = serde_json::to_string(value).map_err(std::io::Error::from);
        let written = line.and_then(|line| self.file.write_all((line + "\n").as_bytes()));
        written.map_err(|error| {
            let found = format!("{}: {error}", self.name);
            InputError::new("--resume", found, "a file that can be written to")
        })
    }
}

/// The rows of a file, and how many of its bytes are whole lines.
fn read(text: &str, identity: &Identity) -> Result<(BTreeMap<u64, Row>, u64), String> {
    let mut rows = BTreeMap::new();
    let mut good_bytes = 0;
    for (place, line) in text.split_inclusive('\n').enumerate() {
        if !line.ends_with('\n') {
            break;
        }
        match serde_json::from_str(line) {
            Ok(Line::Row(row)) if place > 0 => {
                rows.insert(row.seed, *row);
            }
            Ok(Line::Identity(found)) if found == *identity => {}
            Ok(Line::Identity(found)) => {
                return Err(format!(
                    "another sweep, {} over {} ticks{}",
                    found.sweep,
                    found.ticks,
                    if found.settle {
                        ""
                    } else {
                        " without end phase"
                    }
                ));
            }
            Ok(Line::Row(_)) | Err(_) => {
                return Err(format!("line {} is none of a sweep", place + 1));
            }
        }
        good_bytes += line.len() as u64;
    }
    Ok((rows, good_bytes))
}

mod as_text {
    use serde::{Deserialize as _, Deserializer, Serializer, de};

    pub(super) fn serialize<S: Serializer>(seed: &u64, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(seed)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<u64, D::Error> {
        let text = String::deserialize(from)?;
        text.parse().map_err(de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn identity() -> Identity {
        Identity {
            sweep: "v=1&seed=0".into(),
            ticks: 500,
            settle: true,
            heal: false,
            gates: Gates::default(),
        }
    }

    fn file(rows: &[u64]) -> String {
        let mut text = serde_json::to_string(&identity()).unwrap() + "\n";
        for &seed in rows {
            let row = Row {
                seed,
                verdict: VerdictKind::Converged,
                totals: Totals::default(),
                checks: vec![1, 2],
                explanation: String::new(),
                link: String::new(),
            };
            text += &(serde_json::to_string(&row).unwrap() + "\n");
        }
        text
    }

    #[test]
    fn whatever_byte_an_interruption_tears_whole_lines_are_kept() {
        let text = file(&[1, u64::MAX]);
        for length in 0..=text.len() {
            let torn = &text[..length];
            let whole = torn.matches('\n').count();
            let (rows, good) = read(torn, &identity()).unwrap();
            assert_eq!(rows.len(), whole.saturating_sub(1));
            assert_eq!(good as usize, torn.rfind('\n').map_or(0, |end| end + 1));
        }
    }

    #[test]
    fn files_of_shards_may_be_put_behind_each_other() {
        let text = file(&[1, 3]) + &file(&[2]);
        let (rows, _) = read(&text, &identity()).unwrap();
        assert_eq!(rows.into_keys().collect::<Vec<_>>(), [1, 2, 3]);
    }

    #[test]
    fn foreign_files_are_refused() {
        let other = Identity {
            ticks: 501,
            ..identity()
        };
        assert!(
            read(&file(&[1]), &other)
                .unwrap_err()
                .contains("another sweep")
        );
        for text in ["hello\n", "{}\n", "[1]\n"] {
            assert!(read(text, &identity()).unwrap_err().contains("line 1"));
        }
        let headless = file(&[1]).split_inclusive('\n').nth(1).unwrap().to_owned();
        assert!(read(&headless, &identity()).unwrap_err().contains("line 1"));
    }
}
