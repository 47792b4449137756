//! The descriptors that the built-in target hands out are those of its files. `UPDATE_DESCRIPTORS=1` writes them.

use std::{path::Path, rc::Rc};

use onrush_grpc::{
    Schema,
    schema::{Sources, descriptor_set},
};

struct Folder(std::path::PathBuf);

impl Sources for Folder {
    fn read(&self, _: usize, name: &str) -> Result<Option<String>, String> {
        Ok(std::fs::read_to_string(self.0.join(name)).ok())
    }

    fn import_paths(&self) -> usize {
        1
    }
}

#[test]
fn the_targets_descriptors_are_those_of_its_files() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../testsite/assets/grpc");
    let files = ["target.proto".to_owned(), "health.proto".to_owned()];
    let compiled = descriptor_set(Rc::new(Folder(folder.clone())), &files).expect("they compile");
    let path = folder.join("target.binpb");
    if std::env::var_os("UPDATE_DESCRIPTORS").is_some() {
        std::fs::write(&path, &compiled).expect("it can be written");
    }
    let kept = std::fs::read(&path).expect("it is there");
    assert!(kept == compiled, "run UPDATE_DESCRIPTORS=1 cargo test -p onrush-grpc --test descriptors");
    let schema = Schema::from_descriptor_set(&kept).expect("it is complete");
    assert!(schema.method("/target.Flow/Mirror").is_some_and(|method| method.is_client_stream));
}
