//! The attributes: what stands in their parentheses, `;;`, and the function below them. Included where `attribute`,
//! `expand`, `family` and `signature` of the macros' crate are modules of the root, since that crate exports macros only.

/// Expands both attributes on what a text spells, or has an error to show for it.
pub(crate) fn input(data: &[u8]) {
    let text = String::from_utf8_lossy(&data[..data.len().min(1 << 12)]);
    let (attribute, item) = text.split_once(";;").unwrap_or((&text, "fn f(x: &[f32; 4], y: &mut [f32; 4]);"));
    let (Ok(attribute), Ok(item)) =
        (attribute.parse::<proc_macro2::TokenStream>(), item.parse::<proc_macro2::TokenStream>())
    else {
        return;
    };
    for form in [crate::attribute::Form::Pair, crate::attribute::Form::Single] {
        match crate::expand::expanded(attribute.clone(), item.clone(), form) {
            Ok(tokens) => {
                let tokens = tokens.to_string();
                assert!(syn::parse_str::<syn::File>(&tokens).is_ok(), "no Rust: {tokens}");
            }
            Err(error) => assert!(!error.to_string().is_empty()),
        }
    }
}
