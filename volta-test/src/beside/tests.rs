use std::fs;

use super::*;

fn header() -> Header {
    let input = |path: &str, sha256: &str| Input { path: path.into(), sha256: sha256.into() };
    Header {
        inputs: vec![input("k.cu", "aa"), input("../common/a b.cuh", "bb")],
        target: Target { arch: "sm_80".into(), flags: vec!["-DA=\"x y\"".into(), "-O1".into()] },
        compiler: "nvcc 13.5.37".into(),
    }
}

#[test]
fn headers_are_read_as_they_are_written() {
    let text = format!("{}//\n.version 8.0\n", header());
    assert_eq!(Header::parse(&text), Ok(header()));
    assert_eq!(body(&text), "//\n.version 8.0\n");
    assert_eq!(Header::parse(".version 8.0\n"), Err(HeaderError::Missing));
    assert!(matches!(Header::parse("// volta-what: x\n"), Err(HeaderError::Malformed(_))));
    assert_eq!(Header::parse(&format!("// volta-version: 1\n{text}")), Ok(header()));
    let newer =
        Header::parse(&format!("// volta-version: 2\n{text}")).expect_err("nobody knows what it means");
    let message = "its header is in version 2 of the format, and this program reads version 1";
    assert_eq!(newer.to_string(), message);
}

#[test]
fn hashes_do_not_depend_on_line_ends() {
    assert_eq!(sha256(b"a\r\nb\n"), sha256(b"a\nb\n"));
    assert_ne!(sha256(b"a\rb\n"), sha256(b"a\nb\n"));
    assert_eq!(sha256(b""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
}

#[test]
fn inputs_are_the_source_and_its_own_headers() {
    let folder = tempfile::tempdir().expect("the folder can be made");
    let dir = folder.path();
    for (path, text) in [
        (
            "k/k.cu",
            "#include \"near.cuh\"\n#include <cuda_fp16.h>\n#include \"cuda.h\"\n  #  include <lib.h>\n",
        ),
        ("k/near.cuh", "#include \"../far/far.cuh\"\n#include \"near.cuh\"\n"),
        ("far/far.cuh", "#include \"below.cuh\"\n"),
        ("far/below.cuh", ""),
        ("include/lib.h", ""),
    ] {
        let path = dir.join(path);
        fs::create_dir_all(path.parent().expect("it lies in a folder")).expect("the folder can be made");
        fs::write(path, text).expect("it can be written");
    }
    let names = |flags: &[&str]| -> Vec<String> {
        let flags: Vec<String> = flags.iter().map(|flag| (*flag).to_owned()).collect();
        let inputs = inputs(&dir.join("k/k.cu"), &flags).expect("files can be read");
        inputs.into_iter().map(|input| input.path).collect()
    };
    assert_eq!(names(&[]), ["k.cu", "../far/below.cuh", "../far/far.cuh", "near.cuh"]);
    for flags in [&["-I../include"][..], &["-I", "../include"], &["--include-path=../include"]] {
        assert_eq!(names(flags)[1..], ["../far/below.cuh", "../far/far.cuh", "../include/lib.h", "near.cuh"]);
    }
}

#[test]
fn paths_in_ptx_do_not_tell_where_it_was_made() {
    let input = Input { path: "k.cu".into(), sha256: String::new() };
    let ptx =
        "\t.file\t1 \"/home/me/k.cu\"\n\t.file 2 \"/opt/cuda/include/cuda_fp16.hpp\", 12, 3\n.loc 1 2 3\n";
    let expected = "\t.file\t1 \"k.cu\"\n\t.file 2 \"toolkit:cuda_fp16.hpp\"\n.loc 1 2 3\n";
    assert_eq!(relative_paths(ptx, Path::new("/home/me"), &[input]), expected);
}

#[test]
fn paths_are_normal_and_relative() {
    assert_eq!(normalized(Path::new("a/./b/../../c")), Path::new("c"));
    assert_eq!(normalized(Path::new("../a/..")), Path::new(".."));
    assert_eq!(relative(Path::new("/a/b/c.cu"), Path::new("/a/d")), Path::new("../b/c.cu"));
}

#[test]
fn two_runs_of_one_compiler_are_the_same() {
    let ptx = |number: &str| {
        format!(
            "// volta-arch: {number}\ncall _INTERNAL_{number}_4_k_cu, x;\n.section .debug_str\n{{\n.b8 {number}\n}}\nret;\n"
        )
    };
    assert_eq!(comparable(&ptx("3fc19be7")), comparable(&ptx("b6ed1d86")));
    assert_ne!(comparable(&ptx("3fc19be7")), comparable(&ptx("3fc19be7").replace("ret", "exit")));
}
