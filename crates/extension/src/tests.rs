//! Modules written as text: what is refused, and what calls do.

use crate::{CallError, Extension, Host, Instance, LogLevel, Raw};

/// Hosts that keep what they are told.
#[derive(Default)]
struct Told(Vec<String>);

impl Host for Told {
    fn log(&mut self, level: LogLevel, text: &str) {
        self.0.push(format!("{level:?} {text}"));
    }

    fn now_ms(&mut self) -> f64 {
        12.5
    }

    fn random(&mut self, into: &mut [u8]) -> bool {
        into.fill(7);
        true
    }
}

fn load(wat: &str) -> Result<Extension, String> {
    let bytes = wat::parse_str(wat).expect("the test's text is a module");
    Extension::load(bytes.into()).map_err(|error| error.to_string())
}

fn refused(wat: &str, reason: &str) {
    let error = load(wat).expect_err(wat);
    assert!(error.contains(reason), "{wat}\n{error}\nexpected: {reason}");
}

/// An extension with this description, one page of memory, an allocator that never frees, and more.
fn described(description: &str, more: &str) -> String {
    let length = description.len();
    let packed = (1024_i64 << 32) | i64::try_from(length).unwrap();
    let escaped: String = description.bytes().map(|byte| format!("\\{byte:02x}")).collect();
    format!(
        r#"(module
            (import "onrush" "fail" (func $fail (param i32 i32)))
            (import "onrush" "log" (func $log (param i32 i32 i32)))
            (import "onrush" "now" (func $now (result f64)))
            (import "onrush" "random" (func $random (param i32 i32)))
            (memory (export "memory") 1)
            (global $free (mut i32) (i32.const 8192))
            (data (i32.const 1024) "{escaped}")
            (func (export "onrush_describe") (result i64) (i64.const {packed}))
            (func (export "onrush_allocate") (param $length i32) (result i32)
                (global.get $free)
                (global.set $free (i32.add (global.get $free) (local.get $length))))
            {more})"#
    )
}

fn instance(wat: &str) -> Instance<Told> {
    let extension = load(wat).expect(wat);
    Instance::new(&extension, Told::default()).expect("there is memory")
}

/// Calls the first function to its end.
fn call(instance: &mut Instance<Told>, arguments: &[Raw]) -> Result<Option<Raw>, CallError<()>> {
    instance.call(0, arguments, &mut || Ok(()))
}

