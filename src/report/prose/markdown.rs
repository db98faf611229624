//! The author's Markdown, made harmless and turned to HTML.

use std::collections::BTreeMap;
use std::ops::Range;

use pulldown_cmark::{CowStr, Event, HeadingLevel, Options, Parser, Tag, TagEnd};

use super::super::error::RenderError;
use super::super::escape;

/// How often raw HTML is looked for again after some was shown as text.
const PASSES: usize = 8;

fn options() -> Options {
    Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH
}

/// The text without raw HTML, without control characters, and with links and images that lead nowhere
/// dangerous.
pub(super) fn harmless(
    name: &str,
    text: &str,
    charts: &BTreeMap<String, String>,
) -> Result<String, RenderError> {
    let mut text = visible(text);
    for _ in 0..PASSES {
        let raw = raw_html(&text);
        if raw.is_empty() {
            break;
        }
        for range in raw.into_iter().rev() {
            let shown = text[range.clone()].replace('<', "&lt;");
            text.replace_range(range, &shown);
        }
    }
    refuse_targets(name, &text, charts)?;
    Ok(text)
}

/// The text line by line with control characters and turns of direction shown; indents are kept.
fn visible(text: &str) -> String {
    let line = |line: &str| {
        let indent = line.len() - line.trim_start_matches(' ').len();
        let inner = line[indent..].split(' ').map(|word| {
            if word.is_empty() {
                String::new()
            } else {
                escape::plain(word)
            }
        });
        format!("{}{}", &line[..indent], inner.collect::<Vec<_>>().join(" "))
    };
    let lines: Vec<String> = text
        .replace("\r\n", "\n")
        .replace('\t', "    ")
        .split('\n')
        .map(line)
        .collect();
    lines.join("\n")
}

/// Where raw HTML stands, in order.
fn raw_html(text: &str) -> Vec<Range<usize>> {
    Parser::new_ext(text, options())
        .into_offset_iter()
        .filter(|(event, _)| matches!(event, Event::Html(_) | Event::InlineHtml(_)))
        .map(|(_, range)| range)
        .collect()
}

/// Refuses links that run something and images that are no chart of this report.
fn refuse_targets(
    name: &str,
    text: &str,
    charts: &BTreeMap<String, String>,
) -> Result<(), RenderError> {
    for (event, range) in Parser::new_ext(text, options()).into_offset_iter() {
        let message = match event {
            Event::Start(Tag::Link { dest_url, .. }) if !is_plain_target(&dest_url) => {
                format!(
                    "a link to `{}` is not allowed; expected https://, http://, mailto:, # or a relative path",
                    escape::plain(&dest_url)
                )
            }
            Event::Start(Tag::Image { dest_url, .. })
                if !charts.contains_key(dest_url.as_ref()) =>
            {
                let known = charts
                    .keys()
                    .map(String::as_str)
                    .collect::<Vec<_>>()
                    .join(", ");
                format!(
                    "the image `{}` is no chart of this report, and a page loads nothing from elsewhere; expected one of: {}",
                    escape::plain(&dest_url),
                    if known.is_empty() {
                        "none here"
                    } else {
                        &known
                    }
                )
            }
            _ => continue,
        };
        let line = 1 + text[..range.start].matches('\n').count();
        return Err(RenderError::Prose {
            text: name.to_owned(),
            line,
            message,
        });
    }
    Ok(())
}

/// Whether following a link runs nothing.
fn is_plain_target(target: &str) -> bool {
    let scheme = target.split(['/', '?', '#']).next().unwrap_or_default();
    match scheme.split_once(':') {
        Some((scheme, _)) => {
            ["https", "http", "mailto"].contains(&scheme.to_ascii_lowercase().as_str())
        }
        None => !target.starts_with("//"),
    }
}

