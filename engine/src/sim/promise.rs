//! A value that comes later, once: what a task awaits while the simulated world works. Must never
//! know who works.

use std::cell::RefCell;
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

/// The waiting end. It waits for ever where the other end is dropped: what a crash interrupts is
/// never heard of again.
pub struct Promise<T> {
    cell: Rc<RefCell<Cell<T>>>,
}

/// The end that gives the value.
pub struct Resolver<T> {
    cell: Rc<RefCell<Cell<T>>>,
}

struct Cell<T> {
    value: Option<T>,
    waker: Option<Waker>,
}

/// A promise and what resolves it.
#[must_use]
pub fn promise<T>() -> (Resolver<T>, Promise<T>) {
    let cell = Rc::new(RefCell::new(Cell {
        value: None,
        waker: None,
    }));
    let resolver = Resolver {
        cell: Rc::clone(&cell),
    };
    (resolver, Promise { cell })
}

impl<T> Resolver<T> {
    /// Gives the value and wakes whoever waits.
    pub fn resolve(self, value: T) {
        let mut cell = self.cell.borrow_mut();
        cell.value = Some(value);
        let waker = cell.waker.take();
        drop(cell);
        if let Some(waker) = waker {
            waker.wake();
        }
    }
}

impl<T> Future for Promise<T> {
    type Output = T;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<T> {
        let mut cell = self.cell.borrow_mut();
        if let Some(value) = cell.value.take() {
            return Poll::Ready(value);
        }
        remember(&mut cell.waker, context.waker());
        Poll::Pending
    }
}

/// Keeps the waker of the last poll; a clone only where it changed.
pub(crate) fn remember(kept: &mut Option<Waker>, waker: &Waker) {
    match kept {
        Some(known) if known.will_wake(waker) => {}
        Some(_) | None => *kept = Some(waker.clone()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn poll<T>(promise: &mut Promise<T>) -> Poll<T> {
        Pin::new(promise).poll(&mut Context::from_waker(Waker::noop()))
    }

    #[test]
    fn a_promise_waits_until_it_is_resolved() {
        let (resolver, mut promise) = promise();
        assert_eq!(poll(&mut promise), Poll::Pending);
        resolver.resolve(7);
        assert_eq!(poll(&mut promise), Poll::Ready(7));
    }

    #[test]
    fn a_promise_whose_resolver_is_gone_waits_for_ever() {
        let (resolver, mut promise) = promise::<u8>();
        drop(resolver);
        assert_eq!(poll(&mut promise), Poll::Pending);
    }
}
