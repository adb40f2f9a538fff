//! Memory as bytes.
//!
//! Addresses of global and constant memory are generic ones. Those of shared, local and parameter memory are offsets,
//! and each space has a window of generic addresses.

use super::op::Space;

/// Where the module's global variables lie.
pub const GLOBALS: u64 = 0x0100_0000_0000;
/// Where the module's constants lie.
pub const CONSTANTS: u64 = 0x0200_0000_0000;
/// Where the launch's tensors lie.
pub const TENSORS: u64 = 0x0300_0000_0000;
/// The generic address of shared memory's first byte.
const SHARED: u64 = 0x1000_0000_0000;
/// The generic address of local memory's first byte.
const LOCAL: u64 = 0x1100_0000_0000;
/// The generic address of parameter memory's first byte.
const PARAMS: u64 = 0x1200_0000_0000;
/// Bytes of a window.
const WINDOW: u64 = 1 << 32;
/// Where in shared memory its dynamic part lies: far from what is static, and aligned for everything.
pub const DYNAMIC: u64 = 1 << 20;

/// A generic address's space, and the address in it.
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

/// Neighbouring bytes, and which of them were written.
#[derive(Clone, Debug)]
pub struct Object {
    /// For messages.
    pub name: String,
    /// The address of the first byte.
    pub base: u64,
    /// Contents.
    pub bytes: Vec<u8>,
    /// Whether anybody stored there.
    pub written: Vec<bool>,
}

impl Object {
    /// An object with its first contents.
    pub fn new(name: &str, base: u64, bytes: Vec<u8>) -> Object {
        Object { name: name.to_string(), base, written: vec![false; bytes.len()], bytes }
    }
}

/// The objects of a space.
#[derive(Clone, Debug, Default)]
pub struct Objects(pub Vec<Object>);

impl Objects {
    fn find(&self, address: u64, bytes: u32) -> Result<(usize, usize), String> {
        let inside = |object: &Object| {
            address >= object.base && address - object.base + u64::from(bytes) <= object.bytes.len() as u64
        };
        match self.0.iter().position(inside) {
            Some(at) => Ok((at, (address - self.0[at].base) as usize)),
            None => Err(format!("{bytes} bytes at {address:#x} lie in no object")),
        }
    }

    /// Reads up to 8 bytes.
    ///
    /// # Errors
    /// When they do not lie in one object.
    pub fn read(&self, address: u64, bytes: u32) -> Result<u64, String> {
        let (object, at) = self.find(address, bytes)?;
        Ok(read(&self.0[object].bytes, at, bytes))
    }

    /// Writes up to 8 bytes.
    ///
    /// # Errors
    /// When they do not lie in one object.
    pub fn write(&mut self, address: u64, bytes: u32, value: u64) -> Result<(), String> {
        let (object, at) = self.find(address, bytes)?;
        let object = &mut self.0[object];
        write(&mut object.bytes, at, bytes, value);
        object.written[at..at + bytes as usize].fill(true);
        Ok(())
    }
}

/// Reads up to 8 bytes that are there.
pub fn read(from: &[u8], at: usize, bytes: u32) -> u64 {
    let mut word = [0; 8];
    word[..bytes as usize].copy_from_slice(&from[at..at + bytes as usize]);
    u64::from_le_bytes(word)
}

/// Writes up to 8 bytes that are there.
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
        let mut objects = Objects(vec![Object::new("x", 16, vec![0; 8])]);
        assert!(objects.write(20, 4, 0x0102_0304).is_ok());
        assert_eq!(objects.read(16, 8), Ok(0x0102_0304_0000_0000));
        assert_eq!(objects.read(23, 1), Ok(1));
        assert!(objects.read(21, 4).is_err() && objects.read(15, 1).is_err());
        assert_eq!(objects.0[0].written, [false, false, false, false, true, true, true, true]);
    }
}
