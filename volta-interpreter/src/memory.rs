//! Memory as bytes.
//!
//! Addresses of global and constant memory are generic ones. Those of shared, local and parameter memory are offsets,
//! and each space has a window of generic addresses.

use std::fmt;
use std::rc::Rc;

use super::op::Space;

/// The beginning of the module's global variables.
pub const GLOBALS: u64 = 0x0100_0000_0000;
/// The beginning of the module's constants.
pub const CONSTANTS: u64 = 0x0200_0000_0000;
/// The beginning of the launch's tensors.
pub const TENSORS: u64 = 0x0300_0000_0000;
/// The memory that the driver provides for a cooperative launch.
pub const WORKSPACE: u64 = 0x00ff_0000_0100;
/// The generic address of shared memory's first byte.
const SHARED: u64 = 0x1000_0000_0000;
/// The generic address of local memory's first byte.
const LOCAL: u64 = 0x1100_0000_0000;
/// The generic address of parameter memory's first byte.
const PARAMS: u64 = 0x1200_0000_0000;
/// The size of a window in bytes.
const WINDOW: u64 = 1 << 32;
/// The beginning of dynamic shared memory, aligned for every access. Static shared memory is at the end.
pub const DYNAMIC: u64 = 0;
/// The bytes of shared memory that addresses in matrix descriptors can denote.
pub const SHARED_BYTES: u64 = 1 << 18;
/// The end of static shared memory. Modules with many kernels have more of it than descriptors can address.
pub const STATIC_END: u64 = 16 * SHARED_BYTES;

/// The state space of a generic address, and the address in it.
pub fn place(generic: u64) -> (Space, u64) {
    for (space, window) in windows() {
        if (window..window + WINDOW).contains(&generic) {
            return (space, generic - window);
        }
    }
    (if (CONSTANTS..TENSORS).contains(&generic) { Space::Const } else { Space::Global }, generic)
}

/// The generic address of an address in a space.
pub fn generic(space: Space, address: u64) -> u64 {
    let window = windows().into_iter().find(|(held, _)| *held == space).map_or(0, |(_, window)| window);
    address.wrapping_add(window)
}

fn windows() -> [(Space, u64); 3] {
    [(Space::Shared, SHARED), (Space::Local, LOCAL), (Space::Param, PARAMS)]
}

/// The size of a CTA's shared memory in addresses of the cluster. The first such range is that of the own CTA, for
/// addresses that are numbers; addresses of variables are in the cluster's ranges. The CTAs of a pair differ in the
/// lowest bit above.
const CTA_WINDOW: u64 = 1 << 24;

/// The beginning of the shared memory of a CTA of the cluster.
pub fn shared_of(rank: usize) -> u64 {
    CTA_WINDOW * (rank as u64 + 2)
}

/// An address in shared memory as used by a thread of a CTA, converted to one in the cluster.
pub fn in_cluster(at: u64, rank: usize) -> u64 {
    if at < CTA_WINDOW { at + shared_of(rank) } else { at }
}

/// The address of the same place in another CTA of the cluster.
pub fn in_cta(at: u64, rank: usize) -> u64 {
    at % CTA_WINDOW + shared_of(rank)
}

/// The rank of the CTA that contains an address of the cluster.
pub fn rank_at(at: u64) -> u64 {
    at / CTA_WINDOW - 2
}

/// The size of a page in bytes.
const PAGE: usize = 1 << 9;

/// Produces the initial contents of an object: writes the bytes from an offset on.
pub type Fill = Rc<dyn Fn(u64, &mut [u8])>;

/// A page that has been accessed, with a mark for each written byte.
#[derive(Clone, Debug)]
struct Page {
    bytes: Box<[u8; PAGE]>,
    written: Box<[bool; PAGE]>,
}

/// A range of bytes. The pages of a large tensor are created when they are accessed.
#[derive(Clone)]
pub struct Object {
    /// The address of the first byte.
    pub base: u64,
    length: u64,
    fill: Fill,
    pages: Vec<Option<Page>>,
}

impl fmt::Debug for Object {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Object")
            .field("base", &self.base)
            .field("length", &self.length)
            .finish_non_exhaustive()
    }
}

impl Object {
    /// An object with its first contents.
    pub fn new(base: u64, bytes: Vec<u8>) -> Object {
        let length = bytes.len() as u64;
        let fill = move |at: u64, to: &mut [u8]| to.copy_from_slice(&bytes[at as usize..][..to.len()]);
        Object::filled(base, length, Rc::new(fill))
    }

    /// An object with initial contents produced on demand. `fill` returns the same bytes at any time, and is called for
    /// whole pages, except the last.
    pub fn filled(base: u64, length: u64, fill: Fill) -> Object {
        Object { base, length, fill, pages: vec![None; length.div_ceil(PAGE as u64) as usize] }
    }

    fn page(&mut self, number: usize) -> &mut Page {
        let (length, fill) = (self.length, &self.fill);
        self.pages[number].get_or_insert_with(|| {
            let begin = (number * PAGE) as u64;
            let mut bytes = Box::new([0; PAGE]);
            fill(begin, &mut bytes[..(length - begin).min(PAGE as u64) as usize]);
            Page { bytes, written: Box::new([false; PAGE]) }
        })
    }

