//! The laws that every budget keeps, each a function that panics where it is broken.

mod alone;
mod calls;
mod together;

use crate::Budget;

/// Checks that a budget keeps the laws, with `make` making a new one, each time the same.
///
/// - **First attempts are free.** Nothing a budget does blocks, and a call that never asks for a retry leaves at least as
///   much as there was.
/// - **What was never sent goes back in full**: a grant that is settled as [`NotSent`](crate::Fate::NotSent) leaves what a
///   failure leaves that never asked. No other fate leaves more.
/// - **A grant of elsewhere does no harm**: a budget that is full grants no more when it is given grants that aren't its
///   own.
/// - **Time may misbehave**: a clock that goes back frees nothing.
/// - **Any order of the methods** is answered without a panic, and with a [`Snapshot`](crate::Snapshot) that has no more
///   available than its limit.
/// - **Threads get no more** than the same calls one after the other, and what they give back at once isn't lost.
///
/// What can be told from the outside shows in how many retries are granted, so make the budget small: a few retries, and
/// for one that draws a part of its state, a number instead. It takes about a second. It can't show that a budget is
/// right, only that it isn't: how much it grants is for your own tests.
///
/// ```
/// use retry_budget_runtime::{TokenBudget, test_util::check_laws};
///
/// check_laws(|| TokenBudget::builder("partner").capacity(100).initial(50).build());
/// ```
///
/// # Panics
///
/// When a law is broken: says which, and by what.
pub fn check_laws<B: Budget + 'static>(make: impl Fn() -> B) {
    alone::nothing_blocks(&make);
    alone::first_attempts_are_free(&make);
    alone::what_was_not_sent_goes_back(&make);
    alone::grants_of_elsewhere_do_no_harm(&make);
    alone::a_clock_that_goes_back_frees_nothing(&make);
    alone::any_order_is_answered(&make);
    together::threads_get_no_more(&make);
    together::what_threads_give_back_is_not_lost(&make);
}
