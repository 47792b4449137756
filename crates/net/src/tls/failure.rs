//! rustls's errors in k6's codes and Go's words.

use rustls::{AlertDescription, CertificateError, Error, InvalidMessage};

use crate::error::{NetError, code};

/// The error of a handshake or of a read with `host`.
pub(crate) fn to_net_error(error: &Error, host: &str) -> NetError {
    // k6: what Go's TLS finds wrong has no code of its own, but for the cases below.
    let generic = |text: String| NetError::generic(text);
    match error {
        Error::InvalidCertificate(reason) => certificate_error(reason, host),
        Error::InvalidMessage(
            InvalidMessage::InvalidContentType
            | InvalidMessage::UnknownProtocolVersion
            | InvalidMessage::InvalidEmptyPayload
            | InvalidMessage::MessageTooLarge,
        )
        | Error::PeerSentOversizedRecord => {
            NetError::new(code::TLS_RECORD_HEADER, "tls: first record does not look like a TLS handshake")
        }
        Error::AlertReceived(alert) => {
            NetError::new(code::NON_TCP, format!("remote error: tls: {}", alert_text(*alert)))
        }
        Error::NoCertificatesPresented => generic("tls: received empty certificates message".to_owned()),
        Error::PeerIncompatible(reason) => generic(format!("tls: server selected unsupported parameters ({reason:?})")),
        Error::PeerMisbehaved(reason) => generic(format!("tls: unexpected message ({reason:?})")),
        Error::DecryptError => NetError::new(code::NON_TCP, "local error: tls: bad record MAC"),
        other => generic(format!("tls: {other}")),
    }
}

fn certificate_error(reason: &CertificateError, host: &str) -> NetError {
    let failed = |text: &str| format!("tls: failed to verify certificate: x509: {text}");
    match reason {
        // A bad signature is how a same-named authority that is not the signer shows; Go says the same.
        CertificateError::UnknownIssuer | CertificateError::BadSignature => NetError::with_detail(
            code::UNKNOWN_AUTHORITY,
            "x509: unknown authority",
            failed("certificate signed by unknown authority"),
        ),
        CertificateError::NotValidForName => NetError::with_detail(
            code::HOSTNAME_MISMATCH,
            "x509: certificate doesn't match hostname",
            failed(&format!("certificate is not valid for {host}")),
        ),
        CertificateError::NotValidForNameContext { .. } if host.parse::<std::net::IpAddr>().is_ok() => {
            NetError::with_detail(
                code::HOSTNAME_MISMATCH,
                "x509: certificate doesn't match hostname",
                failed(&format!("cannot validate certificate for {host}")),
            )
        }
        CertificateError::NotValidForNameContext { presented, .. } => {
            let names: Vec<&str> = presented.iter().map(|name| plain_name(name)).collect();
            NetError::with_detail(
                code::HOSTNAME_MISMATCH,
                "x509: certificate doesn't match hostname",
                failed(&format!("certificate is valid for {}, not {host}", names.join(", "))),
            )
        }
        CertificateError::Expired
        | CertificateError::ExpiredContext { .. }
        | CertificateError::NotValidYet
        | CertificateError::NotValidYetContext { .. } => {
            let text = "certificate has expired or is not yet valid";
            NetError::with_detail(code::GENERIC, format!("x509: {text}"), failed(text))
        }
        // A self-signed certificate that is a CA is no server's certificate to webpki; to Go it is one
        // nobody signed.
        CertificateError::Other(other) if other.to_string().contains("CaUsedAsEndEntity") => NetError::with_detail(
            code::UNKNOWN_AUTHORITY,
            "x509: unknown authority",
            failed("certificate signed by unknown authority"),
        ),
        other => NetError::with_detail(code::GENERIC, format!("x509: {other}"), failed(&other.to_string())),
    }
}

/// rustls shows names as `DnsName("example.com")`.
fn plain_name(name: &str) -> &str {
    name.split('"').nth(1).unwrap_or(name)
}

/// Go's text for an alert.
fn alert_text(alert: AlertDescription) -> &'static str {
    match alert {
        AlertDescription::CloseNotify => "close notify",
        AlertDescription::UnexpectedMessage => "unexpected message",
        AlertDescription::BadRecordMac => "bad record MAC",
        AlertDescription::DecryptionFailed => "decryption failed",
        AlertDescription::RecordOverflow => "record overflow",
        AlertDescription::DecompressionFailure => "decompression failure",
        AlertDescription::HandshakeFailure => "handshake failure",
        AlertDescription::BadCertificate => "bad certificate",
        AlertDescription::UnsupportedCertificate => "unsupported certificate",
        AlertDescription::CertificateRevoked => "revoked certificate",
        AlertDescription::CertificateExpired => "expired certificate",
        AlertDescription::CertificateUnknown => "unknown certificate",
        AlertDescription::IllegalParameter => "illegal parameter",
        AlertDescription::UnknownCA => "unknown certificate authority",
        AlertDescription::AccessDenied => "access denied",
        AlertDescription::DecodeError => "error decoding message",
        AlertDescription::DecryptError => "error decrypting message",
        AlertDescription::ExportRestriction => "export restriction",
        AlertDescription::ProtocolVersion => "protocol version not supported",
        AlertDescription::InsufficientSecurity => "insufficient security level",
        AlertDescription::InternalError => "internal error",
        AlertDescription::InappropriateFallback => "inappropriate fallback",
        AlertDescription::UserCanceled => "user canceled",
        AlertDescription::NoRenegotiation => "no renegotiation",
        AlertDescription::MissingExtension => "missing extension",
        AlertDescription::UnsupportedExtension => "unsupported extension",
        AlertDescription::CertificateUnobtainable => "certificate unobtainable",
        AlertDescription::UnrecognisedName => "unrecognized name",
        AlertDescription::BadCertificateStatusResponse => "bad certificate status response",
        AlertDescription::BadCertificateHashValue => "bad certificate hash value",
        AlertDescription::UnknownPSKIdentity => "unknown PSK identity",
        AlertDescription::CertificateRequired => "certificate required",
        AlertDescription::NoApplicationProtocol => "no application protocol",
        _ => "alert",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes() {
        let check = |error: Error, code: u16, message: &str| {
            let error = to_net_error(&error, "h");
            assert_eq!((error.code, error.message.as_str()), (code, message));
        };
        check(Error::InvalidCertificate(CertificateError::UnknownIssuer), 1310, "x509: unknown authority");
        check(
            Error::InvalidCertificate(CertificateError::NotValidForName),
            1311,
            "x509: certificate doesn't match hostname",
        );
        check(
            Error::InvalidMessage(InvalidMessage::InvalidContentType),
            1301,
            "tls: first record does not look like a TLS handshake",
        );
        check(Error::AlertReceived(AlertDescription::HandshakeFailure), 1010, "remote error: tls: handshake failure");
    }
}
