//! Both directions, and what must be refused.

use proptest::prelude::*;

use super::*;

fn archive(files: &[(&str, &[u8])]) -> Archive {
    let mut tree = FileTree::default();
    for (url, bytes) in files {
        assert!(tree.insert(url, (*bytes).into()), "{url}");
    }
    let metadata = Metadata {
        filename: "file:///t/s.js".to_owned(),
        pwd: "file:///t".to_owned(),
        env: Some([("A".to_owned(), "ü".to_owned())].into()),
        ..Metadata::default()
    };
    Archive { metadata, data: b"export default function () {}".as_slice().into(), files: tree }
}

fn bytes(archive: &Archive) -> Vec<u8> {
    let mut bytes = Vec::new();
    archive.write(&mut bytes).expect("memory");
    bytes
}

/// A tar of entries with these names, kinds and contents.
fn tar(entries: &[(&str, tar::EntryType, &[u8])]) -> Vec<u8> {
    let mut builder = tar::Builder::new(Vec::new());
    for (name, kind, content) in entries {
        let mut header = tar::Header::new_gnu();
        // The builder refuses what must be tested here.
        header.as_old_mut().name[..name.len()].copy_from_slice(name.as_bytes());
        header.set_entry_type(*kind);
        if kind.is_symlink() || kind.is_hard_link() {
            header.set_size(0);
            header.set_link_name_literal(content).expect("short");
        } else {
            header.set_size(content.len() as u64);
        }
        header.set_cksum();
        let body: &[u8] = if kind.is_file() { content } else { &[] };
        builder.append(&header, body).expect("memory");
    }
    builder.into_inner().expect("memory")
}

const META: &[u8] = br#"{"type":"js","options":{},"filename":"file:///t/s.js","pwd":"file:///t","env":null}"#;

#[track_caller]
fn refuses(extra: &[(&str, tar::EntryType, &[u8])], expect: &str) {
    let file = tar::EntryType::Regular;
    let mut entries = vec![("metadata.json", file, META), ("data", file, b"x".as_slice())];
    entries.extend_from_slice(extra);
    assert_eq!(Archive::read(tar(&entries).as_slice()).map(|_| ()).map_err(|e| e.to_string()), Err(expect.to_owned()));
}

#[test]
fn what_is_written_is_read() {
    let long = format!("file:///t/{}/x.js", "länge".repeat(60));
    let archive = archive(&[
        (&long, b"1"),
        ("file:///t/a%20b/%C3%A9.json", b""),
        ("file:///t/b.bin", &[0, 255, 10]),
        ("https://jslib.k6.io/a/index.js", b"2"),
    ]);
    let bytes = bytes(&archive);
    assert!(is_archive(&bytes));
    let back = Archive::read(bytes.as_slice()).expect("our own");
    assert_eq!(back, archive);
    assert_eq!(back.files.get("file:///t/a b/é.json").map(|bytes| bytes.len()), Some(0));
}

#[test]
fn hostile_entries_are_refused() {
    use tar::EntryType as Type;
    let name =
        |name: &str| format!("the entry name '{name}' is not allowed: names are relative and without '.' and '..'");
    refuses(&[("file/../../etc/x", Type::Regular, b"x")], &name("file/../../etc/x"));
    refuses(&[("/etc/x", Type::Regular, b"x")], &name("/etc/x"));
    refuses(&[("../x", Type::Directory, b"")], &name("../x"));
    refuses(
        &[("file/t/l", Type::Symlink, b"/etc/passwd")],
        "the entry 'file/t/l' is neither a file nor a folder: links and devices are not allowed",
    );
    refuses(
        &[("file/t/l", Type::Link, b"/etc/passwd")],
        "the entry 'file/t/l' is neither a file nor a folder: links and devices are not allowed",
    );
    refuses(
        &[("scripts/a.js", Type::Regular, b"x")],
        "unknown file prefix `scripts` for file `scripts/a.js`: there are file and https",
    );
    refuses(&[("metadata.json", Type::Regular, b"{")], "metadata.json: EOF while parsing an object at line 1 column 1");
    refuses(&[("metadata.json", Type::Regular, br#"{"type":"har"}"#)], "unsupported test type 'har', use js");
}

/// As tar packs what it unpacked: equal files are links to the first of them, the folder itself is an entry.
#[test]
fn archives_may_be_packed_again() {
    use tar::EntryType as Type;
    let bytes = tar(&[
        ("/tmp/GlobalHead.1", Type::XGlobalHeader, b""),
        ("./", Type::Directory, b""),
        ("./metadata.json", Type::Regular, META),
        ("./file/t/lib.js", Type::Regular, b"lib"),
        ("./file/t/s.js", Type::Regular, b"script"),
        ("./data", Type::Link, b"./file/t/s.js"),
        ("./file/t/same.js", Type::Link, b"./file/t/lib.js"),
    ]);
    let archive = Archive::read(bytes.as_slice()).expect("a whole archive");
    assert_eq!(&*archive.data, b"script");
    assert_eq!(archive.files.get("file:///t/same.js").map(|bytes| bytes.to_vec()), Some(b"lib".to_vec()));
}

#[test]
fn what_lacks_a_part_is_refused() {
    let check = |entries: &[(&str, tar::EntryType, &[u8])], expect: &str| {
        let error = Archive::read(tar(entries).as_slice()).expect_err("a part is missing");
        assert_eq!(error.to_string(), expect);
    };
    let file = tar::EntryType::Regular;
    check(&[("metadata.json", file, META)], "the archive lacks data, the script itself");
    check(&[("data", file, b"x")], "the archive lacks metadata.json");
    check(&[], "the archive lacks metadata.json");
}

#[test]
fn scripts_are_no_archives() {
    assert!(!is_archive(b""));
    assert!(!is_archive(&[b' '; 600]));
    assert!(!is_archive(&[0; 600]));
    assert!(!is_archive("export default function () {}\n".repeat(40).as_bytes()));
}

proptest! {
    /// Wherever an archive is cut off, it is an error, and never a smaller archive.
    #[test]
    fn cut_archives_are_errors(at in 0.0..1.0_f64) {
        let whole = bytes(&archive(&[("file:///t/b.bin", &[7; 700]), ("https://h/a.js", b"2")]));
        let at = (whole.len() as f64 * at) as usize;
        prop_assert!(Archive::read(&whole[..at.min(whole.len() - 1024)]).is_err());
    }

    /// No bytes make it panic.
    #[test]
    fn damaged_archives_do_not_panic(places in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..8)) {
        let mut damaged = bytes(&archive(&[("file:///t/b.bin", &[7; 700])]));
        for (place, byte) in places {
            let at = place.index(damaged.len());
            damaged[at] = byte;
        }
        let _ = Archive::read(damaged.as_slice());
    }
}
