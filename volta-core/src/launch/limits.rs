//! Checks that the hardware supports a launch, and that the kernel was compiled for it.

use super::bind_error::BindError;
use crate::base::budget::{Budgets, Limit};
use crate::case::{KernelLaunch, Options};
use crate::launch::Clusters;
use crate::program::{LaunchBounds, Program, Space};
use std::collections::BTreeMap;

/// The CTAs of a launch.
pub(crate) struct Fit {
    /// The clusters, or sets of CTAs that run together, to run.
    pub(crate) clusters: Clusters,
    /// CTAs of a cluster in each dimension.
    pub(crate) cluster: [u32; 3],
    /// CTAs that run together, in each dimension: those of a cluster, or all CTAs of a cooperative grid.
    pub(crate) together: [u32; 3],
    /// What exceeds a limit of the hardware, if the case allows that.
    pub(crate) exceeded: Vec<String>,
}

/// The limits of the hardware that a case may exceed.
struct Limits {
    may_be_exceeded: bool,
    exceeded: Vec<String>,
}

impl Limits {
    /// A limit is exceeded.
    fn exceed(&mut self, message: String, help: String) -> Result<(), BindError> {
        if self.may_be_exceeded {
            self.exceeded.push(format!("{message}, and {help}"));
            return Ok(());
        }
        let help = format!("{help}; to verify it all the same: `unlimited_launches = true`");
        Err(BindError::new(message, Some(help)))
    }
}

/// Checks a launch; returns which CTAs it runs.
/// `shares_counter`: CTAs draw tickets from counters in global memory (rule Y18), and are executed together.
pub(crate) fn check(
    program: &Program,
    kernel: &KernelLaunch,
    options: &Options,
    shares_counter: bool,
) -> Result<Fit, BindError> {
    let budgets = &options.budgets;
    let mut limits = Limits { may_be_exceeded: options.rules.unlimited_launches, exceeded: Vec::new() };
    let threads = check_block(program, kernel, budgets).map_err(|error| error.of_key("block"))?;
    check_registers(program, threads)?;
    check_shared(program, kernel, &mut limits).map_err(|error| error.of_key("shared"))?;
    check_grid(kernel, &mut limits).map_err(|error| error.of_key("grid"))?;
    let exceeded = limits.exceeded;
    let key = if kernel.launch.ctas.is_some() { "ctas" } else { "grid" };
    let grid = kernel.launch.grid;
    if kernel.launch.cooperative || shares_counter {
        let cluster = check_clusters(program, kernel)?;
        if kernel.launch.cooperative {
            check_cooperative(kernel, cluster).map_err(|error| error.of_key("cooperative"))?;
        } else if kernel.launch.ctas.is_some() || cluster != [1; 3] {
            let message = "tickets are drawn by some CTAs only, or by clusters of several CTAs".to_string();
            return Err(BindError::new(message, None));
        }
        check_ctas(kernel, budgets).map_err(|error| error.of_key(key))?;
        return Ok(Fit { clusters: Clusters::All(1), cluster, together: grid, exceeded });
    }
    let ctas = check_ctas(kernel, budgets).map_err(|error| error.of_key(key))?;
    let cluster = check_clusters(program, kernel)?;
    Ok(Fit { clusters: clusters_of(ctas, grid, cluster)?, cluster, together: cluster, exceeded })
}

/// Multiprocessors of the largest GPU, and the most CTAs and threads that one of them runs at a time.
const MULTIPROCESSORS: u64 = 160;
const RESIDENT: (u64, u64) = (32, 2048);

/// Checks that all CTAs can run at the same time.
fn check_cooperative(kernel: &KernelLaunch, cluster: [u32; 3]) -> Result<(), BindError> {
    let ctas = kernel.launch.grid.iter().fold(1u64, |ctas, n| ctas.saturating_mul((*n).into()));
    if kernel.launch.ctas.is_some() {
        let message =
            "`ctas` runs some CTAs only, but the CTAs of a cooperative grid run together".to_string();
        return Err(BindError::new(message, Some("leave `ctas` out".into())));
    }
    if cluster != [1; 3] {
        let message = "clusters of several CTAs in a cooperative grid are not supported yet".to_string();
        return Err(BindError::new(message, None));
    }
    let threads: u64 = kernel.launch.block.iter().map(|n| u64::from(*n)).product();
    let most = MULTIPROCESSORS * RESIDENT.0.min(RESIDENT.1 / threads.next_multiple_of(32).min(RESIDENT.1));
    if ctas > most {
        let message = format!("a cooperative grid of {ctas} CTAs of {threads} threads is too large");
        let help = format!("no GPU runs more than {most} of them at the same time");
        return Err(BindError::new(message, Some(help)));
    }
    Ok(())
}

