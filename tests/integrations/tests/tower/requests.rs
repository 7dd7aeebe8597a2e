//! How a request is sent again is the user's word.

use crate::recorder::{Recorder, Told};
use crate::{Lost, PLENTY, QUICK};
use retry_budget::tower_0_5::{CloneRequest, RetryLayer};
use retry_budget::{CallEnd, RetryKind};
use std::cell::RefCell;
use std::future::ready;
use tower::ServiceExt;
use tower_layer::Layer;

#[derive(Debug, PartialEq)]
enum Order {
    Look,
    Buy,
    /// There is one copy of it.
    Ship,
}

#[derive(Clone)]
struct Orders;

impl CloneRequest<Order> for Orders {
    fn clone_request(&self, order: &Order) -> Option<Order> {
        match order {
            Order::Look => Some(Order::Look),
            Order::Buy => Some(Order::Buy),
            Order::Ship => None,
        }
    }

    fn is_idempotent(&self, order: &Order) -> bool {
        *order != Order::Buy
    }
}

/// Attempts of an order that gets lost.
async fn attempts(order: Order, idempotent: bool, sent: bool) -> usize {
    let seen = RefCell::new(Vec::new());
    let policy = QUICK.to_builder().idempotent(idempotent).build();
    let partner = tower::service_fn(|order: Order| {
        seen.borrow_mut().push(order);
        ready(Err::<(), _>(Lost { sent }))
    });
    RetryLayer::new(&PLENTY, policy).requests(Orders).layer(partner).oneshot(order).await.unwrap_err();
    seen.into_inner().len()
}

#[tokio::test]
async fn a_request_says_whether_it_may_be_processed_twice() {
    assert_eq!(attempts(Order::Look, true, true).await, 3);
    assert_eq!(attempts(Order::Buy, true, true).await, 1);
    assert_eq!(attempts(Order::Buy, true, false).await, 3, "it was certainly not processed");
    assert_eq!(attempts(Order::Ship, true, true).await, 1);
    assert_eq!(attempts(Order::Look, false, true).await, 1, "the policy has the last word");
    assert_eq!(attempts(Order::Look, false, false).await, 3);
}

#[tokio::test]
async fn a_request_that_can_be_cloned_once() {
    let (clones, attempts, recorder) = (RefCell::new(0), RefCell::new(0), Recorder::granting(9));
    let once = |request: &u32| {
        *clones.borrow_mut() += 1;
        (*clones.borrow() == 1).then_some(*request)
    };
    let partner = tower::service_fn(|_: u32| {
        *attempts.borrow_mut() += 1;
        ready(Err::<(), _>(Lost { sent: true }))
    });
    RetryLayer::new(&recorder, QUICK).requests(once).layer(partner).oneshot(7).await.unwrap_err();
    assert_eq!(attempts.into_inner(), 2, "then there is nothing more to send");
    assert_eq!(recorder.told()[3..], [Told::Final(Some(RetryKind::Transient)), Told::End(CallEnd::Failed)]);
}
