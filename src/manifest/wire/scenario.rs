//! What is asked and what must come back.

use schemars::JsonSchema;
use serde::Deserialize;

use super::leaf::Size;
use super::run::{HeaderName, PathText};
use super::shorthand::Named;

/// One kind of request with its expected answer.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(extend("x-change-class" = "method"))]
pub(in crate::manifest) struct Scenario {
    /// How the report calls it. Default: its name.
    #[schemars(example = &"One page of 20 KB", extend("x-change-class" = "cosmetic"), length(min = 1))]
    pub(in crate::manifest) title: Option<String>,
    /// What is sent.
    pub(in crate::manifest) request: Request,
    /// What must come back. Default: `{status: 200}` with any body.
    pub(in crate::manifest) expect: Option<Expect>,
    /// Whether it changes data; such a scenario is last. Default: false.
    #[schemars(example = false)]
    pub(in crate::manifest) changes_data: Option<bool>,
}

/// What is sent.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(extend("x-change-class" = "method", "x-later" = ["vary"]))]
pub(in crate::manifest) struct Request {
    /// The method, upper case. Default: GET.
    #[schemars(example = &"GET", regex(pattern = r"^[A-Z]{1,20}$"))]
    pub(in crate::manifest) method: Option<String>,
    /// Path with its query.
    #[schemars(example = &"/page.html", regex(pattern = r"^/[ -~]*$"))]
    pub(in crate::manifest) path: String,
    /// Headers; nothing else is sent but `host` and what the protocol needs. Default: none.
    #[schemars(example = serde_json::json!({"Accept-Encoding": "gzip"}))]
    pub(in crate::manifest) headers: Option<Named<HeaderName, String>>,
    /// The body. Default: none.
    pub(in crate::manifest) body: Option<Body>,
}

/// The body of a request.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
#[schemars(extend("x-change-class" = "method", "x-later" = ["lines"]))]
pub(in crate::manifest) enum Body {
    /// This text.
    Text {
        /// The text.
        #[schemars(example = &"hello")]
        text: String,
    },
    /// The bytes of a file.
    File {
        /// Its path, relative to the manifest.
        #[schemars(example = &"requests/body.json")]
        file: PathText,
    },
}

/// What must come back.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(extend("x-change-class" = "method"))]
pub(in crate::manifest) struct Expect {
    /// The status. Default: 200.
    #[schemars(range(min = 100, max = 599), example = 200)]
    pub(in crate::manifest) status: Option<u16>,
    /// Headers that must be there with exactly this value. Default: none.
    #[schemars(example = serde_json::json!({"Content-Encoding": "gzip"}))]
    pub(in crate::manifest) headers: Option<Named<HeaderName, String>>,
    /// The body, after content decoding. Default: any.
    pub(in crate::manifest) body: Option<ExpectBody>,
}

/// What the body must be, after content decoding.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
#[schemars(extend("x-change-class" = "method"))]
pub(in crate::manifest) enum ExpectBody {
    /// The bytes of a file.
    SameAsFile {
        /// Its path, relative to the manifest.
        #[schemars(example = &"nginx/page.html")]
        file: PathText,
    },
    /// Exactly this text.
    Text {
        /// The text.
        #[schemars(example = &"ok")]
        text: String,
    },
    /// This many bytes of anything.
    Length {
        /// Bytes after decoding.
        #[schemars(example = &"20078B")]
        bytes: Size,
    },
}

/// A request whose answer every fresh candidate must give before any load.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(extend("x-change-class" = "method"))]
pub(in crate::manifest) struct Check {
    /// What is sent.
    pub(in crate::manifest) request: Request,
    /// What must come back. Default: `{status: 200}` with any body.
    pub(in crate::manifest) expect: Option<Expect>,
    /// Whether the body must be the same for all candidates. Default: false.
    #[schemars(example = true)]
    pub(in crate::manifest) same_for_all_candidates: Option<bool>,
}
