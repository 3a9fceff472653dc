//! Bytes read and written one value at a time, little-endian: what all forms of this folder are made
//! of. Reading never panics and never takes more than there is. Must never know what the values mean.

use crate::vsr::io::Malformed;

/// What is left to be read.
pub(super) struct Reader<'a> {
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self { rest: bytes }
    }

    fn take<const N: usize>(&mut self) -> Result<[u8; N], Malformed> {
        let (taken, rest) = self.rest.split_first_chunk::<N>().ok_or(Malformed)?;
        self.rest = rest;
        Ok(*taken)
    }

    pub(super) fn u8(&mut self) -> Result<u8, Malformed> {
        self.take::<1>().map(|[byte]| byte)
    }

    pub(super) fn u32(&mut self) -> Result<u32, Malformed> {
        self.take().map(u32::from_le_bytes)
    }

    pub(super) fn u64(&mut self) -> Result<u64, Malformed> {
        self.take().map(u64::from_le_bytes)
    }

    pub(super) fn bytes(&mut self, length: usize) -> Result<&'a [u8], Malformed> {
        let (taken, rest) = self.rest.split_at_checked(length).ok_or(Malformed)?;
        self.rest = rest;
        Ok(taken)
    }

    /// The bytes that `read` goes over.
    pub(super) fn spanned(
        &mut self,
        read: impl FnOnce(&mut Self) -> Result<(), Malformed>,
    ) -> Result<&'a [u8], Malformed> {
        let start = self.rest;
        read(self)?;
        Ok(&start[..start.len() - self.rest.len()])
    }

    pub(super) fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }

    /// Nothing may be left.
    pub(super) fn finish(self) -> Result<(), Malformed> {
        if self.rest.is_empty() {
            Ok(())
        } else {
            Err(Malformed)
        }
    }
}

/// A value inside its bounds, or a refusal.
pub(super) fn within<T: PartialOrd>(value: T, low: T, high: T) -> Result<T, Malformed> {
    if low <= value && value <= high {
        Ok(value)
    } else {
        Err(Malformed)
    }
}
