//! Writes the new function: the body in the runtime's retry loop.
//!
//! ```text
//! async fn bikes(&self, station: u32) -> Result<Bikes, PartnerError> {
//!     let mut call = Call::begin(in_static(&PARTNER), &const { RetryPolicy::builder()….build() });
//!     loop {
//!         let wait = {
//!             let result = async {
//!                 if false { return returned::<Result<Bikes, PartnerError>>(); }   // pins the type
//!                 { /* the body, untouched */ }
//!             }.await;
//!             match call.after(&result) {
//!                 Step::Done => break result,
//!                 Step::Stop(reason, _) => break call.give_up(result, reason),
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

use super::check::{self, Budget, Checked, Policy, Rebind};
use super::function::{Function, without_impl};
use super::options::{Kind, Written};
use super::value::{Known, Value};
use proc_macro2::{Group, Ident, Span, TokenStream};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::Expr;
use syn::spanned::Spanned;

pub(super) fn write(checked: Checked) -> TokenStream {
    let Checked { function, runtime, budget, policy, classify, on_retry, on_stop, attempt, once, rebinds } = checked;
    let site = Span::mixed_site();
    let may_pause = policy.may_pause();
    let once_values = once.iter().map(|(name, value)| {
        let held = held(name, "once");
        quote_spanned!(site=> let #held = #value;)
    });
    let once_names = once.iter().map(|(name, _)| {
        let held = held(name, "once");
        quote_spanned!(at(name.span())=> let #name = #runtime::__private::core::clone::Clone::clone(&#held);)
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
    let attempt = attempt.map(|name| quote_spanned!(site=> let #name = __call.attempt();));
    let begin = begin(&function, &runtime, &budget, &policy);
    let run = run(&function, &runtime, &rebinds);
    let decide = decide(&function, &runtime, classify.as_ref(), on_retry, on_stop, may_pause);
    let body = quote_spanned!(site=> {
        #(#once_values)*
        #begin
        loop {
            let __wait = {
                #(#clones)*
                #(#once_names)*
                #attempt
                let __result = #run;
                #decide
            };
            __call.wait(__wait).await;
            __call.start_retry();
        }
    });
    let Function { attributes, visibility, signature, .. } = function;
    quote!(#(#attributes)* #visibility #signature #body)
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

/// `let mut __call = …;`, with the budget and the policy before it where they need a place to live.
fn begin(function: &Function, runtime: &TokenStream, budget: &Budget, policy: &Policy) -> TokenStream {
    let site = Span::mixed_site();
    let (place, budget) = match budget {
        Budget::Static(path) => {
            let here = at(path.span());
            (None, quote_spanned!(here=> #runtime::__private::in_static(&#path)))
        }
        Budget::Expression(expr) => {
            let here = at(expr.span());
            (Some(quote_spanned!(here=> let __budget = &#expr;)), quote_spanned!(here=> __budget))
        }
        Budget::Own(kind, settings) => {
            let declaration = own_budget(function, runtime, *kind, settings);
            (Some(declaration), quote_spanned!(site=> __budget))
        }
    };
    let policy_place = (!policy.is_constant() || policy.base.is_some()).then(|| run_time_policy(runtime, policy));
    let policy = if policy_place.is_some() {
        quote_spanned!(site=> __policy)
    } else {
        let setters = setters(&policy.settings, runtime);
        if policy.settings.is_empty() {
            quote_spanned!(site=> &#runtime::RetryPolicy::REQUEST)
        } else {
            quote_spanned!(site=> &const { #runtime::RetryPolicy::builder() #setters.build() })
        }
    };
    // At the budget, since what can be wrong here is that it isn't one.
    let begin = quote_spanned!(site=> #runtime::__private::Call::begin(#budget, #policy));
    quote_spanned!(site=> #place #policy_place let mut __call = #begin;)
}

/// A `static` in a block of its own, out of the body's sight.
fn own_budget(function: &Function, runtime: &TokenStream, kind: Kind, settings: &[Written<Value>]) -> TokenStream {
    let site = Span::mixed_site();
    let ty = format_ident!("{}", check::builder(kind), span = site);
    let name = format!("::{}:", function.signature.ident);
    let setters = setters(settings, runtime);
    // Where settings that don't fit together are reported: at the last of them.
    let build = Ident::new("build", settings.last().map_or(site, |last| at(last.name.span())));
    quote_spanned!(site=>
        let __budget = {
            static BUDGET: #runtime::#ty = #runtime::#ty::builder(
                ::core::concat!(::core::module_path!(), #name, ::core::line!())
            ) #setters.#build();
            &BUDGET
        };
    )
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
            let reference = quote_spanned!(at(base.span())=> &#base);
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
    let lets = rebinds.iter().map(|rebind| match rebind {
        Rebind::Clone { name, mutable, .. } => {
            let held = held(name, "clone");
            let mutable = mutable.then(|| quote!(mut));
            quote_spanned!(site=> let #mutable #name = #held;)
        }
        Rebind::Reborrow { name, mutable } => {
            let mutable = mutable.then(|| quote!(mut));
            quote_spanned!(site=> let #mutable #name = &mut *#name;)
        }
        Rebind::Copy { name } => quote_spanned!(site=> let mut #name = #name;),
        Rebind::Unique { name } => quote_spanned!(site=> let _ = &mut #name;),
        Rebind::UniqueSelf { name } => quote_spanned!(site=> let _ = &mut *#name;),
    });
    let asyncness = function.signature.asyncness.map_or(site, |token| at(token.span));
    let asyncness = Ident::new("async", asyncness);
    let mut body = Group::new(proc_macro2::Delimiter::Brace, function.body.stream());
    body.set_span(at(function.body.span()));
    quote_spanned!(site=> #asyncness {
        if false {
            return #runtime::__private::returned::<#output>();
        }
        #(#lets)*
        #body
    }.await)
}

/// What comes after an attempt.
fn decide(
    function: &Function,
    runtime: &TokenStream,
    classify: Option<&Expr>,
    on_retry: Option<Expr>,
    on_stop: Option<Expr>,
    may_pause: bool,
) -> TokenStream {
    let site = Span::mixed_site();
    let (after, given_up) = if let Some(classify) = classify {
        let after = quote_spanned!(at(classify.span())=> __call.after_by(&__result, #classify));
        (after, quote_spanned!(site=> __result))
    } else {
        let after = quote_spanned!(at(function.error_span())=> __call.after(&__result));
        (after, quote_spanned!(site=> __call.give_up(__result, __reason)))
    };
    let tell_retry =
        on_retry.map(|on_retry| quote_spanned!(at(on_retry.span())=> __call.tell_retry(&__result, __wait, #on_retry);));
    let tell_stop =
        on_stop.map(|on_stop| quote_spanned!(at(on_stop.span())=> __call.tell_stop(&__result, __reason, #on_stop);));
    let pause = may_pause.then(|| quote_spanned!(site=> __call.pause(__pause).await;));
    let pause_name = if may_pause { quote_spanned!(site=> __pause) } else { quote_spanned!(site=> _) };
    let reason_name = if classify.is_none() || tell_stop.is_some() {
        quote_spanned!(site=> __reason)
    } else {
        quote_spanned!(site=> _)
    };
    quote_spanned!(site=>
        match #after {
            #runtime::__private::Step::Done => break __result,
            #runtime::__private::Step::Stop(#reason_name, #pause_name) => {
                #tell_stop
                #pause
                break #given_up;
            }
            #runtime::__private::Step::Retry(__wait) => {
                #tell_retry
                __wait
            }
        }
    )
}
