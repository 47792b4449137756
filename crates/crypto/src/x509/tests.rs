//! Certificates of OpenSSL, whole and damaged.

use proptest::{prelude::any, proptest, sample::Index};

use super::{Certificate, PublicKey, X509Error};

/// An EC key, and every kind of alternative name.
const EC: &str = "-----BEGIN CERTIFICATE-----\n\
    MIIDajCCAxCgAwIBAgIUHtsjElHNLbUs2SsC0EnjdLg4VvkwCgYIKoZIzj0EAwIw\n\
    gdExCzAJBgNVBAYTAkRFMQ4wDAYDVQQRDAUxMDExNTEPMA0GA1UECAwGQmVybGlu\n\
    MQ4wDAYDVQQHDAVNaXR0ZTEaMBgGA1UECQwRQ2hhdXNzZWVzdHJhc3NlIDExFTAT\n\
    BgNVBAoMDEV4YW1wbGUgR21iSDENMAsGA1UECwwETG9hZDERMA8GA1UECwwIVMOD\n\
    wqlzdHMxGTAXBgNVBAMMEHd3dy5leGFtcGxlLnRlc3QxITAfBgkqhkiG9w0BCQEW\n\
    EmFkbWluQGV4YW1wbGUudGVzdDAgFw0yNjExMjIyMDQzMzJaGA8yMTI2MTAyOTIw\n\
    NDMzMlowgdExCzAJBgNVBAYTAkRFMQ4wDAYDVQQRDAUxMDExNTEPMA0GA1UECAwG\n\
    QmVybGluMQ4wDAYDVQQHDAVNaXR0ZTEaMBgGA1UECQwRQ2hhdXNzZWVzdHJhc3Nl\n\
    IDExFTATBgNVBAoMDEV4YW1wbGUgR21iSDENMAsGA1UECwwETG9hZDERMA8GA1UE\n\
    CwwIVMODwqlzdHMxGTAXBgNVBAMMEHd3dy5leGFtcGxlLnRlc3QxITAfBgkqhkiG\n\
    9w0BCQEWEmFkbWluQGV4YW1wbGUudGVzdDBZMBMGByqGSM49AgEGCCqGSM49AwEH\n\
    A0IABFOmzd692mHIBljMc/MucCVWNSlMUdeSYKcHjcNWdsEIcpxMpLnjyxD4xjjI\n\
    FA2mI+mk8xWQQPSwFfE0MQ/Lp5ujgcEwgb4wgY4GA1UdEQSBhjCBg4IQd3d3LmV4\n\
    YW1wbGUudGVzdIIOKi5leGFtcGxlLnRlc3SBDmFAZXhhbXBsZS50ZXN0hwQKAAAB\n\
    hxAgAQ24AAAAAAAAAAAAAAABhhhodHRwczovL2V4YW1wbGUudGVzdC94P3mCCWxh\n\
    c3QudGVzdIgDKgMEoA0GAioDoAcMBW90aGVyMAwGA1UdEwEB/wQCMAAwHQYDVR0O\n\
    BBYEFHpCNeoVNv1u0ffcDlTsYpmsMKf1MAoGCCqGSM49BAMCA0gAMEUCIBPYcg1s\n\
    Mn88uimpFwYv0YYanMH0SSZ1KyfCo8SxShshAiEA9rxAaC8WyvC4aBhjfbnYXEZy\n\
    mrqbWXofxLAUukuGE6k=\n\
    -----END CERTIFICATE-----\n\
    ";

fn value<'a>(certificate: &'a Certificate, kind: &str) -> Vec<&'a str> {
    certificate
        .subject
        .iter()
        .filter(|attribute| attribute.kind == kind)
        .map(|attribute| attribute.value.as_str())
        .collect()
}

#[test]
fn all_its_parts() {
    let certificate = Certificate::from_pem(EC.as_bytes()).expect("a certificate");
    assert_eq!(value(&certificate, "2.5.4.3"), ["www.example.test"]);
    assert_eq!(value(&certificate, "2.5.4.11").len(), 2);
    assert_eq!(certificate.issuer, certificate.subject);
    assert_eq!(
        certificate.alt_names,
        [
            "www.example.test",
            "*.example.test",
            "last.test",
            "a@example.test",
            "10.0.0.1",
            "2001:db8::1",
            "https://example.test/x?y"
        ]
    );
    assert_eq!(certificate.signature_algorithm, "ECDSA-SHA256");
    assert_eq!((certificate.not_before.len(), certificate.not_after.ends_with('Z')), (20, true));
    assert!(matches!(&certificate.public_key, PublicKey::Ecdsa { x, y } if x.len() == 32 && y.len() == 32));
}

#[test]
fn what_is_wrong() {
    let check = |pem: &str, expect: &str| {
        let error = Certificate::from_pem(pem.as_bytes()).expect_err(pem);
        assert_eq!(error.to_string(), expect, "{pem}");
    };
    let no_pem = "failed to decode certificate PEM file";
    check("", no_pem);
    check("garbage", no_pem);
    check("-----BEGIN ", no_pem);
    check("-----BEGIN A-----", no_pem);
    check("-----BEGIN A-----\n-----END B-----", no_pem);
    check(" -----BEGIN A-----\n-----END A-----", no_pem);
    check("-----BEGIN A-----\n!\n-----END A-----", no_pem);
    check("-----BEGIN A-----\n-----END A-----", "failed to parse certificate: x509: malformed certificate");
    check("-----BEGIN A-----\nMAA=\n-----END A-----", "failed to parse certificate: x509: malformed tbs certificate");
    check("-----BEGIN A-----\nMAAA\n-----END A-----", "failed to parse certificate: x509: trailing data");
    check(&"-".repeat(2 << 20), &X509Error::TooLarge.to_string());
}

#[test]
fn blocks_that_are_not_whole_are_passed_over() {
    for before in ["text\n", "-----BEGIN A-----\n", "-----BEGIN A-----\n!\n-----END A-----\n", "-----BEGIN \n"] {
        assert!(Certificate::from_pem(format!("{before}{EC}").as_bytes()).is_ok(), "{before}");
    }
    let with_headers = EC.replacen("-----\n", "-----\nProc-Type: 4\nX: y\n\n", 1);
    assert!(Certificate::from_pem(with_headers.as_bytes()).is_ok());
    assert!(Certificate::from_pem(EC.replace('\n', "\r\n").as_bytes()).is_ok());
}

proptest! {
    /// Whatever is changed or cut, there is an answer.
    #[test]
    fn damaged(at in any::<Index>(), byte in any::<u8>(), cut in any::<Index>()) {
        let mut der = super::pem::first_block(EC.as_bytes()).expect("a block");
        let index = at.index(der.len());
        der[index] = byte;
        let _ = Certificate::from_der(&der);
        let _ = Certificate::from_der(&der[..cut.index(der.len())]);
    }
}
