//! The report: a view of the summary, templates, charts.
