//! `--only`: a part of a plan.

use std::collections::BTreeSet;

use regex::Regex;

use super::{Block, Plan, cost};
use crate::model::BlockId;

/// Patterns that select nothing.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NothingSelected {
    /// One of the patterns names no block of the plan.
    #[error(
        "`{pattern}` names no block of the plan; expected a phase ({phases}), a candidate ({candidates}) or a block such as `{example}`, where `*` and `?` stand for any text and any character"
    )]
    Pattern {
        /// The pattern, escaped for printing.
        pattern: String,
        /// The plan's phases.
        phases: String,
        /// The plan's candidates.
        candidates: String,
        /// The first block of the plan.
        example: String,
    },
    /// The plan has no blocks.
    #[error("the plan has no blocks")]
    EmptyPlan,
}

/// The blocks whose phase, candidate or own name (`fixed-rate.r01.plain`) matches one of the patterns,
/// in the plan's order. `*` stands for any text, `?` for any one character. No patterns: the whole plan.
///
/// A part is for looking at. What is measured of it is [`Asked`] of the whole plan.
///
/// # Errors
/// The first pattern that matches no block.
pub fn only(plan: &Plan, patterns: &[String]) -> Result<Plan, NothingSelected> {
    if patterns.is_empty() {
        return Ok(plan.clone());
    }
    let example = plan.blocks.first().ok_or(NothingSelected::EmptyPlan)?;
    let globs: Vec<Regex> = patterns.iter().map(|pattern| glob(pattern)).collect();
    for (glob, pattern) in globs.iter().zip(patterns) {
        if !plan.blocks.iter().any(|block| names(glob, block)) {
            return Err(NothingSelected::Pattern {
                pattern: pattern.escape_debug().to_string(),
                phases: listed(plan, |block| block.id.phase.to_string()),
                candidates: listed(plan, |block| block.id.candidate.to_string()),
                example: example.id.to_string(),
            });
        }
    }
    let selected = |block: &&Block| globs.iter().any(|glob| names(glob, block));
    let blocks: Vec<Block> = plan.blocks.iter().filter(selected).cloned().collect();
    Ok(Plan {
        totals: cost::part(&plan.totals, &blocks),
        blocks,
        ..plan.clone()
    })
}

/// What is asked for of a plan: the whole of it, or some of its blocks, which keep their places in it.
///
/// A block depends on no other one, so a part can be measured alone; the draft stays incomplete,
/// and cannot be published, until it has been resumed for the rest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Asked {
    /// The whole plan.
    pub plan: Plan,
    /// The blocks that are asked for; absent: every one.
    part: Option<BTreeSet<BlockId>>,
}

impl Asked {
    /// The blocks that one of the patterns names, as [`only`] reads them. No patterns: the whole plan.
    ///
    /// # Errors
    /// The first pattern that matches no block.
    pub fn of(plan: Plan, patterns: &[String]) -> Result<Self, NothingSelected> {
        let part = match patterns {
            [] => None,
            named => Some(only(&plan, named)?.blocks.into_iter().map(|block| block.id)),
        };
        Ok(Self {
            plan,
            part: part.map(Iterator::collect),
        })
    }

    /// Whether a block is asked for.
    #[must_use]
    pub fn includes(&self, block: &BlockId) -> bool {
        self.part.as_ref().is_none_or(|part| part.contains(block))
    }
}

impl From<Plan> for Asked {
    fn from(plan: Plan) -> Self {
        Self { plan, part: None }
    }
}

fn names(glob: &Regex, block: &Block) -> bool {
    glob.is_match(block.id.phase.as_str())
        || glob.is_match(block.id.candidate.as_str())
        || glob.is_match(&block.id.to_string())
}

fn glob(pattern: &str) -> Regex {
    let escaped = regex::escape(pattern)
        .replace(r"\*", ".*")
        .replace(r"\?", ".");
    let none = || Regex::new("[^\\s\\S]").expect("a class of nothing");
    Regex::new(&format!("^(?s:{escaped})$")).unwrap_or_else(|_| none())
}

fn listed(plan: &Plan, name: impl Fn(&Block) -> String) -> String {
    let mut names: Vec<String> = Vec::new();
    for block in &plan.blocks {
        let name = name(block);
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names.join(", ")
}
