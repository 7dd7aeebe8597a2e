//! Any tokens give Rust that parses, or errors: never a panic.

use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};

/// The same numbers in every run.
pub(super) struct Chance(pub(super) u64);

impl Chance {
    pub(super) fn below(&mut self, end: usize) -> usize {
        // xorshift64*
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        let number = self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33;
        usize::try_from(number).unwrap_or_default() % end
    }

    fn one_of<'a>(&mut self, of: &[&'a str]) -> &'a str {
        of[self.below(of.len())]
    }
}

/// Options that are right, which random ones get mixed into.
const OPTIONS: &[&str] = &[
    "budget = PARTNER",
    "budget = self.budget",
    "kind = \"token\"",
    "kind = \"ratio\"",
    "kind = \"credit\"",
    "burst = 3.0",
    "policy = RetryPolicy::BACKGROUND",
    "max_attempts = 3",
    "max_attempts = attempts",
    "base_delay = \"50ms\"",
    "max_delay = DELAY",
    "jitter = \"full\"",
    "when_empty = \"pause\"",
    "idempotent = false",
    "capacity = 30",
    "ratio = 0.5",
    "window = \"1s\"",
    "classify = |error| error.is_lost()",
    "classify_ok = |value| *value > 500",
    "attempt_timeout = \"1s\"",
    "deadline = deadline",
    "elapsed = Lost::from",
    "nested = \"retry\"",
    "timer = MyTimer",
    "on_retry = |event| log(self, event)",
    "on_stop = |_| ()",
    "attempt = attempt",
    "clone(body)",
    "keep(log)",
    "keep(self)",
    "once(key = new_key())",
    "crate = my::retry_budget",
];

/// What else may stand between the parentheses.
const PIECES: &[&str] = &[
    "=",
    ",",
    ",,",
    "|",
    "||",
    "|_|",
    "->",
    "::",
    ":",
    ";",
    "#",
    "!",
    "?",
    "<",
    ">",
    "-",
    "&mut",
    "..",
    "self",
    "Self",
    "crate",
    "async",
    "move",
    "fn",
    "impl",
    "let",
    "_",
    "r#type",
    "'a",
    "name",
    "retries",
    "max_atempts",
    "__call",
    "x",
    "0",
    "1",
    "-1",
    "18446744073709551616",
    "0.1",
    "10.0",
    "1e999",
    "0x_f",
    "1_000u8",
    "\"\"",
    "\"50 parsecs\"",
    "\"1s\"",
    "\"10%\"",
    "b\"s\"",
    "c\"s\"",
    "'c'",
    "\"🚲\"",
    "true",
    "()",
    "{}",
    "[]",
    "(a, b)",
    "(a = 1)",
    "{ x }",
    "|e|e",
];

/// Items of every kind, most of them right.
const ITEMS: &[&str] = &[
    "async fn f() -> Result<u32, Lost> { Ok(1) }",
    "pub async fn f(mut body: String, log: &mut Vec<u8>, (a, b): (u8, u8)) -> Result<u32, Lost> { log.push(a); Ok(1) }",
    "async fn f(&mut self, body: &mut dyn Write) -> io::Result<()> { let f = async move { self.x(\"{body}\") }; f.await }",
    "async fn f(mut self: Pin<&mut Self>) -> Result<impl Iterator<Item = u8> + '_, Box<dyn Fn(u8) -> u8>> { self }",
    "async unsafe extern \"C\" fn f<'a, T: ?Sized, const N: usize>(_: &'a T) -> Result<&'a T, [u8; N]> where T: X {}",
    "fn f<'a>(&'a self) -> Pin<Box<dyn Future<Output = Result<u8, E>> + 'a>> { Box::pin(async move { Ok(1) }) }",
    "fn f() -> impl Future<Output = Result<u8, E>> { x; async { Ok(1) } }",
    "fn f(&mut self, n: u8) -> Pin<Box<dyn Future<Output = R>>> { Box::pin(async move { if let Some(__ret) = None::<R> \
     { return __ret; } let __self = self; let n = n; let __ret: R = { __self.x(n) }; #[allow(x)] __ret }) }",
    "fn f() -> Result<(), E> { let body = async { Ok(()) }; block_on(body) }",
    "async fn f(&mut self, n: u8) -> Result<(), E> { {} let __tracing_attr_span = span!(); let \
     __tracing_instrument_future = async move { match async move { { self.x(n) } }.await { x => x } }; if a { b } }",
    "async fn f(&mut self) -> R<u8> { let __tracing_instrument_future = ; let __tracing_attr_span }",
    "async fn f() -> Result<(), E> { #![allow(x)] half typed ( ) = > }",
    "async fn f() -> R;",
    "async fn f() {}",
    "const fn f() -> Result<(), E> { Ok(()) }",
    "async fn f() -> ! { loop {} }",
    "#[retry_budget] async fn f() -> Result<(), E> {}",
    "struct S;",
    "enum E { A }",
    "impl S { async fn f() -> Result<(), E> {} }",
    "trait T {}",
    "mod m {}",
    "let x = async || 1;",
    "|x| x",
    "async move {}",
    "",
    "fn",
    "async fn f",
    "async fn f() -> Result<",
];

