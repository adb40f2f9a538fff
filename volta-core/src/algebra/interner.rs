//! Interned short lists of integers.

use crate::base::index::number_of;
use hashbrown::HashTable;
use rustc_hash::{FxHashMap, FxHasher};
use std::hash::Hasher;

/// Interned lists of integers, each with an id and a note.
#[derive(Debug, Default)]
pub(super) struct Lists {
    entries: Vec<(u32, u32)>,
    contents: Vec<i64>,
    known: HashTable<u32>,
}

impl Lists {
    pub(super) fn content(&self, number: u32) -> &[i64] {
        content_of(&self.entries, &self.contents, number)
    }

    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    pub(super) fn note(&self, number: u32) -> u32 {
        self.entries[number as usize].1
    }

    pub(super) fn number(&mut self, content: &[i64], note: u32) -> u32 {
        let hash = hash_of(content);
        if let Some(known) = self.known.find(hash, |known| self.content(*known) == content) {
            return *known;
        }
        let number = number_of(self.entries.len());
        self.contents.extend(content);
        self.entries.push((number_of(self.contents.len()), note));
        let (entries, contents) = (&self.entries, &self.contents);
        let rehash = |known: &u32| hash_of(content_of(entries, contents, *known));
        self.known.insert_unique(hash, number, rehash);
        number
    }
}

/// Word by word: contents are short.
fn hash_of(content: &[i64]) -> u64 {
    let mut hasher = FxHasher::default();
    content.iter().for_each(|word| hasher.write_i64(*word));
    hasher.finish()
}

/// The content of an entry; each entry records where its content ends.
fn content_of<'c>(entries: &[(u32, u32)], contents: &'c [i64], number: u32) -> &'c [i64] {
    let start = number.checked_sub(1).map_or(0, |before| entries[before as usize].0);
    &contents[start as usize..entries[number as usize].0 as usize]
}

/// Bytes of a table, without what its entries point to.
pub(super) fn bytes_of<K, V>(map: &FxHashMap<K, V>) -> u64 {
    (map.capacity() * (size_of::<(K, V)>() + 1)) as u64
}
