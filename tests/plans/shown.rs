//! What a person and a program read of a plan.

use loadlab::model::Experiment;
use loadlab::plan::{self, Plan};
use serde_json::{Value, json};

use super::planned;
use crate::web_study::machine::{Machine, pin};
use crate::web_study::{experiment, set, study};

#[test]
fn what_a_person_reads() {
    let experiment = experiment(&study());
    let open = plan::build(&experiment, None);
    insta::assert_snapshot!(
        "study",
        plan::display(&experiment, &open, &plan::caveats(&experiment, &open))
    );
    let mut model = study();
    set(&mut model, "/phases/fixed-rate/repetitions", json!(40));
    set(&mut model, "/sharing", json!("declared"));
    set(
        &mut model,
        "/phases/fixed-rate/load/common/warmup",
        json!("0s"),
    );
    let experiment = serde_json::from_value(model).unwrap();
    let plan = plan::build(&experiment, Some(&pin(&experiment, Machine::default())));
    let part = plan::only(&plan, &["fixed-rate".to_owned()]).unwrap();
    insta::assert_snapshot!("many-rounds", plan::display(&experiment, &part, &[]));
}

#[test]
fn the_expanded_model_reads_back_to_the_same_experiment() {
    let mut model = study();
    let title = json!("é \u{1b}[31m \u{9b} \u{202e} \u{e0041} \n");
    set(&mut model, "/page/title", title);
    let experiment = experiment(&model);
    let text = plan::expanded(&experiment);
    assert!(text.ends_with("}\n"));
    let line = text
        .lines()
        .find(|line| line.contains("\"title\""))
        .unwrap();
    let shown = r#"    "title": "é \u001b[31m \u009b \u202e \udb40\udc41 \n","#;
    assert_eq!(line, shown);
    assert_eq!(
        serde_json::from_str::<Experiment>(&text).unwrap(),
        experiment
    );
}

#[test]
fn plans_are_as_the_schema_says() {
    let schema: Value = serde_json::from_str(plan::SCHEMA).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    let experiment = experiment(&study());
    for plan in [planned(&study()), plan::build(&experiment, None)] {
        let text = serde_json::to_string(&plan).unwrap();
        let value: Value = serde_json::from_str(&text).unwrap();
        let faults: Vec<String> = validator
            .iter_errors(&value)
            .map(|fault| fault.to_string())
            .collect();
        assert_eq!(faults, Vec::<String>::new());
        assert_eq!(serde_json::from_str::<Plan>(&text).unwrap(), plan);
        for pointer in [
            "/seed",
            "/blocks/0/method_key",
            "/blocks/0/measurements/0/at",
            "/totals/wall_seconds",
            "/blocks/0/round",
        ] {
            let mut broken = value.clone();
            set(&mut broken, pointer, json!("none"));
            assert!(!validator.is_valid(&broken), "{pointer}");
            let (parent, key) = pointer.rsplit_once('/').unwrap();
            broken
                .pointer_mut(parent)
                .unwrap()
                .as_object_mut()
                .unwrap()
                .remove(key);
            assert!(!validator.is_valid(&broken), "{pointer} removed");
            set(
                &mut broken,
                pointer,
                value.pointer(pointer).unwrap().clone(),
            );
            assert!(validator.is_valid(&broken));
            set(&mut broken, &format!("{parent}/more"), json!(1));
            assert!(!validator.is_valid(&broken), "{pointer} and more");
        }
    }
}
