//! Values by the name of a call and of a budget, found without a lock: for names that are few and stay.

use std::sync::OnceLock;

/// A value for each pair of names, made at its first use and kept.
///
/// Short chains, each node of which is written once. A user may make up names without end (a budget for each host, say), so
/// a chain has room for some, and the rest of a call's budgets share a value under the name [`REST`].
pub(crate) struct Table<V: 'static> {
    chains: [Link<V>; CHAINS],
}

type Link<V> = OnceLock<Box<Node<V>>>;

struct Node<V> {
    call: &'static str,
    budget: Box<str>,
    value: V,
    next: Link<V>,
}

const CHAINS: usize = 256;
const MOST_IN_A_CHAIN: usize = 32;

/// The name of all the budgets of a call that come when there is no more room.
pub(crate) const REST: &str = "(rest)";

impl<V: Default> Table<V> {
    pub(crate) const fn new() -> Self {
        Self { chains: [const { Link::new() }; CHAINS] }
    }

    /// The value of these two, which is made if they are new.
    #[inline]
    pub(crate) fn get(&self, call: &'static str, budget: &str) -> &V {
        let mut link = &self.chains[chain_of(call, budget)];
        while let Some(node) = link.get() {
            if node.is_of(call, budget) {
                return &node.value;
            }
            link = &node.next;
        }
        self.add(call, budget)
    }

    /// The same for two that are new, unless somebody has been faster.
    #[cold]
    fn add(&self, call: &'static str, budget: &str) -> &V {
        let mut link = &self.chains[chain_of(call, budget)];
        let mut passed = 0;
        loop {
            if passed == MOST_IN_A_CHAIN && budget != REST {
                return self.get(call, REST);
            }
            let node = link.get_or_init(|| Box::new(Node::new(call, budget)));
            if node.is_of(call, budget) {
                return &node.value;
            }
            link = &node.next;
            passed += 1;
        }
    }

    /// All there are, in no order. The same two names may come twice: a literal can lie at two places in a program.
    #[cfg(any(test, feature = "metrics"))]
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&'static str, &str, &V)> {
        let nodes = self.chains.iter().flat_map(|first| std::iter::successors(first.get(), |node| node.next.get()));
        nodes.map(|node| (node.call, &*node.budget, &node.value))
    }
}

impl<V: Default> Node<V> {
    fn new(call: &'static str, budget: &str) -> Self {
        Self { call, budget: budget.into(), value: V::default(), next: Link::new() }
    }

    #[inline]
    fn is_of(&self, call: &str, budget: &str) -> bool {
        // Nearly always the very same literal, which needs no look at its letters.
        (std::ptr::eq(self.call, call) || self.call == call) && *self.budget == *budget
    }
}

/// By what is at hand without reading a letter.
#[inline]
fn chain_of(call: &'static str, budget: &str) -> usize {
    let place = if call.is_empty() { 0 } else { call.as_ptr().addr() };
    (place.wrapping_add(budget.len() << 4).wrapping_mul(0x9e37_79b9) >> 16) % CHAINS
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

    #[test]
    fn each_pair_has_a_value() {
        static TABLE: Table<AtomicU32> = Table::new();
        for (call, budget) in [("a", "x"), ("a", "y"), ("b", "x"), ("", "x"), ("a", "x")] {
            TABLE.get(call, budget).fetch_add(1, Relaxed);
        }
        let mut all: Vec<_> = TABLE.iter().map(|(call, budget, count)| (call, budget, count.load(Relaxed))).collect();
        all.sort_unstable();
        assert_eq!(all, [("", "x", 1), ("a", "x", 2), ("a", "y", 1), ("b", "x", 1)]);
    }

    #[test]
    fn names_without_end_share_what_is_left() {
        static TABLE: Table<AtomicU32> = Table::new();
        // all of one length, so in one chain
        for host in 1_000..2_000 {
            TABLE.get("crawl", &format!("host {host}")).fetch_add(1, Relaxed);
        }
        assert_eq!(TABLE.iter().count(), 33);
        assert_eq!(TABLE.get("crawl", "host 1031").load(Relaxed), 1);
        assert_eq!(TABLE.get("crawl", "host 1032").load(Relaxed), 968);
        assert_eq!(TABLE.get("crawl", REST).load(Relaxed), 968);
        // another call has its own
        assert_eq!(TABLE.get("index", REST).load(Relaxed), 0);
    }

    #[test]
    fn threads_find_the_same() {
        static TABLE: Table<AtomicU32> = Table::new();
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for name in 0..100 {
                        TABLE.get("call", &"x".repeat(name)).fetch_add(1, Relaxed);
                    }
                });
            }
        });
        assert_eq!(TABLE.iter().map(|(.., count)| count.load(Relaxed)).collect::<Vec<_>>(), [4; 100]);
    }
}
