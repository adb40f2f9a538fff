//! What each instruction lowers to: the blocks of `instructions.txt`.

/// Reads the blocks, lowers their PTX, and writes the file as it should be.
fn rewritten(text: &str) -> String {
    let mut out = String::new();
    let mut ptx = String::new();
    let flush = |ptx: &mut String, out: &mut String| {
        if !ptx.is_empty() {
            out.push_str(&super::ops(ptx));
            ptx.clear();
        }
    };
    let mut asked = false;
    for line in text.lines() {
        match line.strip_prefix("> ") {
            Some(more) => {
                flush(&mut ptx, &mut out);
                ptx.push_str(more);
                asked = true;
                out.push_str(line);
                out.push('\n');
            }
            None if asked && !line.is_empty() => {}
            None => {
                flush(&mut ptx, &mut out);
                asked = false;
                out.push_str(line);
                out.push('\n');
            }
        }
    }
    flush(&mut ptx, &mut out);
    out
}

#[test]
fn instructions_lower_to_these_operations() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/src/program/tests/instructions.txt");
    let text = std::fs::read_to_string(path).expect("the file");
    let actual = rewritten(&text);
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        std::fs::write(path, &actual).expect("writing the file");
    }
    for (number, (expected, actual)) in text.lines().zip(actual.lines()).enumerate() {
        assert_eq!(expected, actual, "line {}; `UPDATE_EXPECT=1` rewrites the file", number + 1);
    }
    assert_eq!(text.lines().count(), actual.lines().count(), "`UPDATE_EXPECT=1` rewrites the file");
}
