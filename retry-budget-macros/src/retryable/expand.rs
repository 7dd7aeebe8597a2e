//! Writes the impl.

use super::answer::{Answer, Kind, Part};
use super::check::{Case, Plan};
use proc_macro2::{Ident, Span, TokenStream, TokenTree};
use quote::{ToTokens, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{Attribute, Data, DeriveInput, ExprPath, Fields, Generics, Member, Path, Type, parse_quote};

/// `impl Retryable` as planned; `root` is the path to the crate.
pub(super) fn retryable(input: &DeriveInput, root: &Path, plan: &Plan<'_>) -> TokenStream {
    let arms = plan.cases.iter().map(|case| arm(case, root));
    let value = if plan.cases.is_empty() { quote!(*self) } else { quote!(self) };
    let verdict = quote!(match #value { #(#arms)* });
    let exhausted = plan.cases.iter().find_map(|case| exhausted(case, root));
    let generics = with_bounds(input, root, plan);
    let event_text = event_text(root);
    implement(input, &generics, root, &verdict, &quote!(#exhausted #event_text))
}

/// What stands in where something is wrong: never retried.
pub(super) fn fallback(input: &DeriveInput, root: &Path) -> TokenStream {
    implement(input, &input.generics, root, &quote!(#root::Verdict::NEVER), &TokenStream::new())
}

/// The error itself, where it can be displayed.
fn event_text(root: &Path) -> TokenStream {
    let site = Span::mixed_site();
    quote_spanned! {site=>
        fn event_text(&self) -> #root::__private::core::option::Option<&dyn #root::__private::core::fmt::Display> {
            use #root::__private::nearer::*;
            (&&#root::__private::Value(self)).displayed()
        }
    }
}

fn implement(
    input: &DeriveInput,
    generics: &Generics,
    root: &Path,
    verdict: &TokenStream,
    more: &TokenStream,
) -> TokenStream {
    let name = &input.ident;
    let (parameters, arguments, bounds) = generics.split_for_impl();
    // Only where it is needed: in a crate that forbids the lint it is an error.
    let allow = is_deprecated(input).then(|| quote!(#[allow(deprecated)]));
    quote! {
        #[automatically_derived]
        #allow
        impl #parameters #root::Retryable for #name #arguments #bounds {
            fn verdict(&self) -> #root::Verdict {
                #verdict
            }
            #more
        }
    }
}

/// Whether the type or a part of it is: an impl is no use of it to warn about.
fn is_deprecated(input: &DeriveInput) -> bool {
    let deprecated = |attrs: &[Attribute]| attrs.iter().any(|attr| attr.path().is_ident("deprecated"));
    let field = |fields: &Fields| fields.iter().any(|field| deprecated(&field.attrs));
    deprecated(&input.attrs)
        || match &input.data {
            Data::Struct(data) => field(&data.fields),
            Data::Enum(data) => {
                data.variants.iter().any(|variant| deprecated(&variant.attrs) || field(&variant.fields))
            }
            Data::Union(_) => false,
        }
}

/// `Self::Variant { field: it, .. } => verdict,`
fn arm(case: &Case<'_>, root: &Path) -> TokenStream {
    let it = Ident::new("__retry_field", Span::mixed_site());
    let (field, verdict) = match &case.answer {
        Answer::Never | Answer::GivenUp(_) => (None, quote!(#root::Verdict::NEVER)),
        Answer::Worth { kind, not_sent, after } => (after.cloned(), worth(*kind, *not_sent, *after, &it, root)),
        Answer::AskInner(Part { member, field }) => (Some(member.clone()), ask_inner(&field.ty, &it, root)),
        Answer::AskFunction(path) => (None, ask_function(path, root)),
    };
    let pattern = pattern(case, field.as_ref(), &it);
    quote!(#pattern => #verdict,)
}

fn pattern(case: &Case<'_>, field: Option<&Member>, it: &Ident) -> TokenStream {
    let variant = case.variant.map(|variant| quote!(::#variant));
    match (field, case.fields) {
        (Some(member), _) => quote!(Self #variant { #member: #it, .. }),
        (None, Fields::Named(_)) => quote!(Self #variant { .. }),
        (None, Fields::Unnamed(_)) => quote!(Self #variant(..)),
        (None, Fields::Unit) => quote!(Self #variant),
    }
}

fn worth(kind: Kind, not_sent: bool, after: Option<&Member>, it: &Ident, root: &Path) -> TokenStream {
    let kind = match kind {
        Kind::Transient => quote!(TRANSIENT),
        Kind::Throttling => quote!(THROTTLING),
    };
    let not_sent = not_sent.then(|| quote!(.not_sent()));
    let after = after.map(|written| {
        let it = Ident::new("__retry_field", it.span().located_at(written.span()));
        quote!(.after(#root::__private::Hint::hint(#it)))
    });
    quote!(#root::Verdict::#kind #after #not_sent)
}

/// The type is written out, so that the compiler points at it when it isn't `Retryable`.
fn ask_inner(inner: &Type, it: &Ident, root: &Path) -> TokenStream {
    quote!(<#inner as #root::__private::Inner>::verdict(#it))
}

fn ask_function(path: &ExprPath, root: &Path) -> TokenStream {
    // The macro's own names, in the place of the path: where the function returns the wrong type, the error points there.
    let judge = Ident::new("__retry_judge", Span::mixed_site().located_at(path.span()));
    let call = quote_spanned!(Span::call_site().located_at(path.span())=> #judge(self));
    quote!({
        let #judge: fn(&Self) -> _ = #path;
        #root::__private::Opinion::verdict(#call)
    })
}

fn exhausted(case: &Case<'_>, root: &Path) -> Option<TokenStream> {
    let Answer::GivenUp(Part { member, field }) = &case.answer else { return None };
    let (variant, ty) = (case.variant?, &field.ty);
    let stop = Ident::new("__retry_stop", Span::mixed_site());
    let gave_up = quote!(#root::Exhausted::new(self, #stop));
    Some(quote! {
        fn exhausted(self, #stop: #root::Stop) -> Self {
            Self::#variant { #member: <#ty as #root::__private::GivenUp<Self>>::given_up(#gave_up) }
        }
    })
}

/// A bound for each error that is asked and whose type depends on a type parameter.
fn with_bounds(input: &DeriveInput, root: &Path, plan: &Plan<'_>) -> Generics {
    let mut generics = input.generics.clone();
    let parameters: Vec<Ident> = generics.type_params().map(|parameter| parameter.ident.clone()).collect();
    for case in &plan.cases {
        let Answer::AskInner(Part { field, .. }) = &case.answer else { continue };
        let tokens = field.ty.to_token_stream();
        // A type that contains itself needs no bound, and with one the compiler would go round in circles.
        let itself = mentions(tokens.clone(), &[input.ident.clone(), Ident::new("Self", Span::call_site())]);
        if mentions(tokens, &parameters) && !itself {
            let ty = &field.ty;
            generics.make_where_clause().predicates.push(parse_quote!(#ty: #root::Retryable));
        }
    }
    generics
}

/// Whether one of the names stands in the tokens, other than behind `::`.
fn mentions(tokens: TokenStream, names: &[Ident]) -> bool {
    let mut colons = 0;
    tokens.into_iter().any(|token| match token {
        TokenTree::Ident(ident) => std::mem::take(&mut colons) < 2 && names.contains(&ident),
        TokenTree::Group(group) => mentions(group.stream(), names),
        TokenTree::Punct(punct) => {
            colons = if punct.as_char() == ':' { colons + 1 } else { 0 };
            false
        }
        TokenTree::Literal(_) => false,
    })
}