const BLOCKS: &[&str] = &[
    "async || -> Result<u32, Lost> { Ok(1) }",
    "async | | -> io::Result<()> { log.push(body); Ok(()) },",
    "async |x| -> R { x }",
    "async move || -> R { x }",
    "async || { x }",
    "async || -> R",
    "|| x",
    "async",
    "",
];

/// Some options, some of them damaged.
fn options(chance: &mut Chance) -> TokenStream {
    let mut text = String::new();
    for _ in 0..chance.below(4) {
        text.push_str(chance.one_of(OPTIONS));
        text.push_str(if chance.below(8) == 0 { " " } else { ", " });
    }
    let mut trees: Vec<TokenTree> = parsed(&text).into_iter().collect();
    for _ in 0..chance.below(3) {
        let at = chance.below(trees.len() + 1);
        match chance.below(4) {
            0 if at < trees.len() => drop(trees.remove(at)),
            1 if at < trees.len() => {
                // as a fragment of a `macro_rules!` comes
                let tree = trees[at].clone();
                trees[at] = Group::new(Delimiter::None, tree.into()).into();
            }
            _ => drop(trees.splice(at..at, parsed(chance.one_of(PIECES)))),
        }
    }
    trees.into_iter().collect()
}

/// An item, now and then with one token too few or too many.
fn damaged(text: &str, chance: &mut Chance) -> TokenStream {
    // what isn't even balanced never reaches a macro
    let mut trees: Vec<TokenTree> = parsed(text).into_iter().collect();
    if chance.below(3) == 0 && !trees.is_empty() {
        let at = chance.below(trees.len());
        match &mut trees[at] {
            TokenTree::Group(group) if chance.below(2) == 0 => {
                *group = Group::new(group.delimiter(), damaged(&group.stream().to_string(), chance));
            }
            _ if chance.below(2) == 0 => drop(trees.remove(at)),
            _ => drop(trees.splice(at..at, parsed(chance.one_of(PIECES)))),
        }
    }
    trees.into_iter().collect()
}

fn parsed(text: &str) -> TokenStream {
    text.parse().unwrap_or_default()
}

/// Whether it is what the compiler takes: Rust, or an error of ours beside what it was given.
fn assert_answered<T: syn::parse::Parse>(answer: &TokenStream, of: impl Fn() -> String) {
    let text = answer.to_string();
    if !text.contains("compile_error !") {
        assert!(syn::parse2::<T>(answer.clone()).is_ok(), "{}\ngives\n{text}", of());
    }
}

#[test]
fn any_tokens_give_a_function_or_errors() {
    let mut chance = Chance(1);
    let mut written = 0;
    for round in 0..4_000 {
        let item = ITEMS[round % ITEMS.len()];
        let (options, item) = (options(&mut chance), damaged(item, &mut chance));
        let answer = super::retry_budget(options.clone(), item.clone());
        let of = || format!("#[retry_budget({options})] {item}");
        assert!(!answer.is_empty(), "{}", of());
        if syn::parse2::<syn::ItemFn>(item.clone()).is_ok() {
            written += u32::from(!answer.to_string().contains("compile_error !"));
            assert_answered::<syn::ItemFn>(&answer, of);
        }
    }
    assert!(written > 150, "{written} functions");
}

#[test]
fn any_tokens_give_a_block_or_errors() {
    let mut chance = Chance(2);
    let mut written = 0;
    for round in 0..1_500 {
        let block = damaged(BLOCKS[round % BLOCKS.len()], &mut chance);
        let mut tokens = options(&mut chance);
        let is_rust = syn::parse2::<syn::Expr>(block.clone()).is_ok();
        tokens.extend(block);
        let answer = super::retry(tokens.clone());
        let refused = answer.to_string().contains("compile_error !");
        written += u32::from(!refused);
        if refused || is_rust {
            assert!(syn::parse2::<syn::Expr>(answer.clone()).is_ok(), "retry!({tokens})\ngives\n{answer}");
        }
    }
    assert!(written > 50, "{written} blocks");
}

/// What the fuzzer begins with, and what it found: the options up to the first line break, then the function.
#[test]
fn the_corpus_gives_functions_or_errors() {
    let corpus = std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/corpus")).unwrap();
    let mut files = 0;
    for file in corpus {
        let text = std::fs::read_to_string(file.unwrap().path()).unwrap();
        let (options, function) = text.split_once('\n').unwrap();
        let Ok(options) = options.parse::<TokenStream>() else { continue };
        let Ok(function) = function.parse::<TokenStream>() else { continue };
        super::retry_budget(options.clone(), function);
        super::retry(options);
        files += 1;
    }
    assert!(files >= 50, "{files}");
}
