//! `grpc.reflection`, both versions: they differ in nothing but their names.

use super::wire::{self, Wire};

/// A serialised FileDescriptorSet of what is in `assets/grpc`.
const DESCRIPTORS: &[u8] = include_bytes!("../../assets/grpc/target.binpb");
const SERVICES: [&str; 3] = ["target.Echo", "target.Flow", "grpc.health.v1.Health"];

/// The answer to a request.
pub(super) fn answer(request: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    wire::put_bytes(&mut out, 2, request);
    let asked = wire::fields(request).find(|(number, _)| (3..=7).contains(number));
    match asked {
        Some((7, _)) => {
            let mut list = Vec::new();
            for service in SERVICES {
                let mut entry = Vec::new();
                wire::put_bytes(&mut entry, 1, service.as_bytes());
                wire::put_bytes(&mut list, 1, &entry);
            }
            wire::put_bytes(&mut out, 6, &list);
        }
        Some((4, Wire::Bytes(symbol))) => {
            let symbol = String::from_utf8_lossy(symbol);
            let file = match &*symbol {
                name if name.starts_with("grpc.health.v1.") => b"health.proto".as_slice(),
                name if name.starts_with("target.") => b"target.proto",
                _ => b"",
            };
            put_files(&mut out, file, &format!("Symbol not found: {symbol}"));
        }
        Some((3, Wire::Bytes(name))) => {
            put_files(&mut out, name, &format!("File not found: {}", String::from_utf8_lossy(name)));
        }
        _ => put_error(&mut out, 12, "not implemented"),
    }
    out
}

/// A file by its name; what it imports is asked for in its turn.
fn put_files(out: &mut Vec<u8>, name: &[u8], missing: &str) {
    let found = wire::fields(DESCRIPTORS).find_map(|(_, file)| match file {
        Wire::Bytes(file) if !name.is_empty() && wire::fields(file).next() == Some((1, Wire::Bytes(name))) => {
            Some(file)
        }
        _ => None,
    });
    match found {
        Some(file) => {
            let mut list = Vec::new();
            wire::put_bytes(&mut list, 1, file);
            wire::put_bytes(out, 4, &list);
        }
        None => put_error(out, 5, missing),
    }
}

fn put_error(out: &mut Vec<u8>, code: i64, message: &str) {
    let mut error = Vec::new();
    wire::put_number(&mut error, 1, code);
    wire::put_bytes(&mut error, 2, message.as_bytes());
    wire::put_bytes(out, 7, &error);
}
