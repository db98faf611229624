//! The published schemas: generated from the wire types, then made complete.
//!
//! Complete means: every property has a description, an example and its change class; closed
//! mappings leave `x-…` free; no alternative is `null`; integers have both limits.

use std::sync::LazyLock;

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value as Json, json};

use super::wire;

/// The schema of a manifest: JSON Schema, draft 2020-12.
///
/// `x-change-class` says what a change of the property means for what was measured, `x-form` names
/// the form of a text, `x-later` lists words that later versions will know.
#[must_use]
pub fn schema() -> Json {
    of_manifest().clone()
}

/// The same, made once.
pub(super) fn of_manifest() -> &'static Json {
    static SCHEMA: LazyLock<Json> =
        LazyLock::new(|| generate::<wire::Manifest>("loadlab experiment v1"));
    &SCHEMA
}

/// The schema of a file `profiles/NAME.yaml`.
#[must_use]
pub fn profile_schema() -> Json {
    generate::<wire::Profile>("loadlab profile v1")
}

fn generate<T: JsonSchema>(title: &str) -> Json {
    let generator = SchemaSettings::draft2020_12().into_generator();
    let mut schema = generator.into_root_schema_for::<T>().to_value();
    schema["title"] = json!(title);
    let definitions = schema.get("$defs").cloned().unwrap_or_default();
    tidy(&mut schema, &definitions);
    let root = schema.clone();
    complete(&mut schema, &root, "method");
    schema
}

/// Every schema directly below one.
fn parts(schema: &mut Map<String, Json>) -> impl Iterator<Item = &mut Json> {
    schema
        .iter_mut()
        .flat_map(|(keyword, value)| -> Box<dyn Iterator<Item = &mut Json>> {
            match (keyword.as_str(), value) {
                ("properties" | "$defs" | "patternProperties", Json::Object(named)) => {
                    Box::new(named.values_mut())
                }
                ("oneOf" | "anyOf", Json::Array(branches)) => Box::new(branches.iter_mut()),
                ("items" | "additionalProperties" | "propertyNames", part @ Json::Object(_)) => {
                    Box::new(std::iter::once(part))
                }
                _ => Box::new(std::iter::empty()),
            }
        })
}

fn tidy(schema: &mut Json, definitions: &Json) {
    let Json::Object(members) = schema else {
        return;
    };
    without_null(members);
    inline_tagged(members, definitions);
    if let Some(Json::String(description)) = members.get_mut("description") {
        *description = description.replace('\n', " ");
    }
    if let Some(format) = members.remove("format") {
        let largest = match format.as_str() {
            Some("uint16") => u64::from(u16::MAX),
            Some("uint32") => u64::from(u32::MAX),
            _ => u64::MAX,
        };
        members.entry("maximum").or_insert_with(|| json!(largest));
    }
    if members.get("additionalProperties") == Some(&Json::Bool(false)) {
        members.insert("patternProperties".to_owned(), json!({"^x-": true}));
    }
    for part in parts(members) {
        tidy(part, definitions);
    }
}

/// An absent key is absent; `null` is never a value.
fn without_null(schema: &mut Map<String, Json>) {
    if let Some(Json::Array(types)) = schema.get_mut("type") {
        types.retain(|name| name != "null");
        if let [only] = types.as_slice() {
            schema["type"] = only.clone();
        }
    }
    let Some(Json::Array(branches)) = schema.get_mut("anyOf") else {
        return;
    };
    branches.retain(|branch| branch["type"] != "null");
    if let [Json::Object(only)] = branches.as_slice() {
        let only = only.clone();
        schema.remove("anyOf");
        for (keyword, value) in only {
            schema.entry(keyword).or_insert(value);
        }
    }
}

/// A branch that refers to a closed struct would refuse its own `kind`: the struct is written out.
fn inline_tagged(branch: &mut Map<String, Json>, definitions: &Json) {
    let tagged = branch
        .get("properties")
        .is_some_and(|properties| properties.get("kind").is_some());
    let reference = branch.get("$ref").and_then(Json::as_str).filter(|_| tagged);
    let name = reference.and_then(|reference| reference.strip_prefix("#/$defs/"));
    let Some(Json::Object(target)) = name.and_then(|name| definitions.get(name)) else {
        return;
    };
    branch.remove("$ref");
    for (keyword, value) in target.clone() {
        match (branch.get_mut(&keyword), value) {
            (Some(Json::Object(known)), Json::Object(more)) => known.extend(more),
            (Some(Json::Array(known)), Json::Array(more)) => known.extend(more),
            (Some(_), _) => {}
            (None, value) => {
                branch.insert(keyword, value);
            }
        }
    }
}

/// Gives every property its class, its example and its description.
fn complete(schema: &mut Json, root: &Json, class: &str) {
    let Json::Object(members) = schema else {
        return;
    };
    let class = match members.get("x-change-class") {
        Some(Json::String(own)) => own.clone(),
        _ => class.to_owned(),
    };
    if let Some(Json::Object(properties)) = members.get_mut("properties") {
        for (name, property) in properties {
            let example = example(property, root);
            let Json::Object(property) = property else {
                continue;
            };
            property
                .entry("x-change-class")
                .or_insert_with(|| json!(class));
            property
                .entry("examples")
                .or_insert_with(|| json!([example]));
            if name == "kind" {
                property.insert("description".to_owned(), json!("Which kind it is."));
            }
        }
    }
    for part in parts(members) {
        complete(part, root, &class);
    }
}

/// The schema that a reference leads to; the schema itself where it is none.
pub(super) fn resolve<'a>(schema: &'a Json, root: &'a Json) -> &'a Json {
    let mut schema = schema;
    while let Some(reference) = schema.get("$ref").and_then(Json::as_str) {
        match root.pointer(reference.trim_start_matches('#')) {
            Some(target) => schema = target,
            None => return schema,
        }
    }
    schema
}

/// A small value that the schema accepts: its own example, or one made of its parts' examples.
pub(super) fn example(schema: &Json, root: &Json) -> Json {
    let own = |schema: &Json| {
        let first = schema
            .pointer("/examples/0")
            .or_else(|| schema.pointer("/enum/0"));
        first.or_else(|| schema.get("const")).cloned()
    };
    if let Some(example) = own(schema) {
        return example;
    }
    let schema = resolve(schema, root);
    if let Some(example) = own(schema) {
        return example;
    }
    if let Some(first) = schema
        .pointer("/oneOf/0")
        .or_else(|| schema.pointer("/anyOf/0"))
    {
        return example(first, root);
    }
    example_of_branch(schema, root)
}

fn example_of_branch(schema: &Json, root: &Json) -> Json {
    match schema["type"].as_str() {
        Some("array") => json!([example(&schema["items"], root)]),
        Some("object") if schema["additionalProperties"].is_object() => {
            let key = example(&schema["propertyNames"], root);
            let key = key.as_str().unwrap_or_default().to_owned();
            Json::from(Map::from_iter([(
                key,
                example(&schema["additionalProperties"], root),
            )]))
        }
        Some("object") => {
            let required = schema["required"].as_array().into_iter().flatten();
            let names = required.filter_map(Json::as_str);
            names
                .map(|name| (name.to_owned(), example(&schema["properties"][name], root)))
                .collect()
        }
        Some("boolean") => json!(false),
        Some("integer") => schema.get("minimum").cloned().unwrap_or_else(|| json!(1)),
        Some(_) => json!("text"),
        None => example(schema, root),
    }
}
