//! Types with one text form, in which they are read and written everywhere.

/// The two conversions that serde takes (`try_from` and `into` `String`), by what
/// [`FromStr`](std::str::FromStr) reads and [`Display`](std::fmt::Display) prints.
macro_rules! written {
    ($($name:ident, or $fault:ty;)*) => {$(
        impl TryFrom<String> for $name {
            type Error = $fault;

            fn try_from(text: String) -> Result<Self, $fault> {
                text.parse()
            }
        }

        impl From<$name> for String {
            fn from(value: $name) -> Self {
                value.to_string()
            }
        }
    )*};
}

pub(super) use written;
