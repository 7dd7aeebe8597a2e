//! Writes the new function: the body in the runtime's retry loop.
//!
//! ```text
//! async fn bikes(&self, station: u32) -> Result<Bikes, PartnerError> {
//!     let mut call = Call::begin(in_static(&PARTNER, &SEEN), &const { RetryPolicy::builder()….build() });
//!     loop {
//!         let wait = {
//!             let result = async {
//!                 if false { return returned::<Result<Bikes, PartnerError>>(); }   // pins the type
//!                 { /* the body, untouched */ }
//!             }.await;
//!             match call.after(&result) {
//!                 Step::Done => break result,
//!                 Step::Stop(halt) => break call.give_up(result, &halt),
//!                 Step::Retry(wait) => wait,
//!             }
//!         };                           // the error is gone before the wait: the future stays Send
//!         call.wait(wait).await;
//!         call.start_retry();
//!     }
//! }
//! ```
//!
//! Every generated token takes the span of what it is about, so that the compiler's messages point there, and resolves
//! at the macro's own site, so that no name of the user's can get in between.

use super::arguments::Rebind;
use super::check::{self, Budget, Checked, Policy};
use super::function::{Function, without_impl};
use super::options::Written;
use super::value::{Known, Value};
use super::words::Kind;
use super::{instrument, this};
use proc_macro2::{Delimiter, Group, Ident, Span, TokenStream, TokenTree};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::Expr;
use syn::spanned::Spanned;

