//! JSON as `serde_json` writes it for people, with each line's indentation written at once.

use std::io::{self, Write};

use serde::Serialize;
use serde_json::Serializer;
use serde_json::ser::Formatter;

/// Writes a value with an indentation of two spaces.
pub(super) fn write<T: Serialize>(value: &T, to: &mut impl Write) -> io::Result<()> {
    let mut serializer = Serializer::with_formatter(to, Indented::default());
    Ok(value.serialize(&mut serializer)?)
}

/// A line end and the deepest indentation that is written at once.
const LINE: &[u8; 41] = b"\n                                        ";

#[derive(Default)]
struct Indented {
    depth: usize,
    has_value: bool,
}

impl Indented {
    fn begin<W: ?Sized + Write>(&mut self, to: &mut W, bracket: &[u8]) -> io::Result<()> {
        self.depth += 1;
        self.has_value = false;
        to.write_all(bracket)
    }

    fn end<W: ?Sized + Write>(&mut self, to: &mut W, bracket: &[u8]) -> io::Result<()> {
        self.depth -= 1;
        if self.has_value {
            self.line(to)?;
        }
        to.write_all(bracket)
    }

    fn next<W: ?Sized + Write>(&self, to: &mut W, first: bool) -> io::Result<()> {
        if !first {
            to.write_all(b",")?;
        }
        self.line(to)
    }

    fn line<W: ?Sized + Write>(&self, to: &mut W) -> io::Result<()> {
        let wanted = 1 + 2 * self.depth;
        let at_once = wanted.min(LINE.len());
        to.write_all(&LINE[..at_once])?;
        (at_once..wanted).try_for_each(|_| to.write_all(b" "))
    }
}

impl Formatter for Indented {
    fn begin_array<W: ?Sized + Write>(&mut self, to: &mut W) -> io::Result<()> {
        self.begin(to, b"[")
    }

    fn end_array<W: ?Sized + Write>(&mut self, to: &mut W) -> io::Result<()> {
        self.end(to, b"]")
    }

    fn begin_array_value<W: ?Sized + Write>(&mut self, to: &mut W, first: bool) -> io::Result<()> {
        self.next(to, first)
    }

    fn end_array_value<W: ?Sized + Write>(&mut self, _: &mut W) -> io::Result<()> {
        self.has_value = true;
        Ok(())
    }

    fn begin_object<W: ?Sized + Write>(&mut self, to: &mut W) -> io::Result<()> {
        self.begin(to, b"{")
    }

    fn end_object<W: ?Sized + Write>(&mut self, to: &mut W) -> io::Result<()> {
        self.end(to, b"}")
    }

    fn begin_object_key<W: ?Sized + Write>(&mut self, to: &mut W, first: bool) -> io::Result<()> {
        self.next(to, first)
    }

    fn begin_object_value<W: ?Sized + Write>(&mut self, to: &mut W) -> io::Result<()> {
        to.write_all(b": ")
    }

    fn end_object_value<W: ?Sized + Write>(&mut self, _: &mut W) -> io::Result<()> {
        self.has_value = true;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::{Value, json};

    fn values() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<u32>().prop_map(Value::from),
            ".{0,6}".prop_map(Value::from),
        ];
        leaf.prop_recursive(5, 40, 4, |inner| {
            let list = proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::from);
            let map = proptest::collection::btree_map(".{0,4}", inner, 0..4);
            prop_oneof![list, map.prop_map(|it| it.into_iter().collect())]
        })
    }

    fn agrees(value: &Value) {
        let mut written = Vec::new();
        write(value, &mut written).unwrap();
        assert_eq!(written, serde_json::to_vec_pretty(value).unwrap());
    }

    proptest! {
        #[test]
        fn it_is_what_serde_json_writes(value in values()) {
            agrees(&value);
        }
    }

    #[test]
    fn deeper_than_what_is_written_at_once() {
        agrees(&(0..30).fold(json!({"a": [], "b": {}}), |inner, _| json!([1, inner, 2])));
    }
}
