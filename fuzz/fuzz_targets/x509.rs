//! Certificates, in their binary form and as PEM.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let _ = onrush_crypto::x509::Certificate::from_der(data);
    let _ = onrush_crypto::x509::Certificate::from_pem(data);
});
