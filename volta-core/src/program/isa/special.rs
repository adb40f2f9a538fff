//! Special registers.
//!
//! Source: PTX ISA, "Special Registers".

use crate::program::op::Special;

/// The meaning of a special register's name.
#[derive(Clone, Copy, Debug)]
pub(in crate::program) enum Register {
    /// One number.
    Value(Special),
    /// A vector of three numbers and a zero.
    Vector(fn(u8) -> Special),
    /// `%is_explicit_cluster`, a predicate.
    ExplicitCluster,
}

/// The special register with a name.
pub(in crate::program) fn register(name: &str) -> Option<Register> {
    let name = name.strip_prefix('%')?;
    if let Some((vector, dimension)) = name.split_once('.') {
        let make = vector_register(vector)?;
        return Some(Register::Value(match dimension {
            "x" => make(0),
            "y" => make(1),
            "z" => make(2),
            _ => return None,
        }));
    }
    if let Some(make) = vector_register(name) {
        return Some(Register::Vector(make));
    }
    let special = match name {
        "laneid" => Special::LaneId,
        "lanemask_eq" => Special::LaneMaskEq,
        "lanemask_lt" => Special::LaneMaskLt,
        "lanemask_le" => Special::LaneMaskLe,
        "lanemask_gt" => Special::LaneMaskGt,
        "lanemask_ge" => Special::LaneMaskGe,
        "dynamic_smem_size" => Special::DynamicSharedSize,
        "cluster_ctarank" => Special::ClusterCtaRank,
        "cluster_nctarank" => Special::ClusterNctaRank,
        "is_explicit_cluster" => return Some(Register::ExplicitCluster),
        // The place of a warp may change while it runs, the number of a grid is for debuggers, and sizes are rounded up
        // to the device's units of allocation.
        "warpid"
        | "nwarpid"
        | "smid"
        | "nsmid"
        | "gridid"
        | "clock"
        | "clock_hi"
        | "clock64"
        | "globaltimer"
        | "globaltimer_lo"
        | "globaltimer_hi"
        | "total_smem_size"
        | "aggr_smem_size"
        | "current_graph_exec"
        | "reserved_smem_offset_begin"
        | "reserved_smem_offset_end"
        | "reserved_smem_offset_cap" => Special::Unpredictable,
        "envreg1" => Special::Workspace { high: true },
        "envreg2" => Special::Workspace { high: false },
        _ if numbered(name, "envreg", 31) || numbered(name, "pm", 7) => Special::Unpredictable,
        _ if numbered(name, "reserved_smem_offset_", 1) => Special::Unpredictable,
        _ if name.strip_suffix("_64").is_some_and(|name| numbered(name, "pm", 7)) => Special::Unpredictable,
        _ => return None,
    };
    Some(Register::Value(special))
}

fn vector_register(name: &str) -> Option<fn(u8) -> Special> {
    Some(match name {
        "tid" => Special::Tid,
        "ntid" => Special::Ntid,
        "ctaid" => Special::Ctaid,
        "nctaid" => Special::Nctaid,
        "clusterid" => Special::ClusterId,
        "nclusterid" => Special::NClusterId,
        "cluster_ctaid" => Special::ClusterCtaId,
        "cluster_nctaid" => Special::ClusterNctaId,
        _ => return None,
    })
}

fn numbered(name: &str, prefix: &str, last: u32) -> bool {
    name.strip_prefix(prefix)
        .and_then(|number| number.parse::<u32>().ok())
        .is_some_and(|number| number <= last)
}
