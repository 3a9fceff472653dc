//! Bytes read and written one value at a time, little-endian: what all forms of this folder are made
//! of. Reading never panics and never takes more than there is. Must never know what the values mean.

use std::rc::Rc;

use crate::vsr::io::Malformed;

/// Most bytes of a name.
pub const NAME_BYTES_MAX: usize = 32;

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

    pub(super) fn bool(&mut self) -> Result<bool, Malformed> {
        within(self.u8()?, 0, 1).map(|byte| byte == 1)
    }

    pub(super) fn optional_u64(&mut self) -> Result<Option<u64>, Malformed> {
        if self.bool()? {
            self.u64().map(Some)
        } else {
            Ok(None)
        }
    }

    pub(super) fn bytes(&mut self, length: usize) -> Result<&'a [u8], Malformed> {
        let (taken, rest) = self.rest.split_at_checked(length).ok_or(Malformed)?;
        self.rest = rest;
        Ok(taken)
    }

    /// Bytes behind one that counts them.
    pub(super) fn counted(&mut self, most: usize) -> Result<&'a [u8], Malformed> {
        let length = within(usize::from(self.u8()?), 0, most)?;
        self.bytes(length)
    }

    /// A name: letters, digits, dots, underscores and dashes, at least one.
    pub(super) fn name(&mut self) -> Result<&'a str, Malformed> {
        let bytes = self.counted(NAME_BYTES_MAX)?;
        if is_name(bytes) {
            str::from_utf8(bytes).map_err(|_| Malformed)
        } else {
            Err(Malformed)
        }
    }

    /// So many as a byte counts, each read by `read`.
    pub(super) fn list<T>(
        &mut self,
        mut read: impl FnMut(&mut Self) -> Result<T, Malformed>,
    ) -> Result<Vec<T>, Malformed> {
        let count = self.u8()?;
        (0..count).map(|_| read(self)).collect()
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

/// Whether bytes are a name that may be written and read.
pub(super) fn is_name(bytes: &[u8]) -> bool {
    let is_fit = |byte: &u8| byte.is_ascii_alphanumeric() || b"._-".contains(byte);
    (1..=NAME_BYTES_MAX).contains(&bytes.len()) && bytes.iter().all(is_fit)
}

/// A value inside its bounds, or a refusal.
pub(super) fn within<T: PartialOrd>(value: T, low: T, high: T) -> Result<T, Malformed> {
    if low <= value && value <= high {
        Ok(value)
    } else {
        Err(Malformed)
    }
}

/// What is written so far; each call adds one value.
#[derive(Default)]
pub(super) struct Writer {
    out: Vec<u8>,
}

impl Writer {
    /// Bytes that begin with a tag.
    pub(super) fn tagged(tag: u8) -> Self {
        Self::default().u8(tag)
    }

    pub(super) fn u8(self, value: u8) -> Self {
        self.raw(&[value])
    }

    pub(super) fn u32(self, value: u32) -> Self {
        self.raw(&value.to_le_bytes())
    }

    pub(super) fn u64(self, value: u64) -> Self {
        self.raw(&value.to_le_bytes())
    }

    pub(super) fn bool(self, value: bool) -> Self {
        self.u8(u8::from(value))
    }

    pub(super) fn optional_u64(self, value: Option<u64>) -> Self {
        match value {
            Some(value) => self.bool(true).u64(value),
            None => self.bool(false),
        }
    }

    pub(super) fn raw(mut self, bytes: &[u8]) -> Self {
        self.out.extend_from_slice(bytes);
        self
    }

    /// Bytes behind one that counts them; what a byte cannot count is the writer's bug.
    pub(super) fn counted(self, bytes: &[u8]) -> Self {
        self.count(bytes.len()).raw(bytes)
    }

    pub(super) fn name(self, name: &str) -> Self {
        self.counted(name.as_bytes())
    }

    /// A list behind a byte that counts it.
    pub(super) fn list<T>(
        self,
        items: impl ExactSizeIterator<Item = T>,
        write: impl FnMut(Self, T) -> Self,
    ) -> Self {
        let counted = self.count(items.len());
        items.fold(counted, write)
    }

    fn count(self, count: usize) -> Self {
        self.u8(u8::try_from(count).expect("limits keep what is counted within a byte"))
    }

    pub(super) fn finish(self) -> Rc<[u8]> {
        self.out.into()
    }
}
