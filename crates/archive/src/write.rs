//! From an [`Archive`] to bytes, laid out as k6 does it. The same archive always gives the same bytes.

use std::{
    collections::BTreeSet,
    io::{self, Write},
};

use tar::{Builder, EntryType, Header};

use crate::{
    Archive, Metadata,
    file_tree::{anonymous, name_of},
};

impl Archive {
    /// Writes the archive; names of users are left out of all paths.
    ///
    /// # Errors
    /// [`WriteError`] when `target` fails, or when archives have no name for the script.
    pub fn write(&self, target: impl Write) -> Result<(), WriteError> {
        let script = name_of(&self.metadata.filename).ok_or(WriteError::Name)?;
        let mut tar = Builder::new(target);
        file(&mut tar, "metadata.json", self.metadata_json().as_bytes())?;
        file(&mut tar, "data", &self.data)?;
        let names = self.files.iter().map(|(name, _)| name).chain([script.as_str()]);
        for folder in folders(names) {
            entry(&mut tar, EntryType::Directory, 0o755, &folder, &[])?;
        }
        for (name, bytes) in self.files.iter().filter(|(name, _)| *name != script) {
            file(&mut tar, name, bytes)?;
        }
        let mut header = Header::new_gnu();
        header.set_entry_type(EntryType::Link);
        header.set_size(0);
        header.set_mode(0o644);
        tar.append_link(&mut header, &script, "data")?;
        tar.into_inner()?.flush()?;
        Ok(())
    }

    fn metadata_json(&self) -> String {
        let url = |url: &str| match url.strip_prefix("file://") {
            Some(path) => format!("file://{}", anonymous(path)),
            None => url.to_owned(),
        };
        let metadata =
            Metadata { filename: url(&self.metadata.filename), pwd: url(&self.metadata.pwd), ..self.metadata.clone() };
        // Plain values with text keys: JSON can always hold them.
        let mut text = serde_json::to_string_pretty(&metadata).unwrap_or_default();
        text.push('\n');
        text
    }
}

/// Why an archive could not be written.
#[derive(Debug, thiserror::Error)]
pub enum WriteError {
    /// The script's name is not UTF-8, or it is no file.
    #[error("the script's name cannot be stored in an archive: it is not valid UTF-8")]
    Name,
    /// Writing failed.
    #[error(transparent)]
    Io(#[from] io::Error),
}

fn file(tar: &mut Builder<impl Write>, name: &str, bytes: &[u8]) -> io::Result<()> {
    entry(tar, EntryType::Regular, 0o644, name, bytes)
}

fn entry(tar: &mut Builder<impl Write>, kind: EntryType, mode: u32, name: &str, bytes: &[u8]) -> io::Result<()> {
    let mut header = Header::new_gnu();
    header.set_entry_type(kind);
    header.set_mode(mode);
    header.set_size(bytes.len() as u64);
    // No owner and no time: an archive is the same wherever and whenever it is made.
    tar.append_data(&mut header, name, bytes)
}

/// All folders above these names, sorted, so that each comes before what it contains.
fn folders<'a>(names: impl Iterator<Item = &'a str>) -> BTreeSet<String> {
    let ends = |name: &'a str| name.match_indices('/').map(|(end, _)| name[..end].to_owned());
    names.flat_map(ends).collect()
}
