//! What `bench`'s description of the machine leaves out: the kernel's mitigations, which cost system calls time.

use std::fs;

use serde_json::{Map, Value};

/// What the kernel does about each weakness of the processor.
pub(super) fn mitigations() -> Value {
    let Ok(entries) = fs::read_dir("/sys/devices/system/cpu/vulnerabilities") else { return Value::Null };
    let mut found: Vec<(String, Value)> = entries
        .filter_map(|entry| {
            let path = entry.ok()?.path();
            let text = fs::read_to_string(&path).ok()?;
            Some((path.file_name()?.to_string_lossy().into_owned(), text.trim().into()))
        })
        .collect();
    found.sort_by(|one, other| one.0.cmp(&other.0));
    Value::Object(found.into_iter().collect::<Map<_, _>>())
}