    /// Reads up to 8 bytes, which must exist.
    pub fn read(&mut self, at: u64, bytes: u32) -> u64 {
        let (number, within) = (at as usize / PAGE, at as usize % PAGE);
        if within + bytes as usize <= PAGE {
            return read(&*self.page(number).bytes, within, bytes);
        }
        (0..bytes).fold(0, |word, byte| word | self.read(at + u64::from(byte), 1) << (8 * byte))
    }

    /// Writes up to 8 bytes, which must exist.
    pub fn write(&mut self, at: u64, bytes: u32, value: u64) {
        let (number, within) = (at as usize / PAGE, at as usize % PAGE);
        if within + bytes as usize <= PAGE {
            let page = self.page(number);
            write(&mut *page.bytes, within, bytes, value);
            page.written[within..within + bytes as usize].fill(true);
            return;
        }
        (0..bytes).for_each(|byte| self.write(at + u64::from(byte), 1, value >> (8 * byte)));
    }

    /// Whether any of these bytes was stored to.
    pub fn is_written(&self, at: u64, bytes: u32) -> bool {
        (at..at + u64::from(bytes)).any(|at| {
            let page = self.pages[at as usize / PAGE].as_ref();
            page.is_some_and(|page| page.written[at as usize % PAGE])
        })
    }

    /// The offsets, all multiples of `bytes`, of the elements of that size that were stored to.
    pub fn written(&self, bytes: u32) -> Vec<u64> {
        let (step, page) = (u64::from(bytes), PAGE as u64);
        let looked_at = (0..self.pages.len()).filter(|number| self.pages[*number].is_some());
        let offsets = looked_at.flat_map(|number| {
            let begin = number as u64 * page;
            (begin..(begin + page).min(self.length)).step_by(bytes as usize)
        });
        offsets.filter(|at| self.is_written(*at, step as u32)).collect()
    }
}

/// The objects of a space.
#[derive(Clone, Debug, Default)]
pub struct Objects(pub Vec<Object>);

impl Objects {
    fn find(&mut self, address: u64, bytes: u32) -> Result<(&mut Object, u64), String> {
        let inside = |object: &&mut Object| {
            address >= object.base && address - object.base + u64::from(bytes) <= object.length
        };
        match self.0.iter_mut().find(inside) {
            Some(object) => {
                let at = address - object.base;
                Ok((object, at))
            }
            None => Err(format!("{bytes} bytes at {address:#x} lie in no object")),
        }
    }

    /// Reads up to 8 bytes.
    ///
    /// # Errors
    /// If they do not lie in one object.
    pub fn read(&mut self, address: u64, bytes: u32) -> Result<u64, String> {
        self.find(address, bytes).map(|(object, at)| object.read(at, bytes))
    }

    /// Writes up to 8 bytes.
    ///
    /// # Errors
    /// If they do not lie in one object.
    pub fn write(&mut self, address: u64, bytes: u32, value: u64) -> Result<(), String> {
        self.find(address, bytes).map(|(object, at)| object.write(at, bytes, value))
    }
}

/// Reads up to 8 bytes, which must exist.
pub fn read(from: &[u8], at: usize, bytes: u32) -> u64 {
    let mut word = [0; 8];
    word[..bytes as usize].copy_from_slice(&from[at..at + bytes as usize]);
    u64::from_le_bytes(word)
}

/// Writes up to 8 bytes, which must exist.
pub fn write(to: &mut [u8], at: usize, bytes: u32, value: u64) {
    to[at..at + bytes as usize].copy_from_slice(&value.to_le_bytes()[..bytes as usize]);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_are_apart() {
        for space in [Space::Shared, Space::Local, Space::Param] {
            assert_eq!(place(generic(space, 40)), (space, 40));
        }
        assert_eq!(place(generic(Space::Global, TENSORS + 8)), (Space::Global, TENSORS + 8));
        assert_eq!(place(CONSTANTS), (Space::Const, CONSTANTS));
    }

    #[test]
    fn accesses_stay_inside_one_object() {
        let mut objects = Objects(vec![Object::new(16, vec![0; 8])]);
        assert!(objects.write(20, 4, 0x0102_0304).is_ok());
        assert_eq!(objects.read(16, 8), Ok(0x0102_0304_0000_0000));
        assert_eq!(objects.read(23, 1), Ok(1));
        assert!(objects.read(21, 4).is_err() && objects.read(15, 1).is_err());
        assert!(!objects.0[0].is_written(0, 4) && objects.0[0].is_written(3, 2));
        assert_eq!(objects.0[0].written(2), [4, 6]);
    }

    #[test]
    fn pages_come_to_be_where_somebody_looks() {
        let fill = |begin: u64, to: &mut [u8]| {
            to.iter_mut().zip(begin..).for_each(|(byte, at)| *byte = (at / 7) as u8);
        };
        let mut object = Object::filled(0, 1 << 26 | 5, Rc::new(fill));
        let far = (1 << 26) - 3;
        let expected = (0..8).fold(0, |word, byte| word | u64::from(((far + byte) / 7) as u8) << (8 * byte));
        assert_eq!(object.read(far, 8), expected);
        object.write(far, 8, 0x0807_0605_0403_0201);
        assert_eq!(object.read(far + 1, 4), 0x0504_0302);
        assert_eq!(object.written(1), (far..far + 8).collect::<Vec<u64>>());
    }
}
