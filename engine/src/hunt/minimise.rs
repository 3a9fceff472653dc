//! Delta debugging: the fewest of a list that still do it. Must never know what the parts are.

/// Drops parts of a list, big pieces first, as long as `does_it` says yes to what is left. Stops at
/// `enough` parts, else where no single part can be spared.
pub(super) fn fewest<T: Clone>(
    mut parts: Vec<T>,
    enough: usize,
    mut does_it: impl FnMut(&[T]) -> bool,
) -> Vec<T> {
    let mut size = parts.len();
    while size > 0 && parts.len() > enough {
        let mut has_dropped = false;
        let mut end = parts.len();
        while end > 0 && parts.len() > enough {
            let begin = end.saturating_sub(size);
            let mut left = parts.clone();
            left.drain(begin..end);
            if does_it(&left) {
                parts = left;
                has_dropped = true;
            }
            end = begin;
        }
        if size > 1 {
            size = size.div_ceil(2).min(parts.len().max(1));
        } else if !has_dropped {
            break;
        }
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_needed_stays_and_nothing_else() {
        for needed in [vec![], vec![0], vec![99], vec![3, 50, 51], vec![1, 2, 97]] {
            let mut calls = 0;
            let left = fewest((0..100).collect(), 0, |parts: &[i32]| {
                calls += 1;
                needed.iter().all(|part| parts.contains(part))
            });
            assert_eq!(left, needed);
            assert!(calls < 120, "{calls} calls for {needed:?}");
        }
    }

    #[test]
    fn a_pair_of_which_either_will_do_loses_one() {
        let either = |parts: &[i32]| parts.contains(&4) || parts.contains(&60);
        assert_eq!(fewest((0..100).collect(), 0, either).len(), 1);
    }

    #[test]
    fn it_stops_where_few_are_left() {
        let left = fewest((0..100).collect(), 10, |parts: &[i32]| parts.contains(&7));
        assert!(left.len() <= 10 && left.contains(&7), "{left:?}");
    }
}
