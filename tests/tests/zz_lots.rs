//! Temporary.
use volta_suite::fuzz;
fn lot(seed: u64) -> Vec<u8> {
    let mut s = seed.wrapping_mul(0x9e3779b97f4a7c15).wrapping_add(12345);
    let mut next = || {
        s ^= s << 13;
        s ^= s >> 7;
        s ^= s << 17;
        s
    };
    let len = (next() % 200) as usize;
    (0..len).map(|_| (next() >> 33) as u8).collect()
}
#[test]
fn lots() {
    let from: u64 = std::env::var("FROM").unwrap().parse().unwrap();
    let to: u64 = std::env::var("TO").unwrap().parse().unwrap();
    for seed in from..to {
        let d = lot(seed);
        let t = std::time::Instant::now();
        eprintln!("start {seed}");
        fuzz::verification(&d);
        let e = t.elapsed();
        if e.as_secs_f64() > 0.5 {
            eprintln!("SLOW {seed} {e:?}");
        }
    }
}
