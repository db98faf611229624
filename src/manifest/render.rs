//! Diagnostics as a compiler shows them. Untrusted text is made harmless here, once.

use std::fmt::Write as _;

use annotate_snippets::{AnnotationKind, Element, Group, Level, Renderer, Snippet};

use super::diagnostic::{Diagnostic, Faults, Place, Severity, SourceText};

/// Lines that one snippet may span; a label farther away gets its own.
const WINDOW: u32 = 30;

pub(super) fn text(faults: &Faults, color: bool) -> String {
    let renderer = if color {
        Renderer::styled()
    } else {
        Renderer::plain()
    };
    let mut shown = String::new();
    for diagnostic in &faults.diagnostics {
        shown.push_str(&renderer.render(&[group(diagnostic, &faults.sources)]));
        shown.push_str("\n\n");
    }
    if faults.left_out > 0 {
        writeln!(shown, "… and {} more", faults.left_out).expect("a string takes every text");
    }
    shown.truncate(shown.trim_end().len());
    shown.push('\n');
    shown
}

fn group<'a>(diagnostic: &'a Diagnostic, sources: &'a [SourceText]) -> Group<'a> {
    let level = match diagnostic.severity {
        Severity::Error => Level::ERROR,
        Severity::Note => Level::NOTE,
    };
    let title = level
        .primary_title(harmless(&diagnostic.message))
        .id(diagnostic.code.code());
    title.elements(snippets(diagnostic, sources)).elements(
        diagnostic
            .help
            .iter()
            .map(|help| Element::from(Level::HELP.message(harmless(help)))),
    )
}

/// The primary place with the labels near it, then every label that is far away.
fn snippets<'a>(diagnostic: &'a Diagnostic, sources: &'a [SourceText]) -> Vec<Element<'a>> {
    let Some(place) = &diagnostic.place else {
        return Vec::new();
    };
    let near = |other: &Place| other.file == place.file && other.line.abs_diff(place.line) < WINDOW;
    let labels = || diagnostic.labels.iter();
    let mut first = vec![(AnnotationKind::Primary, place, None)];
    first.extend(labels().filter(|label| near(&label.place)).map(|label| {
        (
            AnnotationKind::Context,
            &label.place,
            Some(label.text.as_str()),
        )
    }));
    let far = labels().filter(|label| !near(&label.place)).map(|label| {
        vec![(
            AnnotationKind::Context,
            &label.place,
            Some(label.text.as_str()),
        )]
    });
    std::iter::once(first)
        .chain(far)
        .filter_map(|marks| snippet(&marks, sources))
        .collect()
}

type Mark<'a> = (AnnotationKind, &'a Place, Option<&'a str>);

fn snippet<'a>(marks: &[Mark<'a>], sources: &'a [SourceText]) -> Option<Element<'a>> {
    let file = &marks.first()?.1.file;
    let text = sources
        .iter()
        .find(|source| source.name == *file)?
        .shown
        .as_str();
    let first = marks.iter().map(|(_, place, _)| place.start).min()?;
    let last = marks.iter().map(|(_, place, _)| place.start).max()?;
    let line = marks.iter().map(|(_, place, _)| place.line).min()?;
    let begin = text[..first].rfind('\n').map_or(0, |at| at + 1);
    let end = line_end(text, last);
    let annotations = marks.iter().map(|(kind, place, label)| {
        let until = place.end.min(line_end(text, place.start)).max(place.start);
        let annotation = kind.span(place.start - begin..until - begin);
        match label {
            Some(label) => annotation.label(harmless(label)),
            None => annotation,
        }
    });
    let snippet = Snippet::source(&text[begin..end])
        .line_start(line as usize)
        .path(harmless(file))
        .annotations(annotations);
    Some(snippet.into())
}

fn line_end(text: &str, from: usize) -> usize {
    text[from..]
        .find('\n')
        .map_or(text.len(), |length| from + length)
}

/// The text with control, bidirectional and invisible characters written as escapes.
pub(super) fn harmless(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for character in text.chars() {
        if character.is_control() || is_deceptive(character) {
            safe.extend(character.escape_default());
        } else {
            safe.push(character);
        }
    }
    safe
}

/// The text with such characters replaced by visible ones of the same length, so that places stay.
/// The C0 controls are left: the renderer shows them as pictures.
pub(super) fn harmless_in_place(text: &str) -> String {
    let replace = |character: char| match character.len_utf8() {
        _ if character != '\r' && !is_deceptive(character) && !is_c1(character) => character,
        1 => ' ',
        2 => '·',
        _ => char::REPLACEMENT_CHARACTER,
    };
    text.chars().map(replace).collect()
}

const fn is_c1(character: char) -> bool {
    matches!(character, '\u{80}'..='\u{9f}')
}

/// Characters that change the order or the look of others without being seen.
const fn is_deceptive(character: char) -> bool {
    matches!(character, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2028}' | '\u{2029}'
        | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}')
}
