//! The search against one that tries every order, on hundreds of small histories of a register and of
//! a counter; and what it does with much that is unknown.

use super::*;
use crate::prng::{Purpose, Rng};

/// Bodies: `[0]` reads, `[1, n]` writes n, `[2, n]` adds n and answers the sum.
#[derive(Default)]
struct Cell(u8);

impl Sequential for Cell {
    type Undo = u8;

    fn apply(&mut self, operation: &Operation) -> Option<u8> {
        let before = self.0;
        let (after, answer) = match *operation.body {
            [1, n] => (n, 0),
            [2, n] => (before.wrapping_add(n), before.wrapping_add(n)),
            _ => (before, before),
        };
        let fits = match &operation.answered {
            Some((_, given)) => **given == [answer],
            None => true,
        };
        if fits {
            self.0 = after;
        }
        fits.then_some(before)
    }

    fn take_back(&mut self, before: u8) {
        self.0 = before;
    }

    fn digest(&self) -> u64 {
        u64::from(self.0)
    }
}

fn operation(client: u8, body: &[u8], invoked: u64, answered: Option<(u64, u8)>) -> Operation {
    Operation {
        client: ClientId(client),
        invoked,
        body: Rc::from(body),
        answered: answered.map(|(at, answer)| (at, Rc::from([answer]))),
    }
}

fn judge(history: &[Operation]) -> Searched {
    search(history, &mut Cell::default(), 1_000_000)
}

/// Tries every order of every choice of those without an answer.
fn brute(history: &[Operation], done: &mut Vec<usize>, object: &mut Cell) -> bool {
    let left = |done: &[usize]| -> Vec<usize> {
        (0..history.len())
            .filter(|place| !done.contains(place))
            .collect()
    };
    let rest = left(done);
    if rest.iter().all(|&place| history[place].answered.is_none()) {
        return true;
    }
    rest.iter().any(|&place| {
        let begins = history[place].invoked;
        let is_late = rest.iter().any(|&other| {
            history[other]
                .answered
                .as_ref()
                .is_some_and(|&(end, _)| end < begins)
        });
        if is_late {
            return false;
        }
        let Some(undo) = object.apply(&history[place]) else {
            return false;
        };
        done.push(place);
        let fits = brute(history, done, object);
        done.pop();
        object.take_back(undo);
        fits
    })
}

/// A history with operations that overlap at random, most of them with the answers of a real order,
/// some spoilt.
fn drawn(seed: u64) -> Vec<Operation> {
    let mut rng = Rng::keyed(seed, Purpose::Workload, [1, 2]);
    let count = rng.between(1, 7);
    let mut object = Cell::default();
    let mut history = Vec::new();
    for n in 0..count {
        let small = |rng: &mut Rng| u8::try_from(rng.below(3)).unwrap();
        let body = match rng.below(3) {
            0 => vec![0],
            1 => vec![1, small(&mut rng)],
            _ => vec![2, small(&mut rng)],
        };
        // Its effect is at 100 n; it may begin well before and end well after.
        let effect = 1_000 + 100 * u64::from(n);
        let begin = effect - u64::from(rng.below(250));
        let end = effect + u64::from(rng.below(250));
        let bare = operation(0, &body, begin, None);
        let happens = rng.below(8) > 0;
        let before = object.0;
        if happens {
            object.apply(&bare);
        }
        let right = match body[0] {
            1 => 0,
            2 => object.0,
            _ => before,
        };
        let answer = if rng.below(3) == 0 {
            small(&mut rng)
        } else {
            right
        };
        let answered = (happens && rng.below(8) > 0).then_some((end, answer));
        history.push(operation(0, &body, begin, answered));
    }
    history
}

#[test]
fn it_agrees_with_trying_every_order() {
    let (mut fit, mut unfit) = (0, 0);
    for seed in 0..2_000 {
        let history = drawn(seed);
        let expected = brute(&history, &mut Vec::new(), &mut Cell::default());
        let found = judge(&history);
        assert_eq!(found == Searched::Fits, expected, "{seed}: {history:?}");
        assert!(!matches!(found, Searched::GaveUp { .. }));
        if expected {
            fit += 1;
        } else {
            unfit += 1;
        }
    }
    assert!(fit > 400 && unfit > 400, "{fit} and {unfit}");
}

#[test]
fn a_stale_read_fits_no_order_and_is_named() {
    let history = [
        operation(0, &[1, 7], 1, Some((2, 0))),
        operation(1, &[1, 8], 3, Some((4, 0))),
        operation(0, &[0], 5, Some((6, 7))),
        operation(1, &[0], 7, Some((8, 8))),
    ];
    let (longest, blocked) = (2, 2);
    assert_eq!(judge(&history), Searched::FitsNot { longest, blocked });
    let mut concurrent = history.clone();
    concurrent[2].invoked = 1;
    assert_eq!(judge(&concurrent), Searched::Fits);
}

#[test]
fn what_has_no_answer_may_happen_late_or_never() {
    let lost = operation(0, &[1, 9], 1, None);
    let read = |answer| operation(1, &[0], 50, Some((51, answer)));
    for answer in [0, 9] {
        assert_eq!(judge(&[lost.clone(), read(answer)]), Searched::Fits);
    }
    let twice = [
        lost.clone(),
        operation(1, &[0], 50, Some((51, 0))),
        operation(1, &[0], 52, Some((53, 9))),
    ];
    assert_eq!(judge(&twice), Searched::Fits);
    let back = [
        lost,
        operation(1, &[0], 50, Some((51, 9))),
        operation(1, &[0], 52, Some((53, 0))),
    ];
    assert!(matches!(judge(&back), Searched::FitsNot { .. }));
}

#[test]
fn nothing_fits_and_nothing_begun_is_nothing_wrong() {
    assert_eq!(judge(&[]), Searched::Fits);
    assert_eq!(judge(&[operation(0, &[0], 1, None)]), Searched::Fits);
}

#[test]
fn it_gives_up_after_its_steps_and_says_so() {
    // Twelve writes that nobody heard of, and a read of what none of them wrote.
    let mut history: Vec<Operation> = (0..12)
        .map(|n| operation(n, &[2, 1 << (n % 8)], 1, None))
        .collect();
    history.push(operation(0, &[1, 0], 2, Some((3, 1))));
    let found = search(&history, &mut Cell::default(), 100);
    assert_eq!(found, Searched::GaveUp { steps: 100 });
    assert!(matches!(judge(&history), Searched::FitsNot { .. }));
}

#[test]
fn a_long_history_takes_few_steps() {
    let mut history = Vec::new();
    let mut sum = 0_u8;
    for n in 0..4_000_u64 {
        sum = sum.wrapping_add(1);
        // Eight at a time.
        let (begin, end) = (n * 10, n * 10 + 75);
        history.push(operation(0, &[2, 1], begin + 1, Some((end, sum))));
    }
    let found = search(&history, &mut Cell::default(), 40_000);
    assert_eq!(found, Searched::Fits);
}
