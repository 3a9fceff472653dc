//! Checksums and running hashes. Must never know what is hashed.

use crate::ids::Checksum;

/// Mixes a word into a hash: the finaliser of MurmurHash3 over the pair. Cheap enough for every
/// packet, and every bit of both inputs reaches every bit of the result.
#[must_use]
pub fn mix(hash: u64, word: u64) -> u64 {
    let mut x = hash.rotate_left(29) ^ word.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    x ^= x >> 33;
    x = x.wrapping_mul(0xFF51_AFD7_ED55_8CCD);
    x ^= x >> 33;
    x = x.wrapping_mul(0xC4CE_B9FE_1A85_EC53);
    x ^ (x >> 33)
}

/// A checksum over words.
#[must_use]
pub fn checksum_words(words: &[u64]) -> Checksum {
    let mut hash = words.len() as u64;
    for &word in words {
        hash = mix(hash, word);
    }
    Checksum(hash)
}

/// A checksum over bytes: XXH3, 64 bits.
#[must_use]
pub fn checksum_bytes(bytes: &[u8]) -> Checksum {
    Checksum(xxhash_rust::xxh3::xxh3_64(bytes))
}

/// A running FNV-1a hash over 64-bit words: the run hash and the schedule hash.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RunHash(u64);

impl Default for RunHash {
    fn default() -> Self {
        Self(0xCBF2_9CE4_8422_2325)
    }
}

impl RunHash {
    /// Folds a word in. A rotation follows the FNV step, since its product alone never lets a high
    /// bit of the word reach a low bit of the hash.
    pub fn fold(&mut self, word: u64) {
        self.0 = (self.0 ^ word)
            .wrapping_mul(0x0000_0100_0000_01B3)
            .rotate_left(23);
    }

    /// The hash so far.
    #[must_use]
    pub fn value(self) -> u64 {
        self.0
    }
}
