//! What the engine costs a block.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use loadlab::engine::Engine;
use loadlab::measure::host;
use loadlab::model::Budget;

use crate::rig::{Rig, one_cpu, program};

/// Prints what the engine costs a block; run with `--ignored --nocapture` on a quiet machine.
#[tokio::test]
#[ignore = "measures time"]
async fn what_a_group_costs() {
    for cgroups in [true, false] {
        let rig = Rig::new("cost", cgroups);
        let mut costs: BTreeMap<&str, Duration> = BTreeMap::new();
        for _ in 0..20 {
            let began = Instant::now();
            let group = rig.reserve(Some(one_cpu()), Budget::default()).await;
            let mut step =
                |name, began: Instant| *costs.entry(name).or_default() += began.elapsed();
            step("1 reserve", began);
            let began = Instant::now();
            rig.engine
                .start(&group, &program(&["/bin/sleep", "1000"]))
                .await
                .unwrap();
            step("2 start", began);
            let began = Instant::now();
            rig.engine.read(&group).await.unwrap();
            step("3 read", began);
            let began = Instant::now();
            rig.engine.limits(&group).await.unwrap();
            step("4 limits", began);
            let began = Instant::now();
            rig.engine
                .stop(&group, &rig.folder.path().join("kept"))
                .await
                .unwrap();
            step("5 stop", began);
            let began = Instant::now();
            rig.engine.release(group).await.unwrap();
            step("6 release", began);
            let began = Instant::now();
            let _ = host::reading();
            step("7 host reading", began);
        }
        for (name, cost) in costs {
            println!("cgroups {cgroups}: {name}: {:?}", cost / 20);
        }
    }
}
