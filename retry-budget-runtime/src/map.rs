//! Budgets by key: one for each host, tenant or region.

mod builder;
mod entry;
mod keys;
mod overview;
mod parent;

use crate::Budget;
use keys::{Keys, Room};
use std::borrow::Borrow;
use std::fmt;
use std::hash::Hash;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

pub use builder::BudgetMapBuilder;
pub use entry::Keyed;
pub use overview::MapSnapshot;

/// A budget for each key (a host, a tenant, a region), so that one that is in trouble doesn't use up the retries of the
/// others.
///
/// A crawler, with a budget for each host:
///
/// ```
/// # mod crawler {
/// # extern crate retry_budget_runtime as retry_budget;
/// use retry_budget::{BudgetMap, RatioBudget, RetryPolicy, TokenBudget, retry};
/// use std::io;
///
/// /// Bounds the whole crawler.
/// static INTERNET: TokenBudget = TokenBudget::builder("internet").capacity(7_000).build();
///
/// /// At least 3 retries a host in ten seconds.
/// static HOSTS: BudgetMap<String, RatioBudget> = BudgetMap::builder("hosts")
///     .max_keys(10_000)
///     .parent(&INTERNET)
///     .build(|_host| RatioBudget::builder("hosts").build());
///
/// # async fn fetch(_host: &str, path: &str) -> io::Result<String> { Ok(path.to_owned()) }
/// pub async fn page(host: &str, path: &str) -> io::Result<String> {
///     retry(HOSTS.get(host), &RetryPolicy::BACKGROUND, async |_| fetch(host, path).await).await
/// }
/// # }
/// # let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
/// # assert_eq!(runtime.block_on(crawler::page("example.org", "/")).unwrap(), "/");
/// ```
///
/// Under the attribute: `#[retry_budget(budget = HOSTS.get(&self.host))]`.
///
/// # How do I get a budget per host without leaking memory?
///
/// As above: there are never more than [`max_keys`](BudgetMapBuilder::max_keys) budgets and one more. When a new key finds
/// the map full, a key goes that could just as well be new: its budget is full (in its [`Snapshot`](crate::Snapshot) as
/// much is available as the limit says, and no requests are counted) and nobody holds a [`Keyed`] of it. A call holds one
/// until it ends, so a grant that is out always comes back to the budget it was taken from. A key with anything spent
/// never goes, so coming back under a new budget gains nothing.
///
/// When a budget is full again depends on its kind:
///
/// | kind | may go |
/// | --- | --- |
/// | ratio | a window after its last call, whatever became of it: **take it for keys that come and go** |
/// | concurrency | when no call is in progress |
/// | token, gRPC | when successes have made up for all that was spent; a host that fails and is never called again stays for good |
/// | credit | when the whole burst has been saved up, by default after up to 20 calls; it comes back with less than one retry |
///
/// # What happens with 1 million hosts?
///
/// Those that are busy or in trouble keep their budgets, the others come and go. A new key in a full map looks at 8 others
/// in turn, never at all of them; when none of these may go, its call is served by the **overflow budget**, one for all
/// such keys, made by the same function as the others. The next call with that key looks at the next 8. How many calls
/// were served so is [`MapSnapshot::overflowed`]: if it grows, raise `max_keys`.
///
/// # What bounds all hosts together?
///
/// A thousand hosts with three retries each are three thousand retries. [`parent`](BudgetMapBuilder::parent) is a budget
/// above all of them: a retry is granted by the key's budget and by the parent, or by none. The key's is asked first; if
/// the parent denies, it gets back what it gave. For that moment it may deny another call of the same key, which the parent
/// would have denied; and its `granted` counts what the parent denied. Begin, end, failures and what became of a grant are
/// told to both. With three retries of 14 tokens a host, a parent of 7,000 tokens lets 500 through.
///
/// # What it costs
///
/// COSTS
///
/// # What it doesn't do
///
/// - It doesn't know the oldest or least used key: since only full budgets go, it makes no difference to what is granted.
/// - No time after which a budget that isn't full goes: forgetting it would give its key new retries.
/// - Keys don't show in metrics: all budgets have the map's name, since a label for each host of the internet would bring
///   the metrics down. [`most_spent`](BudgetMap::most_spent) tells which keys are in trouble;
///   [`name_keys`](BudgetMapBuilder::name_keys) gives them names of their own.
pub struct BudgetMap<K, B> {
    settings: BudgetMapBuilder<K, B>,
    make: Make<K, B>,
    /// Made at the first use: a `static` can't hash with random keys at compile time.
    keys: OnceLock<Keys<K, B>>,
    overflow: OnceLock<Keyed<B>>,
    overflowed: AtomicU64,
}

