//! Files of a module of `volta-core` that import one another in a circle: none of them can be understood, or changed,
//! without the others.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use syn::visit::Visit;

use crate::tree::{files, read};

/// The path of a file as a module, or of an item in it.
type Name = Vec<String>;

/// What a file names of others.
#[derive(Default)]
struct Names {
    used: BTreeSet<Name>,
    /// What it only passes on, by its name.
    passed_on: BTreeMap<String, Name>,
}

impl Names {
    fn leaves(tree: &syn::UseTree, so_far: &Name) -> Vec<Name> {
        let with = |ident: &syn::Ident| so_far.iter().cloned().chain([ident.to_string()]).collect::<Name>();
        match tree {
            syn::UseTree::Path(path) => Names::leaves(&path.tree, &with(&path.ident)),
            syn::UseTree::Group(group) => {
                group.items.iter().flat_map(|item| Names::leaves(item, so_far)).collect()
            }
            syn::UseTree::Name(name) if name.ident == "self" => vec![so_far.clone()],
            syn::UseTree::Name(name) => vec![with(&name.ident)],
            syn::UseTree::Rename(rename) => vec![with(&rename.ident)],
            syn::UseTree::Glob(_) => vec![so_far.clone()],
        }
    }
}

impl<'ast> Visit<'ast> for Names {
    fn visit_item_use(&mut self, item: &'ast syn::ItemUse) {
        for name in Names::leaves(&item.tree, &Name::new()) {
            match (&item.vis, name.last()) {
                (syn::Visibility::Inherited, _) | (_, None) => self.used.extend([name]),
                (_, Some(last)) => self.passed_on.extend([(last.clone(), name.clone())]),
            }
        }
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        if path.segments.first().is_some_and(|first| first.ident == "super" || first.ident == "crate") {
            self.used.insert(path.segments.iter().map(|segment| segment.ident.to_string()).collect());
        }
        syn::visit::visit_path(self, path);
    }

    /// Who may use an item is no use of another file.
    fn visit_visibility(&mut self, _: &'ast syn::Visibility) {}

    fn visit_item_mod(&mut self, module: &'ast syn::ItemMod) {
        // Tests may use everything.
        if module.content.is_none() {
            syn::visit::visit_item_mod(self, module);
        }
    }
}

/// The files of a module.
struct Module {
    name: String,
    files: BTreeMap<Name, Names>,
}

impl Module {
    fn new(name: &str, texts: Vec<(Name, String)>) -> Module {
        let named = texts.into_iter().map(|(mut name, text)| {
            name.pop_if(|last| last == "mod");
            let mut names = Names::default();
            names.visit_file(&syn::parse_str(&text).expect("it is Rust"));
            (name, names)
        });
        Module { name: name.into(), files: named.collect() }
    }

    /// A path that a file names, from the module on; `None` for one that leads elsewhere.
    fn absolute(&self, own: &Name, path: &[String]) -> Option<Name> {
        let (mut at, mut rest) = (own.clone(), path);
        match rest {
            [root, module, inner @ ..] if root == "crate" && *module == self.name => {
                (at, rest) = (Name::new(), inner)
            }
            [first, ..] if first == "super" || first == "self" => {
                while let [first, inner @ ..] = rest
                    && (first == "super" || first == "self")
                {
                    if first == "super" {
                        at.pop()?;
                    }
                    rest = inner;
                }
            }
            [first, ..] => {
                at.push(first.clone());
                rest = self.files.contains_key(&at).then_some(&rest[1..])?;
            }
            [] => return None,
        }
        Some(at.into_iter().chain(rest.iter().cloned()).collect())
    }

    /// The file in which a path leads to an item.
    fn file_of(&self, path: &Name) -> Option<Name> {
        let length = (0..=path.len()).rev().find(|length| self.files.contains_key(&path[..*length]))?;
        let own = path[..length].to_vec();
        let passed_on = path.get(length).and_then(|item| self.files[&own].passed_on.get(item));
        let further = passed_on.and_then(|inner| self.absolute(&own, inner));
        match further.filter(|further| further != path) {
            Some(further) => self.file_of(&further),
            None => Some(own),
        }
    }

    fn imports(&self, own: &Name) -> BTreeSet<Name> {
        let used = self.files[own].used.iter();
        let found = used.filter_map(|path| self.file_of(&self.absolute(own, path)?));
        found.filter(|file| file != own).collect()
    }
}

/// The files of a module of `volta-core`, as its folder's path, each with its text.
fn texts(folder: &Path) -> (String, Vec<(Name, String)>) {
    let name = folder.file_name().expect("a folder has a name").to_string_lossy();
    let texts = files(folder, "rs").into_iter().map(|path| {
        let inner = path.strip_prefix(folder).expect("it lies below").with_extension("");
        (inner.components().map(|part| part.as_os_str().to_string_lossy().into()).collect(), read(&path))
    });
    (name.into(), texts.collect())
}

/// The circles of imports between the files of a module of `volta-core`, as its folder's path.
pub fn circles(folder: &Path) -> Vec<BTreeSet<String>> {
    let (name, texts) = texts(folder);
    between(&name, texts)
}

/// By file of a module of `volta-core`, as its folder's path, the other files of the module that it imports.
pub fn imports(folder: &Path) -> BTreeMap<String, BTreeSet<String>> {
    let (name, texts) = texts(folder);
    let module = Module::new(&name, texts);
    let path = |file: &Name| file.join("/");
    module.files.keys().map(|file| (path(file), module.imports(file).iter().map(path).collect())).collect()
}

/// The circles between files, by their paths in a module of this name.
fn between(module: &str, texts: Vec<(Name, String)>) -> Vec<BTreeSet<String>> {
    let module = Module::new(module, texts);
    let reached = |from: &Name| {
        let (mut reached, mut work) = (BTreeSet::new(), vec![from.clone()]);
        while let Some(file) = work.pop() {
            work.extend(module.imports(&file).into_iter().filter(|next| reached.insert(next.clone())));
        }
        reached
    };
    let all: BTreeMap<&Name, BTreeSet<Name>> =
        module.files.keys().map(|file| (file, reached(file))).collect();
    let circle = |file: &Name| {
        let others = all[file].iter().filter(|other| all[*other].contains(file));
        others.map(|other| other.join("::")).collect::<BTreeSet<String>>()
    };
    let found: BTreeSet<BTreeSet<String>> = module.files.keys().map(circle).collect();
    found.into_iter().filter(|circle| !circle.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn circles_are_found_through_what_is_passed_on() {
        let texts = |inner: &str| {
            let texts = [
                ("mod", "mod a; mod b; pub use b::B;"),
                ("a", "use super::b::inner::{self, C}; pub struct A(C);"),
                ("b/mod", "mod inner; pub(super) use inner::C; pub struct B;"),
                ("b/inner", inner),
                ("c", "use crate::m::B; #[cfg(test)] mod tests { use super::super::d::D; }"),
                ("d", "use super::c; pub struct D;"),
            ];
            let name = |path: &str| path.split('/').map(str::to_owned).collect();
            texts.map(|(path, text)| (name(path), text.to_owned())).to_vec()
        };
        assert!(between("m", texts("pub struct C;")).is_empty());
        for inner in ["use super::super::a::A; pub struct C;", "pub struct C(crate::m::a::A);"] {
            let circle = BTreeSet::from(["a".to_owned(), "b::inner".to_owned()]);
            assert_eq!(between("m", texts(inner)), [circle], "{inner}");
        }
    }
}
