//! `&mut self` in a body that moves it: into an `async move` block, a `move` closure, or a function that takes any type.
//! An argument is lent to each attempt under its own name, but nothing else may be called `self`.

use proc_macro2::{Delimiter, Group, Ident, TokenStream, TokenTree};

/// The name of the `self` that is lent to an attempt.
pub(super) const NAME: &str = "__this";

/// Whether a body may move `self`, and all its `self`s can be called something else.
pub(super) fn is_moved(body: &TokenStream) -> bool {
    let mut says = Says::default();
    says.read(body.clone());
    says.moves && !says.in_text
}

#[derive(Default)]
struct Says {
    moves: bool,
    /// `{self}` in a string.
    in_text: bool,
}

impl Says {
    fn read(&mut self, tokens: TokenStream) {
        let trees: Vec<_> = tokens.into_iter().collect();
        for (at, tree) in trees.iter().enumerate() {
            match tree {
                TokenTree::Ident(word) if word == "move" => self.moves = true,
                TokenTree::Ident(word) if word == "self" => {
                    let punct = |tree: Option<&TokenTree>| match tree {
                        Some(TokenTree::Punct(punct)) => Some(punct.as_char()),
                        _ => None,
                    };
                    let place = matches!(punct(trees.get(at + 1)), Some('.' | ':'));
                    let borrowed = at > 0 && matches!(punct(trees.get(at - 1)), Some('&' | '*'));
                    let uniquely = at > 0 && matches!(&trees[at - 1], TokenTree::Ident(word) if word == "mut");
                    self.moves |= !place && !borrowed && !uniquely;
                }
                TokenTree::Group(group) => self.read(group.stream()),
                TokenTree::Literal(literal) => {
                    let text = literal.to_string();
                    self.in_text |= text.contains("{self}") || text.contains("{self:");
                }
                _ => {}
            }
        }
    }
}

/// The body with every `self` of its own called `__this`: not that of a path, nor those of functions inside.
pub(super) fn renamed(body: TokenStream) -> TokenStream {
    let mut out = Vec::new();
    let mut trees = body.into_iter().peekable();
    while let Some(tree) = trees.next() {
        match tree {
            TokenTree::Ident(word) if word == "self" => {
                let is_path = matches!(trees.peek(), Some(TokenTree::Punct(punct)) if punct.as_char() == ':');
                out.push(if is_path { word } else { Ident::new(NAME, word.span()) }.into());
            }
            TokenTree::Ident(word) if matches!(word.to_string().as_str(), "impl" | "trait" | "fn" | "use") => {
                // an item with a `self` of its own, or none; the type `fn(…)` has no body
                let is_type = word == "fn" && !matches!(trees.peek(), Some(TokenTree::Ident(_)));
                out.push(word.into());
                while !is_type && let Some(tree) = trees.next() {
                    let braces = matches!(&tree, TokenTree::Group(group) if group.delimiter() == Delimiter::Brace);
                    let ends = matches!(&tree, TokenTree::Punct(punct) if punct.as_char() == ';');
                    out.push(tree);
                    if braces || ends {
                        break;
                    }
                }
            }
            TokenTree::Group(group) => {
                let restricts = group.delimiter() == Delimiter::Parenthesis
                    && matches!(out.last(), Some(TokenTree::Ident(word)) if word == "pub");
                let inside = if restricts { group.stream() } else { renamed(group.stream()) };
                let mut inside = Group::new(group.delimiter(), inside);
                inside.set_span(group.span());
                out.push(inside.into());
            }
            tree => out.push(tree),
        }
    }
    out.into_iter().collect()
}