/// Harmless Markdown as HTML; a single paragraph without its element.
pub(super) fn html(text: &str, charts: &BTreeMap<String, String>) -> String {
    let mut events = Vec::new();
    let mut parser = Parser::new_ext(text, options());
    while let Some(event) = parser.next() {
        match event {
            Event::Start(Tag::Image { dest_url, .. }) => {
                let chart = charts.get(dest_url.as_ref()).cloned().unwrap_or_default();
                for inner in parser.by_ref() {
                    if matches!(inner, Event::End(TagEnd::Image)) {
                        break;
                    }
                }
                events.push(Event::InlineHtml(CowStr::from(format!(
                    "<span class=\"figure\">{chart}</span>"
                ))));
            }
            Event::Html(raw) | Event::InlineHtml(raw) => events.push(Event::Text(raw)),
            Event::Start(Tag::Heading {
                level: HeadingLevel::H1,
                id,
                classes,
                attrs,
            }) => {
                events.push(Event::Start(Tag::Heading {
                    level: HeadingLevel::H2,
                    id,
                    classes,
                    attrs,
                }));
            }
            Event::End(TagEnd::Heading(HeadingLevel::H1)) => {
                events.push(Event::End(TagEnd::Heading(HeadingLevel::H2)));
            }
            Event::Start(Tag::Table(columns)) => {
                events.push(Event::Html(
                    "<div class=\"scroll\" tabindex=\"0\" role=\"group\" aria-label=\"Table\">"
                        .into(),
                ));
                events.push(Event::Start(Tag::Table(columns)));
            }
            Event::End(TagEnd::Table) => {
                events.push(Event::End(TagEnd::Table));
                events.push(Event::Html("</div>\n".into()));
            }
            other => events.push(other),
        }
    }
    let mut page = String::new();
    pulldown_cmark::html::push_html(&mut page, events.into_iter());
    single_paragraph(page.trim())
}

fn single_paragraph(page: &str) -> String {
    let inner = page
        .strip_prefix("<p>")
        .and_then(|it| it.strip_suffix("</p>"));
    inner
        .filter(|it| !it.contains("<p>"))
        .unwrap_or(page)
        .to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> String {
        let charts = BTreeMap::from([("charts/a.svg".to_owned(), "<svg></svg>".to_owned())]);
        html(&harmless("entry.md.j2", text, &charts).unwrap(), &charts)
    }

    fn fault(text: &str) -> String {
        harmless("entry.md.j2", text, &BTreeMap::new())
            .unwrap_err()
            .to_string()
    }

    #[test]
    fn raw_html_is_text() {
        for text in [
            "a <script>alert(1)</script> b",
            "<div onclick=alert(1)>\nx\n</div>",
            "<!-- hidden --> shown",
            "<svg/onload=alert(1)>",
            "a\n\n<style>\n* { display: none }\n</style>\n",
            "<<b>script>alert(1)<</b>/script>",
        ] {
            let page = shown(text);
            let live = ["p", "ul", "li"].iter().fold(page.clone(), |page, it| {
                page.replace(&format!("<{it}>"), "")
                    .replace(&format!("</{it}>"), "")
            });
            assert!(!live.contains('<'), "{text:?}: {page}");
            let written = harmless("entry.md.j2", text, &BTreeMap::new()).unwrap();
            assert!(raw_html(&written).is_empty(), "{written}");
        }
    }

    #[test]
    fn a_link_runs_nothing() {
        assert!(
            fault("x\n[a](javascript:alert(1))")
                .starts_with("entry.md.j2, line 2: a link to `javascript:")
        );
        assert!(fault("[a](DATA:text/html,x)").contains("not allowed"));
        assert!(fault("[a](//evil.example)").contains("not allowed"));
        assert_eq!(
            shown("[a](https://example.org/x)"),
            "<a href=\"https://example.org/x\">a</a>"
        );
        assert_eq!(shown("[a](#limits)"), "<a href=\"#limits\">a</a>");
    }

    #[test]
    fn an_image_is_a_chart_of_the_report() {
        assert!(fault("![x](https://example.org/x.png)").contains("loads nothing from elsewhere"));
        assert_eq!(
            shown("![x](charts/a.svg)"),
            "<span class=\"figure\"><svg></svg></span>"
        );
    }

    #[test]
    fn control_characters_are_shown() {
        assert_eq!(shown("a\u{1b}[31mb\u{202e}c"), "a\\u{1b}[31mb\\u{202e}c");
        assert_eq!(shown("one\r\n\r\ntwo"), "<p>one</p>\n<p>two</p>");
    }

    #[test]
    fn headings_stay_below_the_title() {
        assert_eq!(shown("# a"), "<h2>a</h2>");
        assert_eq!(shown("### a"), "<h3>a</h3>");
    }
}
