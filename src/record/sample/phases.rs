//! The made-up phases.

use indexmap::IndexMap;

use super::inputs::{plain, rate};
use super::{Sample, name};
use crate::model::estimator::EstimateRule;
use crate::model::phase::LoadCommon;
use crate::model::{Centre, LoadShape, Metric, Nanoseconds, Phase, Quantile, Share};

fn common(sample: &Sample) -> LoadCommon {
    LoadCommon {
        warmup: Nanoseconds::seconds(1),
        duration: Nanoseconds::seconds(sample.window_s),
        timeout: Nanoseconds::seconds(2),
        quiet: Nanoseconds::seconds(2),
        keep_requests: 0,
    }
}

fn median(points: Option<Centre>) -> EstimateRule {
    EstimateRule {
        repetitions: Centre::Median,
        points,
    }
}

pub(super) fn fixed_rate(sample: &Sample) -> Phase {
    let p99: Quantile = plain("p99");
    let metrics = [
        Metric::Achieved,
        Metric::CpuPerRequest,
        Metric::BytesPerAnswer,
        Metric::MemoryPeak,
        Metric::Latency(Quantile::P50),
        Metric::Latency(p99),
    ];
    Phase {
        name: plain("fixed-rate"),
        title: "At a fixed rate".to_owned(),
        load: LoadShape::FixedRate {
            rates: IndexMap::from([(
                plain("page"),
                sample.rates.iter().copied().map(rate).collect(),
            )]),
            connections: 16,
            held_at: Share::percent(99),
            common: common(sample),
        },
        repetitions: sample.rounds,
        candidates: sample.candidates.iter().map(|it| name(it.name)).collect(),
        estimate: metrics
            .into_iter()
            .map(|metric| (metric, median(None)))
            .collect(),
        accept: None,
    }
}

pub(super) fn ceiling(sample: &Sample) -> Phase {
    let best = EstimateRule {
        repetitions: Centre::Best,
        points: Some(Centre::Best),
    };
    Phase {
        name: plain("ceiling"),
        title: "At the ceiling".to_owned(),
        load: LoadShape::Ceiling {
            scenarios: vec![plain("page")],
            connections: sample.ceiling.clone(),
            common: common(sample),
        },
        repetitions: sample.ceiling_rounds,
        candidates: sample.candidates.iter().map(|it| name(it.name)).collect(),
        estimate: IndexMap::from([
            (Metric::Achieved, best),
            (Metric::CpuPerRequest, median(None)),
        ]),
        accept: None,
    }
}