fn check_block(program: &Program, kernel: &KernelLaunch, budgets: &Budgets) -> Result<u64, BindError> {
    let product = |extent: [u32; 3]| extent.iter().map(|n| u64::from(*n)).try_fold(1u64, u64::checked_mul);
    let Some(threads) = product(kernel.launch.block).filter(|threads| *threads > 0) else {
        let message = format!("a block of {:?} threads is not possible", kernel.launch.block);
        return Err(BindError::new(message, Some("give each dimension of `block` a positive size".into())));
    };
    if threads > 1024 {
        let help = Some("no GPU runs more than 1024 threads in a block".into());
        return Err(BindError::new(format!("a block of {threads} threads is too large"), help));
    }
    if kernel.launch.block[2] > 64 {
        let message = format!("a block of {:?} threads is too deep", kernel.launch.block);
        return Err(BindError::new(message, Some("no GPU runs blocks of more than 64 threads in z".into())));
    }
    budgets.check(Limit::BlockThreads, threads)?;
    if let Some(required) = program.bounds.required_block
        && required != kernel.launch.block
    {
        let message = format!(
            "kernel `{}` is compiled for blocks of {required:?} threads (`.reqntid`), not {:?}",
            program.source_name(),
            kernel.launch.block
        );
        return Err(BindError::new(message, None));
    }
    if let Some(maximum) = program.bounds.max_block.and_then(product)
        && threads > maximum
    {
        let message = format!(
            "kernel `{}` is compiled for at most {maximum} threads a block (`.maxntid`), not {threads}",
            program.source_name()
        );
        return Err(BindError::new(message, None));
    }
    Ok(threads)
}

/// Registers of a multiprocessor, which a block must not exceed, and of a thread: 255, which compilers state as 256.
const REGISTERS: u64 = 65_536;
const THREAD_REGISTERS: u32 = 256;

fn check_registers(program: &Program, threads: u64) -> Result<(), BindError> {
    let LaunchBounds { max_registers, max_block, required_block, .. } = program.bounds;
    let Some(registers) = max_registers else { return Ok(()) };
    if registers > THREAD_REGISTERS {
        let message =
            format!("kernel `{}` may use {registers} registers a thread (`.maxnreg`)", program.source_name());
        return Err(BindError::new(message, Some(format!("no GPU has more than {THREAD_REGISTERS}"))));
    }
    // If the number of threads is bounded, the compiler chooses few enough registers.
    let is_bounded = max_block.is_some() || required_block.is_some();
    if !is_bounded && threads * u64::from(registers) > REGISTERS {
        let message = format!(
            "kernel `{}` may use {registers} registers a thread (`.maxnreg`), {} in a block of {threads}",
            program.source_name(),
            threads * u64::from(registers)
        );
        let help =
            format!("a multiprocessor has {REGISTERS}; launch fewer threads, or bound them by `.maxntid`");
        return Err(BindError::new(message, Some(help)));
    }
    Ok(())
}

/// The most static shared memory of a CTA, in bytes.
const STATIC_SHARED: u64 = 48 << 10;

/// The most shared memory of a CTA, in bytes, that a kernel can opt in to on an architecture (CUDA programming guide,
/// compute capabilities). For an unknown architecture, the most of all.
fn most_shared(architecture: Option<u32>) -> u64 {
    let kib = match architecture {
        Some(..=69) => 48,
        Some(70..=74) => 96,
        Some(75) => 64,
        Some(80 | 87) => 163,
        Some(86 | 89) => 99,
        Some(120..=129) => 99,
        Some(_) | None => 227,
    };
    kib << 10
}

