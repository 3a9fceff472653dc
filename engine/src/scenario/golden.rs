//! The golden Runs: links whose run hash is pinned, so that native and wasm builds, browsers and
//! later builds of one epoch are held to the same behaviour. Must never know the hashes: they are
//! in the table of `cargo xtask golden`.

/// A Run whose hash is pinned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GoldenRun {
    /// Short name.
    pub name: &'static str,
    /// The Run.
    pub link: &'static str,
    /// The tick whose hash is pinned.
    pub ticks: u32,
}

const fn golden(name: &'static str, link: &'static str, ticks: u32) -> GoldenRun {
    GoldenRun { name, link, ticks }
}

/// All golden Runs: every size, number of clients, profile, with and without crashes, acts, stories.
pub const GOLDEN: &[GoldenRun] = &[
    golden("one-replica", "v=1&seed=1&replicas=1", 2_000),
    golden("two-replicas", "v=1&seed=2&replicas=2&clients=2", 2_000),
    golden("page-default", "v=1&seed=211", 4_000),
    golden(
        "three-crashes",
        "v=1&seed=211&crash=0.02&restart=0.08&crash-primary=yes",
        4_000,
    ),
    golden(
        "three-light",
        "v=1&seed=3&clients=2&faults=light&crash=0.002&restart=0.01",
        4_000,
    ),
    golden(
        "three-heavy",
        "v=1&seed=4&clients=3&faults=heavy&crash=0.005&restart=0.02&crash-primary=yes",
        4_000,
    ),
    golden(
        "four-lossy",
        "v=1&seed=5&replicas=4&clients=4&loss=0.15&replay=0.05&delay-mean=10",
        3_000,
    ),
    golden(
        "five-partitions",
        "v=1&seed=6&replicas=5&clients=2&partition=0.01&unpartition=0.01\
         &partition-stability=80&partition-mode=uniform-partition",
        4_000,
    ),
    golden(
        "five-heavy",
        "v=1&seed=7&replicas=5&clients=8&faults=heavy&crash=0.01&restart=0.02&crash-primary=yes\
         &load=0.2",
        3_000,
    ),
    golden(
        "six-clogs",
        "v=1&seed=8&replicas=6&clients=2&clog=0.01&clog-mean=40&capacity=8&load=0.5",
        2_000,
    ),
    golden(
        "seven-heavy",
        "v=1&seed=9&replicas=7&clients=8&faults=heavy&load=1",
        2_000,
    ),
    golden(
        "eight-light",
        "v=1&seed=10&replicas=8&clients=5&faults=light&crash=0.01&restart=0.05&crash-primary=yes",
        2_000,
    ),
    golden(
        "nine-heavy",
        "v=1&seed=18446744073709551615&replicas=9&clients=8&faults=heavy&crash=0.01&restart=0.05\
         &crash-primary=yes",
        2_000,
    ),
    golden(
        "short-timers",
        "v=1&seed=11&heartbeat=5&heartbeat-wait=20&view-change-wait=40&vote-resend=10&probe=10\
         &prepare-resend=5&repair-retry=10&repair-chunk=8&pipeline=4&load=0.3&loss=0.05",
        2_000,
    ),
    golden(
        "acts",
        "v=1&seed=12&act=100.crash.0_700.cut.1-2_800.restart.0_1400.heal_1500.clog.0to1.100\
         _1500.delay.1to2.20_1600.hold.2to1.PrepareOk_1700.pause.2_1800.resume.2\
         _1900.release.2to1_2000.load.200000_2100.profile.light_2400.set.loss.0",
        3_000,
    ),
    golden(
        "four-partitions",
        "v=1&seed=13&clients=3&partitions=4&faults=heavy&load=0.2&crash=0.005&restart=0.02\
         &crash-primary=yes&act=200.filter.0to12.Commit.meta_600.heal_700.write.c0.g3",
        2_000,
    ),
    golden(
        "two-shards",
        "v=1&seed=14&clients=3&partitions=3&shards=2&plane=mixed&faults=heavy&load=0.2&crash=0.005\
         &restart=0.02&crash-primary=yes",
        2_000,
    ),
    golden(
        "four-shards",
        "v=1&seed=15&faults=swarm&replicas=5&partitions=4&shards=4&mesh=4&load=0.3",
        2_000,
    ),
    golden("opening", "v=1&story=opening", 600),
    golden("story-a1", "v=1&story=a1", 4_000),
    golden("story-a15", "v=1&story=a15", 4_000),
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::decode;

    #[test]
    fn golden_links_decode_and_cover_every_size() {
        let mut sizes: Vec<u8> = GOLDEN
            .iter()
            .map(|golden| match decode(golden.link) {
                Ok(run) => run.cluster.replicas,
                Err(error) => panic!("{}: {error}", golden.name),
            })
            .collect();
        sizes.sort_unstable();
        sizes.dedup();
        assert_eq!(sizes, (1..=9).collect::<Vec<u8>>());
    }
}