/// The whole function.
pub(super) fn write(checked: &Checked) -> TokenStream {
    let Function { attributes, visibility, signature, frame, body, .. } = &checked.function;
    // In the body's own braces, so that lints see a function of the user's.
    let mut block = Group::new(Delimiter::Brace, write_loop(checked));
    block.set_span(body.span());
    let body = frame.around(TokenTree::Group(block).into());
    quote!(#(#attributes)* #visibility #signature #body)
}

/// The statements that make the loop; the last gives the result.
pub(super) fn write_loop(checked: &Checked) -> TokenStream {
    let Checked { function, runtime, once, rebinds, limits, attempt, .. } = checked;
    let site = Span::mixed_site();
    let once_values = once.iter().map(|(name, value)| {
        let held = held(name, "once");
        quote_spanned!(site=> let #held = #value;)
    });
    let once_names = once.iter().map(|(name, _)| {
        let held = held(name, "once");
        let here = at(name.span());
        let (runtime, held) = (located(runtime, here), Ident::new(&held.to_string(), here));
        quote_spanned!(here=> let #name = #runtime::__private::core::clone::Clone::clone(&#held);)
    });
    let clones = rebinds.iter().filter_map(|rebind| match rebind {
        Rebind::Clone { name, at: asked, .. } => {
            let held = held(name, "clone");
            let mut original = name.clone();
            original.set_span(name.span().located_at(*asked));
            Some(quote_spanned!(at(*asked)=> let #held = #runtime::__private::core::clone::Clone::clone(&#original);))
        }
        _ => None,
    });
    let attempt = attempt.as_ref().map(|name| quote_spanned!(site=> let #name = __call.attempt();));
    let error_before = limits
        .any()
        .then(|| quote_spanned!(site=> let mut __error_before = #runtime::__private::core::option::Option::None;));
    let begin = begin(checked);
    let run = run(function, runtime, rebinds);
    let step = if limits.any() { run_within(checked, &run) } else { run_freely(checked, &run) };
    let decide = decide(checked);
    quote_spanned!(site=>
        #(#once_values)*
        #begin
        #error_before
        loop {
            let __wait = {
                #(#clones)*
                #(#once_names)*
                #attempt
                #step
                #decide
            };
            __call.wait(__wait).await;
            __call.start_retry();
        }
    )
}

/// `let __result = …;` and `let __step = …;`
fn run_freely(checked: &Checked, run: &TokenStream) -> TokenStream {
    let site = Span::mixed_site();
    let forget = checked.retries_nested.then(|| quote_spanned!(site=> __call.forget_inside();));
    let after = after(checked);
    quote_spanned!(site=>
        let __result = __call.watch(#run).await;
        #forget
        let __step = #after;
    )
}

/// The same, where a limit may cut the attempt off.
fn run_within(checked: &Checked, run: &TokenStream) -> TokenStream {
    let Checked { function, runtime, limits, classify, .. } = checked;
    let site = Span::mixed_site();
    let none = quote_spanned!(site=> #runtime::__private::core::option::Option::None);
    let timeout = limits.attempt_timeout.as_ref().map_or(none, |timeout| {
        let timeout = timeout.to_argument(runtime);
        quote_spanned!(site=> #runtime::__private::core::option::Option::Some(#timeout))
    });
    let forget = checked.retries_nested.then(|| quote_spanned!(site=> __call.forget_inside();));
    let after = after(checked);
    let here = here(checked);
    let error_at = at(function.error_span());
    let after_cut = if classify.is_some() {
        let becomes = becomes(runtime);
        quote_spanned!(site=> __call.after_cut_by(__cut, #becomes, &__result, #here))
    } else {
        quote_spanned!(error_at=> __call.after_cut(__cut, &__result, #here))
    };
    let cut_off = if let Some(elapsed) = &limits.elapsed {
        let runtime = located(runtime, at(elapsed.span()));
        quote_spanned!(at(elapsed.span())=> #runtime::__private::cut_off_by(__elapsed, #elapsed))
    } else {
        let runtime = located(runtime, error_at);
        quote_spanned!(error_at=> #runtime::__private::cut_off(__elapsed))
    };
    let output = without_impl(function.output.to_token_stream());
    let ok = quote_spanned!(site=> #runtime::__private::core::result::Result::Ok);
    let err = quote_spanned!(site=> #runtime::__private::core::result::Result::Err);
    quote_spanned!(site=>
        let (__result, __step) = match __call.watch_within(#timeout, #run).await {
            #ok(__result) => {
                #forget
                let __step = #after;
                (__result, __step)
            }
            #err(__cut) => {
                #forget
                let __elapsed = __call.elapsed(__cut, __error_before.take());
                let __result: #output = #cut_off;
                let __step = #after_cut;
                (__result, __step)
            }
        };
    )
}

/// A `$block` of a `macro_rules!` comes out of here as a block in braces of its own, which would be one pair too many.
fn block_of_a_macro(tree: TokenTree) -> TokenTree {
    let TokenTree::Group(group) = &tree else { return tree };
    let mut inside = group.stream().into_iter();
    match (group.delimiter(), inside.next(), inside.next()) {
        (Delimiter::None, Some(TokenTree::Group(mut block)), None) if block.delimiter() == Delimiter::Brace => {
            block.set_span(at(block.span()));
            TokenTree::Group(block)
        }
        _ => tree,
    }
}

/// What comes after an attempt that has ended by itself.
fn after(checked: &Checked) -> TokenStream {
    let Checked { function, runtime, classify, classify_ok, .. } = checked;
    let here = here(checked);
    let after = if let Some(classify) = classify {
        let becomes = becomes(runtime);
        quote_spanned!(at(classify.span())=> __call.after_by(&__result, #classify, #becomes, #here))
    } else {
        quote_spanned!(at(function.error_span())=> __call.after(&__result, #here))
    };
    let Some(classify_ok) = classify_ok else { return after };
    let site = Span::mixed_site();
    let after_value = quote_spanned!(at(classify_ok.span())=> __call.after_value(&__result, #classify_ok, #here));
    quote_spanned!(site=> match #after_value {
        #runtime::__private::core::option::Option::Some(__step) => __step,
        #runtime::__private::core::option::Option::None => #after,
    })
}

/// What those are told who ask for it by a feature: the function's path, and how its error shows.
fn here(checked: &Checked) -> TokenStream {
    let Checked { function, runtime, .. } = checked;
    let site = Span::mixed_site();
    let name = if function.is_block { "::retry!".to_owned() } else { format!("::{}", function.signature.ident) };
    quote_spanned!(site=> #runtime::__private::here!(::core::concat!(::core::module_path!(), #name), __result))
}

/// A span for what is generated about this place.
fn at(span: Span) -> Span {
    span.resolved_at(Span::mixed_site())
}

/// The name under which a value waits outside of the attempts.
fn held(name: &Ident, what: &str) -> Ident {
    let name = name.to_string();
    format_ident!("__{what}_{}", name.trim_start_matches("r#"), span = Span::mixed_site())
}

/// `let mut __call = …;`, with what needs a place to live before it.
fn begin(checked: &Checked) -> TokenStream {
    let Checked { function, runtime, budget, policy, limits, timer, .. } = checked;
    let site = Span::mixed_site();
    let seen = quote_spanned!(site=> {
        static SEEN: #runtime::__private::Seen = #runtime::__private::Seen::new();
        &SEEN
    });
    let (place, budget) = match budget {
        Budget::Static(path) => {
            let here = at(path.span());
            (None, quote_spanned!(here=> #runtime::__private::in_static(&#path, #seen)))
        }
        Budget::Expression(expr) => {
            let here = at(expr.span());
            let borrowed = quote_spanned!(here=> #runtime::__private::in_place(__budget));
            (Some(quote_spanned!(here=> let __budget = &#expr;)), borrowed)
        }
        Budget::Own(kind, settings) => {
            let declaration = own_budget(function, runtime, *kind, settings, &seen);
            (Some(declaration), quote_spanned!(site=> __budget))
        }
    };
    let policy_place = (!policy.is_constant() || policy.base.is_some()).then(|| run_time_policy(runtime, policy));
    let policy = if policy_place.is_some() {
        quote_spanned!(site=> __policy)
    } else if policy.settings.is_empty() {
        quote_spanned!(site=> &#runtime::RetryPolicy::REQUEST)
    } else {
        let built = built(&policy.settings, runtime, |start| quote!(#start::RetryPolicy::builder()));
        quote_spanned!(site=> &const { #built })
    };
    let timer = timer.as_ref().map_or_else(|| quote_spanned!(site=> #runtime::TokioTimer), ToTokens::to_token_stream);
    let begin = quote_spanned!(site=> #runtime::__private::begin::<#timer, _, _>(#budget, #policy));
    let (deadline_place, until) = limits
        .deadline
        .as_ref()
        .map(|deadline| {
            let value = deadline.to_argument(runtime);
            let place = quote_spanned!(at(deadline.span)=> let __deadline = #value;);
            (place, quote_spanned!(at(deadline.span)=> __call.until(__deadline);))
        })
        .unzip();
    quote_spanned!(site=> #deadline_place #place #policy_place let mut __call = #begin; #until)
}

/// A `static` in a block of its own, out of the body's sight.
fn own_budget(
    function: &Function,
    runtime: &TokenStream,
    kind: Kind,
    settings: &[Written<Value>],
    seen: &TokenStream,
) -> TokenStream {
    let site = Span::mixed_site();
    let ty = Ident::new(check::builder(kind), site);
    let name = format!("::{}:", function.signature.ident);
    let built = built(
        settings,
        runtime,
        |start| quote!(#start::#ty::builder(::core::concat!(::core::module_path!(), #name, ::core::line!()))),
    );
    quote_spanned!(site=>
        let __budget = {
            static __BUDGET: #runtime::#ty = #built;
            #runtime::__private::in_static(&__BUDGET, #seen)
        };
    )
}

/// A builder with these settings, built. Where they don't fit together the compiler says so from the first of them to the
/// last.
fn built(
    settings: &[Written<Value>],
    runtime: &TokenStream,
    builder: impl FnOnce(&TokenStream) -> TokenStream,
) -> TokenStream {
    let site = Span::mixed_site();
    let from = settings.first().map_or(site, |first| at(first.name.span()));
    let to = settings.last().map_or(site, |last| at(last.value.span));
    let setters = setters(settings, runtime);
    let builder = located(&builder(runtime), from);
    let build = quote_spanned!(to=> .build());
    quote!(#builder #setters #build)
}

/// The same tokens, shown at another place.
fn located(tokens: &TokenStream, place: Span) -> TokenStream {
    let shown_there = |mut token: TokenTree| {
        token.set_span(token.span().located_at(place));
        token
    };
    tokens.clone().into_iter().map(shown_there).collect()
}

fn setters(settings: &[Written<Value>], runtime: &TokenStream) -> TokenStream {
    settings
        .iter()
        .map(|Written { name, value }| {
            let argument = value.to_argument(runtime);
            // A setting that doesn't fit its builder is reported at the value.
            let method = Ident::new(&name.to_string(), at(value.span));
            quote_spanned!(at(value.span)=> .#method(#argument))
        })
        .collect()
}

/// A policy that is only known when the call begins. What is constant in it is still judged by the compiler.
fn run_time_policy(runtime: &TokenStream, policy: &Policy) -> TokenStream {
    let site = Span::mixed_site();
    let (late, constant): (Vec<_>, Vec<_>) =
        policy.settings.iter().cloned().partition(|setting| setting.value.known == Known::AtRunTime);
    let late_setters = setters(&late, runtime);
    let constant_setters = setters(&constant, runtime);
    match &policy.base {
        None => quote_spanned!(site=>
            let __policy = &const { #runtime::RetryPolicy::builder() #constant_setters.build() }
                .to_builder() #late_setters.build_in_range();
        ),
        Some(base) => {
            // One that is built here is built by the compiler, which says what is wrong with it.
            let reference = if check::builds(base.to_token_stream()) {
                quote_spanned!(at(base.span())=> &const { #base })
            } else {
                quote_spanned!(at(base.span())=> &#base)
            };
            let own = is_path(base) && policy.settings.is_empty();
            let copy = (!own).then(|| {
                quote_spanned!(site=>
                    let __policy = &__policy.to_builder() #constant_setters #late_setters.build_in_range();
                )
            });
            quote_spanned!(site=> let __policy: &#runtime::RetryPolicy = #reference; #copy)
        }
    }
}

fn is_path(expr: &Expr) -> bool {
    matches!(expr, Expr::Path(_))
}

/// The body, as an async block that has run.
fn run(function: &Function, runtime: &TokenStream, rebinds: &[Rebind]) -> TokenStream {
    let site = Span::mixed_site();
    let output = without_impl(function.output.to_token_stream());
    let mut statements: TokenStream = function.body.stream().into_iter().map(block_of_a_macro).collect();
    if rebinds.iter().any(|rebind| matches!(rebind, Rebind::ReborrowSelf { .. })) {
        statements = this::renamed(statements);
    }
    let lent = instrument::lent(statements.clone(), rebinds);
    let is_lent = lent.is_some();
    let lets = rebinds.iter().map(|rebind| match rebind {
        Rebind::Clone { name, mutable, .. } => {
            let held = held(name, "clone");
            let mutable = (*mutable || is_lent).then(|| quote!(mut));
            quote_spanned!(site=> let #mutable #name = #held;)
        }
        Rebind::Reborrow { name, mutable } => {
            let mutable = mutable.then(|| quote!(mut));
            quote_spanned!(site=> let #mutable #name = &mut *#name;)
        }
        Rebind::Copy { name } => quote_spanned!(site=> let mut #name = #name;),
        Rebind::Unique { name } => quote_spanned!(site=> let _ = &mut #name;),
        Rebind::UniqueSelf { name } => quote_spanned!(site=> let _ = &mut *#name;),
        Rebind::ReborrowSelf { name, this } => quote_spanned!(site=> let #this = &mut *#name;),
    });
    let asyncness = Ident::new("async", at(function.asyncness));
    let mut body = Group::new(Delimiter::Brace, lent.unwrap_or(statements));
    body.set_span(at(function.body.span()));
    quote_spanned!(site=> #asyncness {
        if false {
            return #runtime::__private::returned::<#output>();
        }
        #(#lets)*
        #body
    })
}

/// What becomes of the error of a call that is given up, which an error that is classified by a function may say as well.
fn becomes(runtime: &TokenStream) -> TokenStream {
    let site = Span::mixed_site();
    quote_spanned!(site=> {
        use #runtime::__private::nearer::*;
        (&&#runtime::__private::Becomes(&__result)).becomes()
    })
}

/// Goes on, or leaves the loop with the result.
fn decide(checked: &Checked) -> TokenStream {
    let Checked { runtime, on_retry, on_stop, policy, limits, classify_ok, .. } = checked;
    let site = Span::mixed_site();
    let err = quote_spanned!(site=> #runtime::__private::core::result::Result::Err);
    // With `classify_ok` a value can be the failure, so the events show the whole result.
    let told = |tell: TokenStream| {
        if classify_ok.is_some() {
            quote_spanned!(site=> { let __failure = &__result; #tell })
        } else {
            quote_spanned!(site=> if let #err(__failure) = &__result { #tell })
        }
    };
    let tell_retry = on_retry
        .as_ref()
        .map(|on_retry| told(quote_spanned!(at(on_retry.span())=> __call.tell_retry(__failure, __wait, #on_retry);)));
    let tell_stop = on_stop
        .as_ref()
        .map(|on_stop| told(quote_spanned!(at(on_stop.span())=> __call.tell_stop(__failure, &__halt, #on_stop);)));
    let pause = policy.may_pause().then(|| quote_spanned!(site=> __call.pause(&__halt).await;));
    let remember = limits.any().then(|| {
        quote_spanned!(site=>
            __error_before = {
                use #runtime::__private::nearer::*;
                (&&#runtime::__private::Text(&__result)).text()
            };
        )
    });
    quote_spanned!(site=>
        match __step {
            #runtime::__private::Step::Done => break __result,
            #runtime::__private::Step::Stop(__halt) => {
                #tell_stop
                #pause
                break __call.give_up(__result, &__halt);
            }
            #runtime::__private::Step::Retry(__wait) => {
                #tell_retry
                #remember
                __wait
            }
        }
    )
}