/// The bytes of static shared memory of a CTA.
fn statically(program: &Program) -> u64 {
    let sizes = program.variables.iter().filter(|variable| variable.space == Space::Shared);
    sizes.filter_map(|variable| variable.size).fold(0, u64::saturating_add)
}

/// The most dynamic shared memory that a kernel can be launched with, in bytes.
pub(crate) fn most_dynamic_shared(program: &Program) -> u32 {
    let most = most_shared(program.bounds.architecture).saturating_sub(statically(program));
    u32::try_from(most).unwrap_or(0)
}

fn check_shared(program: &Program, kernel: &KernelLaunch, limits: &mut Limits) -> Result<(), BindError> {
    let statically = statically(program);
    if statically > STATIC_SHARED {
        let message =
            format!("kernel `{}` declares {statically} bytes of shared memory", program.source_name());
        let help = format!("a block has at most {STATIC_SHARED}; more must be dynamic (`extern __shared__`)");
        limits.exceed(message, help)?;
    }
    let dynamic = u64::from(kernel.launch.shared);
    let (total, most) = (statically + dynamic, most_shared(program.bounds.architecture));
    if total > most {
        let message = format!(
            "kernel `{}` takes {total} bytes of shared memory, {dynamic} of them dynamic",
            program.source_name()
        );
        limits
            .exceed(message, format!("its architecture has {most}: reduce `shared`, or give a newer one"))?;
    }
    Ok(())
}

/// The most CTAs of a cluster, where the kernel asks for more than the portable 8.
const CLUSTER: u64 = 16;

/// The number of CTAs of a cluster in each dimension.
fn check_clusters(program: &Program, kernel: &KernelLaunch) -> Result<[u32; 3], BindError> {
    let LaunchBounds {
        cluster: required,
        explicit_cluster,
        max_cluster,
        blocks_are_clusters,
        architecture,
        ..
    } = program.bounds;
    let wrong = |key: &str, message: &str, help: &str| {
        let message = format!("kernel `{}` {message}", program.source_name());
        Err(BindError::new(message, Some(help.into())).of_key(key))
    };
    let given = kernel.launch.cluster;
    if let (Some(given), Some(required)) = (given, required)
        && given != required
    {
        let message =
            format!("is compiled for clusters of {required:?} CTAs (`.reqnctapercluster`), not {given:?}");
        return wrong(
            "cluster",
            &message,
            "leave `cluster` out of the case, or give what the kernel was compiled for",
        );
    }
    let Some(cluster) = given.or(required) else {
        if explicit_cluster || blocks_are_clusters {
            let help = "give `cluster` in the case, or the kernel `__cluster_dims__`";
            return wrong("cluster", "must be launched in clusters, but nothing says of how many CTAs", help);
        }
        return Ok([1; 3]);
    };
    if required.is_some() && max_cluster.is_some() {
        let help = "only one of the two is allowed (PTX ISA, `.maxclusterrank`)";
        return wrong("cluster", "has both `.reqnctapercluster` and `.maxclusterrank`", help);
    }
    let ctas = cluster.iter().map(|n| u64::from(*n)).fold(1, u64::saturating_mul);
    if ctas == 0 {
        return wrong(
            "cluster",
            &format!("has clusters of {cluster:?} CTAs"),
            "each dimension is at least 1",
        );
    }
    if ctas > CLUSTER {
        let message = format!("has clusters of {cluster:?} CTAs");
        return wrong("cluster", &message, "no GPU runs clusters of more than 16 CTAs");
    }
    if let Some(most) = max_cluster.filter(|most| ctas > u64::from(*most)) {
        let message =
            format!("is compiled for clusters of at most {most} CTAs (`.maxclusterrank`), not {ctas}");
        return wrong("cluster", &message, "give fewer in `cluster`");
    }
    if let Some(architecture) = architecture.filter(|architecture| ctas > 1 && *architecture < 90) {
        let message = format!("has clusters of {cluster:?} CTAs, and is compiled for sm_{architecture}");
        return wrong("cluster", &message, "clusters need sm_90 or newer");
    }
    if blocks_are_clusters && ctas > 1 {
        let help = "a case counts CTAs; compile the kernel without `.blocksareclusters`";
        return wrong("cluster", "is launched by clusters and not by CTAs (`.blocksareclusters`)", help);
    }
    if kernel.launch.grid.iter().zip(cluster).any(|(ctas, of_cluster)| !ctas.is_multiple_of(of_cluster)) {
        let message = format!(
            "has clusters of {cluster:?} CTAs, which do not divide the grid {:?}",
            kernel.launch.grid
        );
        return wrong("grid", &message, "each dimension of `grid` must be a multiple of the clusters'");
    }
    Ok(cluster)
}

