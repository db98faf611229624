//! Shapes that the derive macros cannot say: ordered mappings by name, one or many, plain values.

use std::borrow::Cow;
use std::fmt;
use std::hash::Hash;
use std::marker::PhantomData;

use indexmap::IndexMap;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::value::SeqAccessDeserializer;
use serde::de::{self, Deserialize, Deserializer, SeqAccess, Visitor};

/// A mapping from names that the author chooses, in the order of the file, not empty.
#[derive(Debug)]
pub(in crate::manifest) struct Named<K: Eq + Hash, V>(pub(in crate::manifest) IndexMap<K, V>);

impl<'de, K: Deserialize<'de> + Eq + Hash, V: Deserialize<'de>> Deserialize<'de> for Named<K, V> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        IndexMap::deserialize(deserializer).map(Self)
    }
}

impl<K: JsonSchema + Eq + Hash, V: JsonSchema> JsonSchema for Named<K, V> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        format!("{}By{}", V::schema_name(), K::schema_name()).into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let (keys, values) = (
            generator.subschema_for::<K>(),
            generator.subschema_for::<V>(),
        );
        json_schema!({
            "type": "object",
            "propertyNames": keys,
            "additionalProperties": values,
            "minProperties": 1,
        })
    }
}

/// A list of at least one.
#[derive(Debug, serde::Deserialize)]
#[serde(transparent)]
pub(in crate::manifest) struct NonEmpty<T>(pub(in crate::manifest) Vec<T>);

impl<T: JsonSchema> JsonSchema for NonEmpty<T> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        format!("Some{}", T::schema_name()).into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        json_schema!({"type": "array", "items": generator.subschema_for::<T>(), "minItems": 1})
    }
}

/// One value, or a list of several different ones.
#[derive(Debug)]
pub(in crate::manifest) struct OneOrMany<T>(pub(in crate::manifest) Vec<T>);

impl<T: JsonSchema> JsonSchema for OneOrMany<T> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        format!("OneOrMany{}", T::schema_name()).into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let one = generator.subschema_for::<T>();
        json_schema!({
            "anyOf": [one, {"type": "array", "items": one, "minItems": 1, "uniqueItems": true}],
        })
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for OneOrMany<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Either<T>(PhantomData<T>);

        impl<'de, T: Deserialize<'de>> Visitor<'de> for Either<T> {
            type Value = Vec<T>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("one value or a list")
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<Vec<T>, E> {
                T::deserialize(de::value::StrDeserializer::new(text)).map(|one| vec![one])
            }

            fn visit_u64<E: de::Error>(self, number: u64) -> Result<Vec<T>, E> {
                T::deserialize(de::value::U64Deserializer::new(number)).map(|one| vec![one])
            }

            fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<Vec<T>, A::Error> {
                Vec::deserialize(SeqAccessDeserializer::new(list))
            }
        }

        deserializer.deserialize_any(Either(PhantomData)).map(Self)
    }
}

/// A text, a whole number or a boolean; kept as text.
#[derive(Debug, Clone)]
pub(in crate::manifest) struct PlainValue(pub(in crate::manifest) String);

impl JsonSchema for PlainValue {
    fn schema_name() -> Cow<'static, str> {
        "PlainValue".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": ["string", "integer", "boolean"],
            "description": "A text, a whole number or a boolean; kept as text.",
            "examples": ["32"],
        })
    }
}

impl<'de> Deserialize<'de> for PlainValue {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Plain;

        impl Visitor<'_> for Plain {
            type Value = String;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a text, a whole number or a boolean")
            }

            fn visit_str<E>(self, text: &str) -> Result<String, E> {
                Ok(text.to_owned())
            }

            fn visit_u64<E>(self, number: u64) -> Result<String, E> {
                Ok(number.to_string())
            }

            fn visit_i64<E>(self, number: i64) -> Result<String, E> {
                Ok(number.to_string())
            }

            fn visit_bool<E>(self, boolean: bool) -> Result<String, E> {
                Ok(boolean.to_string())
            }
        }

        deserializer.deserialize_any(Plain).map(Self)
    }
}
