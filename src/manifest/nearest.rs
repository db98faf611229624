//! The word that was probably meant.

/// The word that was probably meant.
pub(super) fn nearest<'w>(word: &str, known: impl Iterator<Item = &'w str>) -> Option<&'w str> {
    let plain = |text: &str| text.to_ascii_lowercase().replace(['_', ' '], "-");
    let word = plain(word);
    known
        .map(|candidate| {
            (
                strsim::damerau_levenshtein(&word, &plain(candidate)),
                candidate,
            )
        })
        .filter(|(distance, candidate)| *distance <= 1 + candidate.len().min(word.len()) / 4)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// Asks for the nearest word; without one near enough, what else helps.
pub(super) fn did_you_mean<'w>(
    word: &str,
    known: impl Iterator<Item = &'w str>,
    otherwise: impl FnOnce() -> String,
) -> String {
    nearest(word, known).map_or_else(otherwise, |meant| format!("did you mean `{meant}`?"))
}
