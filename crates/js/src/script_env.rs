//! A script and what it runs in, before anything is known about its options.

use std::{
    collections::BTreeMap,
    path::PathBuf,
    sync::{Arc, Mutex},
};

use onrush_archive::FileTree;
use onrush_script::{Computed, Program};

use crate::{
    bytecode::Bytecode,
    log::Sink,
    shared::{FileCache, SharedArrays, SharedTables},
};

/// What is known before any script code has run. Shared by the init pass and all worker threads.
pub struct ScriptEnv {
    /// The loaded modules.
    pub program: Arc<Program>,
    /// `__ENV` at the start of every activation.
    pub env: BTreeMap<String, String>,
    /// Where `console` and exceptions go.
    pub log: Arc<dyn Sink>,
    /// Directory that relative `open()` paths of a stdin script start from.
    pub working_dir: PathBuf,
    /// What `k6/secrets` reads from.
    pub secrets: Arc<onrush_secrets::Secrets>,
    /// Bytes one VU's JavaScript heap may hold.
    pub memory_limit_bytes: usize,
    /// The files of the archive the script comes from. Then `open()` reads nothing else.
    pub archived: Option<Arc<FileTree>>,
    /// `global` exists (k6's extended compatibility mode).
    pub extended_mode: bool,
    /// Whether the init pass may ask for modules with computed names ([`crate::init::InitError::NotLoaded`]); who allows it
    /// loads them and repeats the pass. Otherwise asking for one throws.
    pub accepts_computed: bool,
    /// `__ENV` cannot be changed by scripts.
    pub freezes_env: bool,
    pub(crate) files: FileCache,
    pub(crate) shared_arrays: SharedArrays,
    pub(crate) shared_tables: SharedTables,
    /// What gRPC clients have loaded.
    pub(crate) schemas: crate::modules::grpc::SchemaCache,
    /// Modules with computed names that the init pass asked for in vain.
    pub(crate) wanted: Mutex<Vec<Computed>>,
    pub(crate) bytecode: Mutex<Option<Arc<Bytecode>>>,
}

impl ScriptEnv {
    /// Default of [`ScriptEnv::memory_limit_bytes`]: far above real scripts (hundreds of kilobytes), far below a machine.
    pub const MEMORY_LIMIT_BYTES: usize = 512 << 20;

    /// Collects the inputs of a run.
    pub fn new(program: Arc<Program>, env: BTreeMap<String, String>, log: Arc<dyn Sink>, working_dir: PathBuf) -> Self {
        Self {
            program,
            env,
            log,
            working_dir,
            secrets: Arc::default(),
            memory_limit_bytes: Self::MEMORY_LIMIT_BYTES,
            archived: None,
            extended_mode: true,
            accepts_computed: false,
            freezes_env: false,
            files: FileCache::default(),
            shared_arrays: SharedArrays::default(),
            shared_tables: SharedTables::default(),
            schemas: crate::modules::grpc::SchemaCache::default(),
            wanted: Mutex::default(),
            bytecode: Mutex::new(None),
        }
    }

    /// The files scripts opened so far, by absolute path.
    pub fn opened_files(&self) -> Vec<(PathBuf, Arc<[u8]>)> {
        self.files.all()
    }
}