/// Makes the budget of a key, or the overflow budget.
enum Make<K, B> {
    Plain(fn(Option<&K>) -> B),
    Boxed(Box<MakeFn<K, B>>),
}

type MakeFn<K, B> = dyn Fn(Option<&K>) -> B + Send + Sync;

impl<K, B> BudgetMap<K, B> {
    /// Starts a map with the default settings: 1,024 keys, no parent.
    pub const fn builder(name: &'static str) -> BudgetMapBuilder<K, B> {
        BudgetMapBuilder::new(name)
    }

    const fn new(settings: BudgetMapBuilder<K, B>, make: Make<K, B>) -> Self {
        Self { settings, make, keys: OnceLock::new(), overflow: OnceLock::new(), overflowed: AtomicU64::new(0) }
    }
}

impl<K: Eq + Hash, B: Budget> BudgetMap<K, B> {
    /// The budget of this key, made if the key is new. When the map is full and none of the keys it looks at may go, the
    /// overflow budget.
    ///
    /// Meant for once a call, as the attribute does it: the handle stays the same until the call ends, whatever happens to
    /// the map meanwhile. A key that is there costs one look-up and no allocation.
    #[inline]
    pub fn get<Q>(&self, key: &Q) -> Keyed<B>
    where
        K: Borrow<Q> + Clone,
        Q: Eq + Hash + ToOwned<Owned = K> + ?Sized,
    {
        let keys = self.keys();
        keys.find(key).unwrap_or_else(|| self.admit(keys, key))
    }

    /// The budget of this key if it has one in the map now.
    pub fn peek<Q>(&self, key: &Q) -> Option<Keyed<B>>
    where
        K: Borrow<Q>,
        Q: Eq + Hash + ?Sized,
    {
        self.keys.get()?.find(key)
    }

    #[cold]
    fn admit<Q>(&self, keys: &Keys<K, B>, key: &Q) -> Keyed<B>
    where
        K: Borrow<Q> + Clone,
        Q: Eq + Hash + ToOwned<Owned = K> + ?Sized,
    {
        match keys.room_for(key, self.settings.clock) {
            Room::Taken(found) => found,
            Room::Free => {
                let key = key.to_owned();
                let made = self.make(Some(&key));
                keys.bring(key, made, self.settings.clock).unwrap_or_else(|| self.overflow())
            }
            Room::None => self.overflow(),
        }
    }

    fn overflow(&self) -> Keyed<B> {
        self.overflowed.fetch_add(1, Relaxed);
        if let Some(overflow) = self.overflow.get() {
            return overflow.clone();
        }
        // Made before it is needed to be the one: somebody's function doesn't run while others wait for it.
        let made = self.make(None);
        self.overflow.get_or_init(|| made).clone()
    }

    fn make(&self, key: Option<&K>) -> Keyed<B> {
        let budget = match &self.make {
            Make::Plain(make) => make(key),
            Make::Boxed(make) => make(key),
        };
        Keyed::new(budget, self.settings.parent_of_all(), self.settings.name_for(key), key.is_none())
    }

    fn keys(&self) -> &Keys<K, B> {
        self.keys.get_or_init(|| Keys::new(self.settings.max_keys))
    }

    fn overflowed(&self) -> u64 {
        self.overflowed.load(Relaxed)
    }
}

impl<K, B> fmt::Debug for BudgetMap<K, B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BudgetMap").field("settings", &self.settings).finish_non_exhaustive()
    }
}
