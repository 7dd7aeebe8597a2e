//! `#[retry_budget(…)]`: parse the options and the function, judge them, write the new function.

mod arguments;
mod check;
mod duration;
mod expand;
mod frame;
mod function;
#[cfg(test)]
mod fuzz;
mod instrument;
mod options;
mod this;
mod value;
mod words;

use function::Function;
use options::Options;
use proc_macro2::TokenStream;

/// The new function; where something is wrong, the function as it was beside the errors, so that nothing else turns
/// red.
pub(crate) fn retry_budget(options: TokenStream, item: TokenStream) -> TokenStream {
    let original = item.clone();
    let (options, mut problems) = Options::parse(options);
    match syn::parse2::<Function>(item) {
        Err(error) => problems.push(error),
        Ok(function) => match check::judge(options, function) {
            Ok(checked) if problems.is_empty() => return expand::write(&checked),
            Ok(_) => {}
            Err(more) => problems.extend(more),
        },
    }
    let problems = compile_errors(problems);
    quote::quote!(#original #problems)
}

/// A block in the middle of a function: an async block that runs the loop, or errors in its place.
pub(crate) fn retry(tokens: TokenStream) -> TokenStream {
    let (options, block) = function::split_block(tokens);
    let (options, mut problems) = Options::parse(options);
    match block {
        Err(error) => problems.push(error),
        Ok(block) => match check::judge(options, block) {
            Ok(checked) if problems.is_empty() => {
                let body = expand::write_loop(&checked);
                return quote::quote!(async { #body });
            }
            Ok(_) => {}
            Err(more) => problems.extend(more),
        },
    }
    let problems = compile_errors(problems);
    quote::quote!({ #problems })
}

fn compile_errors(problems: Vec<syn::Error>) -> TokenStream {
    let problems = problems.into_iter().map(syn::Error::into_compile_error);
    quote::quote!(#(#problems)*)
}
