//! `shards`: a case in parts. Each is a test of its own, called `family::case/shard_1_of_8`.

use toml::de::{DeTable, DeValue};
use volta_case::{MAX_SHARDS, Options, Shard, VerdictName, Wrong};

use super::{family, reader};

/// The number of parts of the case in a document, or of the member of its family that has this name.
pub(super) fn count(document: &DeTable<'_>, member: &str) -> Option<u32> {
    let options = document.iter().find(|(key, _)| key.get_ref() == "options")?.1.get_ref().as_table()?;
    let value = options.iter().find(|(key, _)| key.get_ref() == "shards")?.1.get_ref();
    let count = match value {
        DeValue::String(text) => {
            let member = family::read(document).ok()?.member(member)?;
            u64::try_from(family::value_for(&member, text).ok()?.to_i64()?).ok()?
        }
        other @ (DeValue::Integer(_)
        | DeValue::Float(_)
        | DeValue::Boolean(_)
        | DeValue::Datetime(_)
        | DeValue::Array(_)
        | DeValue::Table(_)) => reader::as_integer(other)?,
    };
    u32::try_from(count).ok().filter(|count| *count <= MAX_SHARDS)
}

/// Which part of a case its name says.
///
/// # Errors
/// When the case has no such part, or cannot have parts.
pub(crate) fn part(
    name: &str,
    options: &Options,
    expected: VerdictName,
    is_pair: bool,
) -> Result<Option<Shard>, Wrong> {
    let (shard, shards) = (Shard::split(name).1, options.run.shards);
    if shards == 0 || shards > MAX_SHARDS {
        return Err(format!("a case has from 1 to {MAX_SHARDS} parts, not {shards}").into());
    }
    if let Some(shard) = shard.filter(|shard| shard.of != shards) {
        let parts = if shards == 1 { "1 part".into() } else { format!("{shards} parts") };
        return Err(format!("there is no `{shard}`: this case has {parts}").into());
    }
    if shards == 1 {
        return Ok(None);
    }
    if !is_pair {
        return Err("one kernel alone has no parts: its outputs are not compared".to_string().into());
    }
    match expected {
        VerdictName::Equivalent
        | VerdictName::SameBits
        | VerdictName::SameUpToFma
        | VerdictName::SameUpToOrder
        | VerdictName::Finite
        | VerdictName::Clean
        | VerdictName::Fault(_)
        | VerdictName::InputError => Ok(shard),
        VerdictName::EquivalentWhere | VerdictName::Different | VerdictName::Unknown(_) => Err(Wrong {
            message: format!(
                "a case in parts does not expect `{}`, which may be true of one part only",
                expected.name()
            ),
            help: Some("leave out `shards`".into()),
        }),
    }
}
