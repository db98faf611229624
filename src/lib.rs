//! loadlab: a declarative experiment runner for load-testing web stacks, with reproducible manifests.
//!
//! The program is a pipeline of eight functions:
//!
//! ```text
//! manifest::load  -> Experiment      every fault at once, each with its place
//! lock::pin       -> Lock            hashes of every input
//! lock::check     -> Locked          files and lock only
//! plan::build     -> Plan            pure
//! run::run        -> Closing         the only stage that waits
//! record::read    -> Records         an append-only chain
//! estimate::estimate -> Summary      pure
//! report::render  -> files           pure
//! ```

pub mod cli;
pub mod doctor;
pub mod engine;
pub mod estimate;
pub mod guard;
pub mod load;
pub mod lock;
pub mod manifest;
pub mod measure;
pub mod model;
pub mod plan;
pub mod probe;
pub mod record;
pub mod report;
pub mod review;
pub mod run;
pub mod weights;
