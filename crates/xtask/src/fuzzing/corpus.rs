//! The inputs mutations start from: files in `fuzz/corpus/<target>/` with names that tell what they are, and
//! `fuzz/corpus/<target>.tar.gz`, which holds those a search by coverage has found.

use std::{
    collections::BTreeMap,
    fs, io,
    io::Read,
    path::{Path, PathBuf},
};

use flate2::{Compression, GzBuilder, read::GzDecoder};

/// Inputs in a fixed order, so that a seed means the same everywhere.
#[derive(Debug, Clone)]
pub struct Corpus {
    inputs: Vec<Vec<u8>>,
}

impl Corpus {
    /// These inputs.
    pub fn new(inputs: Vec<Vec<u8>>) -> Self {
        Self { inputs }
    }

    /// The files of `fuzz/corpus/<name>` and of the archive beside it, in the order of their names.
    ///
    /// # Errors
    /// When the folder, a file or the archive cannot be read, or there is no input.
    pub fn read(fuzz: &Path, name: &str) -> io::Result<Self> {
        let mut all = archived(fuzz, name)?;
        all.extend(files(fuzz, name)?);
        if all.is_empty() {
            let places = format!("neither {} nor {}", folder(fuzz, name).display(), archive(fuzz, name).display());
            return Err(io::Error::new(io::ErrorKind::NotFound, format!("{places} holds inputs")));
        }
        Ok(Self { inputs: all.into_values().collect() })
    }

    /// All inputs.
    pub fn inputs(&self) -> &[Vec<u8>] {
        &self.inputs
    }
}

/// Writes the archived inputs of a target into its folder, where `cargo fuzz` looks for them, and returns their number.
///
/// # Errors
/// When the archive cannot be read or a file not written.
pub fn unpack(fuzz: &Path, name: &str) -> io::Result<usize> {
    let inputs = archived(fuzz, name)?;
    let folder = folder(fuzz, name);
    fs::create_dir_all(&folder)?;
    for (name, input) in &inputs {
        fs::write(folder.join(name), input)?;
    }
    Ok(inputs.len())
}

/// Moves the inputs of a target that are named by a hash, as `cargo fuzz` names them, from its folder to its archive, which
/// then holds just those, and returns their number. The same inputs give the same archive.
///
/// # Errors
/// When there are none, or a file cannot be read, written or removed.
pub fn pack(fuzz: &Path, name: &str) -> io::Result<usize> {
    let inputs: BTreeMap<String, Vec<u8>> = files(fuzz, name)?.into_iter().filter(|(name, _)| is_hash(name)).collect();
    if inputs.is_empty() {
        let text = format!("{} holds no inputs named by a hash", folder(fuzz, name).display());
        return Err(io::Error::new(io::ErrorKind::NotFound, text));
    }
    // Without a time and an owner of its own, so that nothing but its inputs changes it.
    let compressed = GzBuilder::new().mtime(0).write(Vec::new(), Compression::best());
    let mut tar = tar::Builder::new(compressed);
    for (name, input) in &inputs {
        let mut header = tar::Header::new_ustar();
        header.set_size(input.len() as u64);
        header.set_mode(0o644);
        tar.append_data(&mut header, name, input.as_slice())?;
    }
    fs::write(archive(fuzz, name), tar.into_inner()?.finish()?)?;
    for name_of_input in inputs.keys() {
        fs::remove_file(folder(fuzz, name).join(name_of_input))?;
    }
    Ok(inputs.len())
}

fn folder(fuzz: &Path, name: &str) -> PathBuf {
    fuzz.join("corpus").join(name)
}

fn archive(fuzz: &Path, name: &str) -> PathBuf {
    fuzz.join("corpus").join(format!("{name}.tar.gz"))
}

/// SHA-1 in hexadecimal digits.
fn is_hash(name: &str) -> bool {
    name.len() == 40 && name.bytes().all(|byte| byte.is_ascii_hexdigit())
}

fn files(fuzz: &Path, name: &str) -> io::Result<BTreeMap<String, Vec<u8>>> {
    let mut inputs = BTreeMap::new();
    let entries = match fs::read_dir(folder(fuzz, name)) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(inputs),
        entries => entries?,
    };
    for entry in entries {
        let entry = entry?;
        if entry.file_type()?.is_file() {
            inputs.insert(entry.file_name().to_string_lossy().into_owned(), fs::read(entry.path())?);
        }
    }
    Ok(inputs)
}

fn archived(fuzz: &Path, name: &str) -> io::Result<BTreeMap<String, Vec<u8>>> {
    let mut inputs = BTreeMap::new();
    let file = match fs::File::open(archive(fuzz, name)) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(inputs),
        file => file?,
    };
    for entry in tar::Archive::new(GzDecoder::new(file)).entries()? {
        let mut entry = entry?;
        let name = entry.path()?.to_string_lossy().into_owned();
        let mut input = Vec::new();
        entry.read_to_end(&mut input)?;
        inputs.insert(name, input);
    }
    Ok(inputs)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packed_inputs_are_read_and_unpacked_as_they_were() {
        let fuzz = tempfile::tempdir().expect("there is a place for temporary files");
        let folder = fuzz.path().join("corpus/parser");
        fs::create_dir_all(&folder).expect("a folder is made");
        let hash = "0123456789abcdef0123456789abcdef01234567";
        for (name, input) in [(hash, "found"), ("empty", ""), ("deep-nesting", "[[[")] {
            fs::write(folder.join(name), input).expect("a file is written");
        }
        let before = Corpus::read(fuzz.path(), "parser").expect("there are inputs");
        assert_eq!(pack(fuzz.path(), "parser").expect("it is packed"), 1);
        assert!(!folder.join(hash).exists(), "only the archive has it now");
        let bytes = fs::read(fuzz.path().join("corpus/parser.tar.gz")).expect("there is an archive");
        assert_eq!(Corpus::read(fuzz.path(), "parser").expect("there are inputs").inputs, before.inputs);
        assert_eq!(unpack(fuzz.path(), "parser").expect("it is unpacked"), 1);
        assert_eq!(Corpus::read(fuzz.path(), "parser").expect("there are inputs").inputs, before.inputs);
        pack(fuzz.path(), "parser").expect("it is packed again");
        assert_eq!(fs::read(fuzz.path().join("corpus/parser.tar.gz")).expect("there is an archive"), bytes);
        assert!(pack(fuzz.path(), "parser").is_err(), "nothing is left to pack");
        assert!(Corpus::read(fuzz.path(), "other").is_err(), "it has no inputs");
    }
}
