use std::collections::BTreeMap;

use super::known::Known as About;
use super::*;
use crate::model::Known;

fn about(low: Option<f64>, high: Option<f64>) -> About {
    About {
        name: "it",
        weight: "something known",
        expected: 1.0,
        low,
        high,
        unit: RowUnit::Ratio,
    }
}

#[test]
fn a_row_is_judged_by_its_bounds_and_a_doubt_only_excuses_what_is_outside() {
    let doubt = || Some("a coarse counter".to_owned());
    let both = about(Some(0.99), Some(1.01));
    let cases: [(&[f64], Option<String>, Judgement); 6] = [
        (&[0.98, 1.0, 1.2], None, Judgement::Ok),
        (&[0.98, 0.98, 1.2], None, Judgement::NotOk),
        (&[1.02], doubt(), Judgement::CannotTell),
        (&[1.0], doubt(), Judgement::Ok),
        (&[1.01], None, Judgement::Ok),
        (&[], None, Judgement::CannotTell),
    ];
    for (values, doubt, expected) in cases {
        let row = both.of(values, || "nothing".to_owned()).unless(doubt);
        assert_eq!(row.judgement, expected, "{values:?}");
    }
    let reported = about(None, None).of(&[25.0], String::new);
    assert_eq!(reported.judgement, Judgement::Reported);
    let nothing = both.of(&[], || "nothing was measured".to_owned());
    assert_eq!(nothing.because.as_deref(), Some("nothing was measured"));
}

fn siblings(pairs: &[&str]) -> BTreeMap<u32, CpuSet> {
    let sets = pairs.iter().map(|pair| pair.parse::<CpuSet>().unwrap());
    let of_each = sets.map(|set| set.iter().map(|cpu| (cpu, set.clone())).collect::<Vec<_>>());
    of_each.flatten().collect()
}

#[test]
fn roles_get_cores_of_their_own_where_there_are_any() {
    let split_of = |online: &str, siblings: &Known<_>, allowed: &str| {
        let split = split(
            &online.parse().unwrap(),
            siblings,
            &allowed.parse().unwrap(),
        )?;
        Some((
            split.candidate.to_string(),
            split.load.to_string(),
            split.caveat,
        ))
    };
    let text = |text: &str| text.to_owned();
    let apart = |candidate: &str, load: &str| Some((text(candidate), text(load), None));
    let four = Known::Value(siblings(&["0,2", "1,3"]));
    assert_eq!(split_of("0-3", &four, "0-3"), apart("3", "2"));
    assert_eq!(split_of("0-3", &four, "0,1,3"), apart("3", "0"));
    assert_eq!(split_of("0-3", &four, "2"), None);
    assert_eq!(split_of("0-3", &four, "7-9"), None);
    let shared = split_of("0-3", &four, "1,3").unwrap();
    let caveat = "CPU 1 of the load is a hyper-thread sibling of the candidate's CPU 3";
    assert_eq!(shared, (text("3"), text("1"), Some(text(caveat))));
    let unknown = split_of("0,1", &Known::Absent(text("no such file")), "0,1").unwrap();
    let caveat = "hyper-thread siblings are not known: no such file";
    assert_eq!(unknown, (text("1"), text("0"), Some(text(caveat))));
}

#[test]
fn the_embedded_manifest_names_the_cores() {
    let split = Split {
        candidate: "5".parse().unwrap(),
        load: "4".parse().unwrap(),
        caveat: None,
    };
    let manifest = manifest(&split);
    assert!(manifest.contains(r#"cores: {candidate: "5", load: "4"}"#));
    assert!(!manifest.contains("{CANDIDATE}") && !manifest.contains("{LOAD}"));
}
