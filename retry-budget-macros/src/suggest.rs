//! "Did you mean …?"

/// The known word that `word` was most likely meant to be, if one is near enough. Case doesn't count.
pub(crate) fn nearest<'a>(word: &str, known: &[&'a str]) -> Option<&'a str> {
    let word = word.to_lowercase();
    let (edits, best) = known.iter().map(|known| (edits(&word, &known.to_lowercase()), *known)).min()?;
    let length = word.chars().count().max(best.chars().count());
    (edits * 3 <= length).then_some(best)
}

/// How many letters have to be put in, left out, replaced, or swapped with their neighbour.
fn edits(from: &str, to: &str) -> usize {
    let (from, to): (Vec<char>, Vec<char>) = (from.chars().collect(), to.chars().collect());
    let mut before: Vec<usize> = Vec::new();
    let mut above: Vec<usize> = (0..=to.len()).collect();
    for (row, letter) in from.iter().enumerate() {
        let mut current = vec![row + 1];
        for (column, wanted) in to.iter().enumerate() {
            let replaced = above[column] + usize::from(letter != wanted);
            let mut least = replaced.min(above[column + 1] + 1).min(current[column] + 1);
            if row > 0 && column > 0 && *letter == to[column - 1] && from[row - 1] == *wanted {
                least = least.min(before[column - 1] + 1);
            }
            current.push(least);
        }
        before = std::mem::replace(&mut above, current);
    }
    above[to.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edits_are_counted() {
        for (from, to, expected) in [
            ("", "", 0),
            ("", "never", 5),
            ("never", "", 5),
            ("never", "never", 0),
            ("nevr", "never", 1),
            ("neverr", "never", 1),
            ("newer", "never", 1),
            ("nevre", "never", 1),
            ("enver", "never", 1),
            ("kitten", "sitting", 3),
            ("größe", "grosse", 3),
        ] {
            assert_eq!(edits(from, to), expected, "{from:?} to {to:?}");
            assert_eq!(edits(to, from), expected, "{to:?} to {from:?}");
        }
    }

    #[test]
    fn the_nearest_word_is_offered() {
        let known = ["transient", "throttling", "never", "transparent"];
        for (word, expected) in [
            ("transient", Some("transient")),
            ("Transient", Some("transient")),
            ("tranzient", Some("transient")),
            ("trasnient", Some("transient")),
            ("transparant", Some("transparent")),
            ("throtling", Some("throttling")),
            ("throttled", Some("throttling")),
            ("nver", Some("never")),
            ("NEVER", Some("never")),
        ] {
            assert_eq!(nearest(word, &known), expected, "{word:?}");
        }
    }

    #[test]
    fn a_word_far_from_all_gets_no_offer() {
        for word in ["", "x", "bikes", "trans", "a_word_that_is_much_longer_than_all_others"] {
            assert_eq!(nearest(word, &["transient", "throttling", "never"]), None, "{word:?}");
        }
        assert_eq!(nearest("never", &[]), None);
    }

    #[test]
    fn short_words_need_to_be_nearer() {
        assert_eq!(nearest("wiht", &["with"]), Some("with"));
        assert_eq!(nearest("wit", &["with"]), Some("with"));
        assert_eq!(nearest("what", &["with"]), None);
    }
}
