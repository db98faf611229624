//! The closed list of diagnostic codes. Each explains itself.

use std::fmt;

use serde::{Serialize, Serializer};

use crate::model::code::Explanation;

macro_rules! diagnostic_codes {
    ($($variant:ident = $code:literal, $meaning:literal, $remedy:literal;)*) => {
        /// What kind of fault a diagnostic reports. Text form: `L101`.
        ///
        /// `L0..` is about the text, `L1..` about the shape, `L2..` about the meaning.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum DiagnosticCode {
            $(#[doc = $meaning] $variant,)*
        }

        impl DiagnosticCode {
            /// Every code of the list.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];

            /// The code as text.
            #[must_use]
            pub const fn code(self) -> &'static str {
                match self { $(Self::$variant => $code,)* }
            }

            /// What it means and what to do about it.
            #[must_use]
            pub const fn explain(self) -> Explanation {
                match self {
                    $(Self::$variant => Explanation { meaning: $meaning, remedy: $remedy },)*
                }
            }
        }
    };
}

diagnostic_codes! {
    Unreadable = "L001",
        "The manifest or the profile could not be read.",
        "Check the path; a folder is read as its `experiment.yaml`.";
    NotUtf8 = "L002",
        "The file is not UTF-8 text.",
        "Save it as UTF-8.";
    Syntax = "L003",
        "The file is not YAML: it cannot be read beyond this place.",
        "Look at this line and the one before it: a colon, bracket, quote or indentation is missing.";
    TooLarge = "L004",
        "The file is larger, or nested deeper, than any manifest needs to be (4 MiB, 48 levels).",
        "Split the experiment, or move long texts into files.";
    Tab = "L005",
        "A tab stands between the parts of the file; YAML counts indentation in spaces.",
        "Replace it by spaces. Inside quotes a tab is written `\\t`.";
    SeveralDocuments = "L006",
        "The file holds several YAML documents; a manifest is one.",
        "Remove the `---` line and what follows it, or make it a file of its own.";
    DuplicateKey = "L007",
        "The same key stands twice in one mapping, so that one value would be lost.",
        "Keep one of them.";
    MergeKey = "L008",
        "A merge key (`<<`) is not part of YAML 1.2.",
        "Use `defaults.candidate` for what all candidates have in common.";
    Tag = "L009",
        "A tag (`!…`) gives a value a type; here types follow from the schema.",
        "Remove the tag; put a text in quotes.";
    Alias = "L010",
        "An anchor (`&…`) or alias (`*…`) makes one part of the file stand for another.",
        "Write the value out, or use `defaults.candidate`.";
    KeyNotText = "L011",
        "A key is no plain text: a number, `true`, nothing, a list or a mapping.",
        "Put the key in quotes.";
    AmbiguousBoolean = "L012",
        "A word that some YAML readers take for a boolean and others for a text.",
        "Write `true` or `false`; for the word itself put it in quotes.";
    AmbiguousNumber = "L013",
        "A number that YAML readers understand differently, or that no field can hold: leading zero, octal, hexadecimal, infinite, not a number, or beyond 64 bits.",
        "Write it as a plain decimal number; for the text itself put it in quotes.";
    Empty = "L014",
        "The manifest says nothing.",
        "Begin with what `loadlab init NAME` writes.";
    Directive = "L015",
        "A YAML directive (`%…`) changes how the rest of the file is read.",
        "Remove it: manifests are YAML 1.2.";
    Unprintable = "L016",
        "A control character that no text file should hold.",
        "Remove it; inside double quotes it is written as an escape such as `\\e`.";

    UnknownKey = "L101",
        "A key that has no meaning at this place.",
        "Correct the word, or begin it with `x-` if it is a note of your own.";
    MissingKey = "L102",
        "A key that must be given is not there.",
        "Add it.";
    WrongType = "L103",
        "A value of another type than the key takes.",
        "Write the value as the message shows.";
    UnknownWord = "L104",
        "A word that is none of those that the key takes.",
        "Use one of the words listed.";
    BareNumber = "L105",
        "A number without its unit.",
        "Write the unit: `30s`, `50000/s`, `1GiB`, `95%`.";
    Malformed = "L106",
        "A text that has not the form that the key takes.",
        "Write it as the example shows.";
    OutOfRange = "L107",
        "A number or a text that is smaller, larger or longer than the key takes.",
        "Use a value within the limits shown.";
    NothingGiven = "L108",
        "A list, mapping or text that must hold something holds nothing.",
        "Add at least one entry, or remove the key if it may be absent.";
    NotInThisVersion = "L109",
        "Something that the language will have but this version of loadlab cannot do.",
        "Leave it out; `kind: process` and `kind: stub` are what can run today.";
    MissingKind = "L110",
        "A mapping of several kinds does not say which one it is.",
        "Add `kind:` with one of the words listed.";
    Repeated = "L111",
        "The same value stands twice in a list.",
        "Keep one of them.";
    Unfit = "L112",
        "A value that passed the schema could not be taken over.",
        "This is a gap in loadlab's checks: please report it with the manifest.";

    CoresOverlap = "L201",
        "Two roles share a CPU: they would slow each other down, and that would be part of every number.",
        "Give them different CPUs. On a machine that is too small, a profile may say `share: true`.";
    TooFewCores = "L202",
        "A role has fewer CPUs than its budget says.",
        "Add CPUs to `cores`, or lower `budgets`.";
    UnknownRole = "L203",
        "A role that the experiment does not have.",
        "Roles are `candidate`, `load`, `probe` and the names under `services`.";
    ReservedName = "L204",
        "A service has the name of a role that always exists.",
        "Give the service another name than `candidate`, `load` or `probe`.";
    TooFewRequests = "L205",
        "Rate times duration gives too few requests for a quantile that is to be estimated.",
        "Measure longer, at a higher rate, or ask for a lower quantile.";
    GeneratorMemory = "L206",
        "The load generator keeps every answer in memory (0.42 KiB each), and they do not fit its budget.",
        "Raise `budgets.load.memory`, or plan a shorter window or a lower rate.";
    FileMissing = "L207",
        "A file that the manifest names does not exist or cannot be read.",
        "Paths are relative to the manifest.";
    OutsideFolder = "L208",
        "A path that leads out of the experiment's folder, or is not written plainly.",
        "Copy the file into the folder and name it relative to the manifest, with `/`, without `..`.";
    NotAFile = "L209",
        "A path that names a folder, a device, a pipe or a socket instead of a file.",
        "Name a regular file.";
    ChangesData = "L210",
        "A scenario that changes data stands before another one, which would then meet other data.",
        "Put it last, in `scenarios` and in `rates`.";
    Placeholder = "L211",
        "A placeholder that cannot be read.",
        "Placeholders are `{{ port }}`, `{{ port.NAME }}`, `{{ work }}`, `{{ value.NAME }}`, `{{ budget.FIELD }}`, `{{ service.NAME.FIELD }}`, `{{ member.NAME.FIELD }}`.";
    PlaceholderUnknown = "L212",
        "A placeholder that names something that does not exist here.",
        "Declare the port, value, service, member or budget, or correct the name.";
    Pattern = "L213",
        "A regular expression that cannot be compiled or has no group to read.",
        "The first group in parentheses is what is read.";
    Formula = "L214",
        "A formula that cannot be read.",
        "Formulas use `value(…)`, numbers, `+ - * /` and parentheses.";
    UnknownName = "L215",
        "A name of something that the manifest does not declare.",
        "Correct the name, or declare it.";
    NotEstimated = "L216",
        "A metric that the phase does not estimate is asked for.",
        "Add it to the phase's `estimate`.";
    WrongPhase = "L217",
        "A phase of another kind of load is needed here.",
        "Name a phase whose `load.kind` fits.";
    Unclear = "L218",
        "A name leaves open which of several numbers is meant.",
        "Say the scenario, phase or load point.";
    ProbeFloor = "L219",
        "The probe is to reach a higher rate than it is driven at.",
        "Lower `probe.at_least` or raise `probe.load.rate`.";
    NoTime = "L220",
        "A length of time that must be longer than nothing is zero.",
        "Give it a length.";
    UnknownProfile = "L221",
        "No such profile in the manifest's `profiles` or in the folder `profiles/` beside it.",
        "Name one that exists, or write it.";
    StrictSharing = "L223",
        "The manifest demands strict isolation and the profile shares cores.",
        "Use a machine with cores for every role, or a manifest without `isolation: strict`.";
    SameCandidate = "L224",
        "A candidate is compared with itself.",
        "Name two different candidates.";
    NoCores = "L225",
        "A role has no CPUs: neither the manifest nor the profile says which ones.",
        "Add them to `cores`, or name a profile with `--profile`.";
    NeverHeld = "L226",
        "Only repetitions that held their rate are to be accepted, but a ceiling plans no rate.",
        "Leave `accept` out of ceiling phases.";
    NotMeasured = "L227",
        "A scenario that no phase measures.",
        "Add it to a phase, or remove it.";
    Balance = "L228",
        "The rounds are fewer than, or no multiple of, what a balanced order needs: carry-over between candidates is not balanced fully.",
        "Use as many rounds as candidates, twice as many for an odd number.";
    Rendered = "L229",
        "A file that is rendered (`.j2`) is no valid template.",
        "Correct it at the line shown; its values are the placeholders' names.";
    NoTarget = "L230",
        "An HTTP step stands where nothing is running yet that it could ask.",
        "Move it into the `prewarm` of a candidate or a service.";
    NoPort = "L231",
        "Requests have nowhere to go: the role has no port.",
        "Give a member a port in `ports`, or name it in `endpoint`.";
    NoProgram = "L232",
        "Neither the candidate nor `defaults.candidate` says what runs.",
        "Add `run` with a `kind`, and for a process its `command`.";
    NoBudget = "L233",
        "A number of cores or another limit is needed here but the budget does not say it.",
        "Add it to `budgets`.";
    NotOneAnswer = "L234",
        "A status that cannot be the final answer to a request.",
        "Use a status from 200 to 599.";
    Compared = "L235",
        "Answers are to be the same for all candidates but there is only one.",
        "Add a candidate, or leave the comparison out.";
    BeyondMeaning = "L236",
        "A quantity that is written rightly and cannot be meant: too large to be kept, not exact in the unit that is kept, or outside what makes sense here.",
        "Use a value within the limits shown.";
    NeverShown = "L237",
        "Settings of the test server that contradict each other: it could not start, or a fault that is asked for would never show.",
        "Change one of the settings that the message names.";
    StandardsTooHeavy = "L238",
        "Planted servers would need more CPU or memory than the candidate has: what they show would be the limit, not the difference.",
        "Lower `standards.rate`, `standards.work` or the difference, or raise `budgets.candidate`.";
    PlantedTwice = "L239",
        "The same difference is planted twice: written as a share alone it is one of `kind: cpu`.",
        "Keep one of them.";
    PlaceholderInValue = "L240",
        "A placeholder in a value: values are put in as they are written, so that its braces would stand in the command or the file.",
        "Write the placeholder where the value is used, in the command or the rendered file.";
}

impl fmt::Display for DiagnosticCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.code())
    }
}

impl Serialize for DiagnosticCode {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.code())
    }
}

/// Every diagnostic code.
#[must_use]
pub const fn codes() -> &'static [DiagnosticCode] {
    DiagnosticCode::ALL
}

/// What a diagnostic code means and what to do about it; absent for a word that is none.
#[must_use]
pub fn explain(code: &str) -> Option<Explanation> {
    let known = codes().iter().find(|known| known.code() == code)?;
    Some(known.explain())
}