#[test]
fn what_is_no_extension() {
    let check = |bytes: &[u8], reason: &str| {
        let error = Extension::load(bytes.into()).expect_err("refused").to_string();
        assert!(error.contains(reason), "{bytes:?}: {error}");
    };
    check(b"", "is not a WebAssembly module");
    check(b"export default 1", "is not a WebAssembly module");
    check(b"\0asm\x0d\0\x01\0", "is a WebAssembly component; extensions are core modules");
    check(b"\0asm\x01\0\0\0\x01", "is not a valid module: ");
    check(b"\0asm\x02\0\0\0", "is not a WebAssembly module");
    check(b"\0asm\x01\0\0\0", "exports no function that scripts could call");
    refused(
        r#"(module (import "wasi_snapshot_preview1" "fd_write" (func (param i32 i32 i32 i32) (result i32))))"#,
        "imports \"wasi_snapshot_preview1.fd_write\", which extensions do not get: they import fail, log, now, random of \
         the module \"onrush\" and nothing else; build it without WASI",
    );
    refused(r#"(module (import "onrush" "open" (func)))"#, "imports \"onrush.open\"");
    refused(r#"(module (import "onrush" "log" (memory 1)))"#, "imports \"onrush.log\"");
    refused(r#"(module (import "onrush" "log" (func (param i64))) (func (export "f")))"#, "is not a valid module: ");
    refused(r#"(module (func $f unreachable) (start $f) (func (export "f")))"#, "is not a valid module: ");
    refused(r#"(module (memory 2000) (func (export "f")))"#, "is not a valid module: ");
    refused(r#"(module (table 200000 funcref) (func (export "f")))"#, "is not a valid module: ");
    refused(r#"(module (memory 1) (memory 1) (func (export "f")))"#, "is not a valid module: ");
    let many: String = (0..=crate::FUNCTIONS_MAX).map(|n| format!("(func (export \"f{n}\"))")).collect();
    refused(&format!("(module {many})"), "offers more than 1000 functions");
}

#[test]
fn descriptions_are_held_to_the_exports() {
    refused(&described("onrush 1\nf()", ""), "describes f, but exports no function of that name");
    refused(
        &described(
            "onrush 1\nf(a: bytes, b: u32) -> string",
            r#"(func (export "f") (param i32 i32) (result i32) i32.const 0)"#,
        ),
        "exports f as (i32, i32) -> i32; it has to be (i32, i32, i32) -> i64",
    );
    refused(&described("k6 1\nf()", ""), "line 1 of its description: it begins with \"onrush 1\"");
    refused(&described("onrush 1\nf(\u{1}", ""), "line 2 of its description");
    refused(
        r#"(module (func (export "onrush_describe") (result i32) i32.const 0))"#,
        "exports onrush_describe as () -> i32; it has to be () -> i64",
    );
    refused(
        r#"(module (memory (export "memory") 1) (func (export "onrush_describe") (result i64) (i64.const -1)))"#,
        "could not be asked for its description: it is longer than",
    );
    refused(
        r#"(module (memory (export "memory") 1) (func (export "onrush_describe") (result i64) (i64.const 0xffff00001000)))"#,
        "is not within its memory",
    );
    refused(
        r#"(module (func (export "onrush_describe") (result i64) (loop (br 0)) unreachable))"#,
        "could not be asked for its description: it computed for too long",
    );
    refused(
        r#"(module (func (export "onrush_describe") (result i64) unreachable))"#,
        "could not be asked for its description: it reached code that must not be reached",
    );
    let none = load(&described("onrush 1\nstate none\nf()", r#"(func (export "f"))"#)).expect("an extension");
    assert!(!none.keeps_state());
}

#[test]
fn numbers_need_no_description() {
    let wat = r#"(module
        (func (export "_hidden"))
        (func (export "no name"))
        (func (export "zero\\00"))
        (func (export "two") (result i32 i32) i32.const 1 i32.const 2)
        (func (export "reference") (param externref))
        (func (export "sum") (param i32 i64 f32 f64) (result f64)
            (f64.add (f64.add (f64.convert_i32_s (local.get 0)) (f64.convert_i64_s (local.get 1)))
                (f64.add (f64.promote_f32 (local.get 2)) (local.get 3)))))"#;
    let extension = load(wat).expect("an extension");
    let names: Vec<&str> = extension.functions().iter().map(|function| function.name.as_str()).collect();
    assert_eq!(names, ["sum"]);
    assert!(extension.keeps_state());
    let arguments = [Raw::I32(1), Raw::I64(2), Raw::F32(0.5), Raw::F64(0.25)];
    assert_eq!(call(&mut instance(wat), &arguments), Ok(Some(Raw::F64(3.75))));
}

#[test]
fn bytes_cross_in_both_directions() {
    // Returns its argument, one byte shorter.
    let wat = described(
        "onrush 1\ntail(data: bytes) -> bytes",
        r#"(func (export "tail") (param i32 i32) (result i64)
            (i64.or (i64.shl (i64.extend_i32_u (i32.add (local.get 0) (i32.const 1))) (i64.const 32))
                (i64.extend_i32_u (i32.sub (local.get 1) (i32.const 1)))))"#,
    );
    let mut instance = instance(&wat);
    let at = instance.allocate::<()>(5, &mut || Ok(())).expect("there is room");
    assert!(instance.write(at as usize, b"hello"));
    let Ok(Some(Raw::I64(packed))) = call(&mut instance, &Instance::<Told>::argument(at, 5)) else {
        panic!("no result")
    };
    assert_eq!(instance.result(packed), Ok(&b"ello"[..]));
    assert_eq!(instance.release::<()>(packed, &mut || Ok(())), Ok(()));
    // Nothing is outside of the memory.
    assert!(!instance.write(65_534, b"hello"));
    assert!(!instance.write(usize::MAX, b"hello"));
    assert!(instance.result(-1).is_err());
    assert!(instance.allocate::<()>(100_000, &mut || Ok(())).is_err());
    assert!(instance.allocate::<()>(usize::MAX, &mut || Ok(())).is_err());
}

#[test]
fn what_the_host_hands_out() {
    let wat = described(
        "onrush 1\nf() -> f64",
        r#"(data (i32.const 100) "hi")
        (func (export "f") (result f64)
            (call $log (i32.const 2) (i32.const 100) (i32.const 2))
            (call $random (i32.const 200) (i32.const 3))
            (call $log (i32.const 9) (i32.const 200) (i32.const 3))
            (call $now))"#,
    );
    let mut instance = instance(&wat);
    assert_eq!(call(&mut instance, &[]), Ok(Some(Raw::F64(12.5))));
    assert_eq!(instance.host().0, ["Warn hi", "Error \u{7}\u{7}\u{7}"]);
}

#[test]
fn a_failure_is_no_end_and_a_trap_is() {
    let wat = described(
        "onrush 1\nf(how: i32) -> i32",
        r#"(data (i32.const 100) "no such thing")
        (func $deep (param i32) (result i32) (i32.add (call $deep (local.get 0)) (i32.const 1)))
        (func (export "f") (param i32) (result i32)
            (if (i32.eq (local.get 0) (i32.const 1)) (then (call $fail (i32.const 100) (i32.const 13))))
            (if (i32.eq (local.get 0) (i32.const 2)) (then unreachable))
            (if (i32.eq (local.get 0) (i32.const 3)) (then (drop (i32.load (i32.const 70000)))))
            (if (i32.eq (local.get 0) (i32.const 4)) (then (drop (call $deep (i32.const 0)))))
            (if (i32.eq (local.get 0) (i32.const 5)) (then (call $fail (i32.const 65530) (i32.const 13))))
            (if (i32.eq (local.get 0) (i32.const 6)) (then (call $random (i32.const 0) (i32.const -1))))
            (if (i32.eq (local.get 0) (i32.const 7)) (then (drop (i32.div_u (i32.const 1) (i32.const 0)))))
            (i32.const 5))"#,
    );
    let extension = load(&wat).expect("an extension");
    let check = |how: i32, reason: &str| {
        let mut instance = Instance::new(&extension, Told::default()).expect("there is memory");
        match call(&mut instance, &[Raw::I32(how)]) {
            Err(CallError::Trap(text)) => assert!(text.contains(reason), "{how}: {text}"),
            other => panic!("{how}: {other:?}"),
        }
    };
    let mut instance = instance(&wat);
    assert_eq!(call(&mut instance, &[Raw::I32(1)]), Err(CallError::Failed("no such thing".to_owned())));
    assert_eq!(call(&mut instance, &[Raw::I32(0)]), Ok(Some(Raw::I32(5))));
    check(2, "it reached code that must not be reached");
    check(3, "it accessed memory it does not have");
    check(4, "its calls nest too deeply");
    check(5, "a text at 65530, 13 bytes long, is not within the memory");
    check(6, "random of 4294967295 bytes: at most 65536 are taken at once");
    check(7, "zero");
}

#[test]
fn a_long_call_pauses_and_can_be_ended() {
    let wat = r#"(module (func (export "count") (param $to i32) (result i32) (local $at i32)
        (loop $next
            (local.set $at (i32.add (local.get $at) (i32.const 1)))
            (br_if $next (i32.ne (local.get $at) (local.get $to))))
        (local.get $at)))"#;
    let mut instance = instance(wat);
    let mut pauses = 0;
    let mut count = |to, limit: u32| {
        pauses = 0;
        instance.call(0, &[Raw::I32(to)], &mut || {
            pauses += 1;
            if pauses < limit { Ok(()) } else { Err("enough") }
        })
    };
    assert_eq!(count(10, 1), Ok(Some(Raw::I32(10))));
    assert_eq!(count(1_000_000, 1000), Ok(Some(Raw::I32(1_000_000))));
    assert_eq!(count(-1, 3), Err(CallError::Cut("enough")));
    assert_eq!(pauses, 3);
}

#[test]
fn memory_grows_up_to_its_limit() {
    let wat = r#"(module (memory (export "memory") 1)
        (func (export "grow") (param i32) (result i32) (memory.grow (local.get 0)))
        (func (export "zero") (param i32) (memory.fill (i32.const 0) (i32.const 0) (local.get 0))))"#;
    let mut instance = instance(wat);
    assert_eq!(call(&mut instance, &[Raw::I32(1000)]), Ok(Some(Raw::I32(1))));
    assert_eq!(instance.memory_bytes(), 1001 << 16);
    assert_eq!(call(&mut instance, &[Raw::I32(24)]), Ok(Some(Raw::I32(-1))));
    assert_eq!(call(&mut instance, &[Raw::I32(-1)]), Ok(Some(Raw::I32(-1))));
    // One step that costs more than a slice.
    let mut pauses = 0;
    let filled = instance.call::<()>(1, &[Raw::I32(60 << 20)], &mut || {
        pauses += 1;
        Ok(())
    });
    assert_eq!(filled, Ok(None));
    assert!((1..10).contains(&pauses), "{pauses}");
}

/// The worked example, with an argument that needs many pages and many slices.
#[test]
fn large_arguments() {
    const CHECKSUMS: &[u8] = include_bytes!("../../../examples/extensions/checksums/checksums.wasm");
    let extension = Extension::load(CHECKSUMS.into()).expect("an extension");
    let mut instance = Instance::new(&extension, Told::default()).expect("there is memory");
    for length in [100_000, 300_001, 5_000_000, 300_001] {
        let at = instance.allocate::<()>(length, &mut || Ok(())).expect("there is room");
        assert!(instance.write(at as usize, &vec![b'x'; length]));
        let first = call(&mut instance, &Instance::<Told>::argument(at, length));
        let at = instance.allocate::<()>(length, &mut || Ok(())).expect("there is room");
        assert!(instance.write(at as usize, &vec![b'x'; length]));
        assert_eq!(first, call(&mut instance, &Instance::<Told>::argument(at, length)));
        assert!(matches!(first, Ok(Some(Raw::I32(_)))), "{length}: {first:?}");
    }
}