/// The clusters that contain the CTAs to run; of each cluster, all CTAs must be chosen.
fn clusters_of(ctas: Clusters, grid: [u32; 3], cluster: [u32; 3]) -> Result<Clusters, BindError> {
    let size: u64 = cluster.iter().map(|n| u64::from(*n)).product();
    match ctas {
        ctas if size == 1 => Ok(ctas),
        Clusters::All(count) => Ok(Clusters::All(count / size)),
        Clusters::Chosen(list) => {
            let (grid, cluster) = (grid.map(u64::from), cluster.map(u64::from));
            let mut found: BTreeMap<u64, u64> = BTreeMap::new();
            for cta in list {
                let at = [cta % grid[0], cta / grid[0] % grid[1], cta / (grid[0] * grid[1])];
                let [x, y, z] = std::array::from_fn(|dimension| at[dimension] / cluster[dimension]);
                let (wide, high) = (grid[0] / cluster[0], grid[1] / cluster[1]);
                *found.entry(x + wide * (y + high * z)).or_default() += 1;
            }
            if found.values().any(|count| *count != size) {
                let message =
                    format!("`ctas` names only a part of a cluster of {size} CTAs, which run together");
                return Err(BindError::new(message, Some("name all CTAs of a cluster".into())).of_key("ctas"));
            }
            Ok(Clusters::Chosen(found.into_keys().collect()))
        }
    }
}

/// The hardware's limits on a grid.
const MAX_GRID: [u32; 3] = [(1 << 31) - 1, 65_535, 65_535];
/// Numbers of CTAs are computed in 64 bits.
const MOST_CTAS: u64 = 1 << 63;

fn check_grid(kernel: &KernelLaunch, limits: &mut Limits) -> Result<(), BindError> {
    let [x, y, z] = kernel.launch.grid;
    if [x, y, z].contains(&0) {
        let message = format!("a grid of {:?} CTAs is not possible", kernel.launch.grid);
        return Err(BindError::new(message, Some("give each dimension of `grid` a positive size".into())));
    }
    if x > MAX_GRID[0] || y > MAX_GRID[1] || z > MAX_GRID[2] {
        let message = format!("a grid of {:?} CTAs is too large", kernel.launch.grid);
        limits.exceed(message, format!("no GPU runs more than {MAX_GRID:?} CTAs in x, y and z"))?;
    }
    let count = kernel.launch.grid.iter().try_fold(1u64, |count, n| count.checked_mul((*n).into()));
    if count.is_none_or(|count| count > MOST_CTAS) {
        return Err(BindError::new(format!("a grid of {:?} CTAs is too large", kernel.launch.grid), None));
    }
    Ok(())
}

fn check_ctas(kernel: &KernelLaunch, budgets: &Budgets) -> Result<Clusters, BindError> {
    // `check_grid` has seen that this does not overflow.
    let total: u64 = kernel.launch.grid.iter().map(|n| u64::from(*n)).product();
    let Some(chosen) = &kernel.launch.ctas else {
        return Ok(Clusters::All(total));
    };
    if let Some(missing) = chosen.iter().find(|cta| **cta >= total) {
        let help = Some(format!("its grid has CTAs 0 to {}", total - 1));
        return Err(BindError::new(format!("there is no CTA {missing}"), help));
    }
    if chosen.is_empty() {
        return Err(BindError::new("an empty list of CTAs runs nothing".into(), None));
    }
    if let Some(far) = chosen.iter().find(|cta| u32::try_from(**cta).is_err()) {
        let message = format!("CTA {far} is too far out: CTAs 0 to {} can be chosen", u32::MAX);
        return Err(BindError::new(message, None));
    }
    budgets.check(Limit::Ctas, chosen.len() as u64)?;
    let mut ctas = chosen.clone();
    ctas.sort_unstable();
    ctas.dedup();
    Ok(Clusters::Chosen(ctas))
}
