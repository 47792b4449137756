//! rustls's errors in k6's codes and Go's words.

use onrush_calendar::date_of_days;
use rustls::{
    AlertDescription, CertificateError, ContentType, Error, HandshakeType, InvalidMessage, PeerIncompatible,
    PeerMisbehaved,
};
use rustls_pki_types::UnixTime;

use crate::error::{NetError, code};

/// The error of a handshake or of a read with `host`.
pub(crate) fn to_net_error(error: &Error, host: &str) -> NetError {
    // k6: what Go's TLS finds wrong has no code of its own, but for the cases below.
    let generic = |text: String| NetError::generic(text);
    let local = |text: &str| NetError::new(code::NON_TCP, format!("local error: tls: {text}"));
    let no_record = || NetError::new(code::TLS_RECORD_HEADER, "tls: first record does not look like a TLS handshake");
    match error {
        Error::InvalidCertificate(reason) => certificate_error(reason, host),
        Error::InvalidMessage(
            InvalidMessage::InvalidContentType
            | InvalidMessage::UnknownProtocolVersion
            | InvalidMessage::MessageTooLarge,
        )
        | Error::PeerSentOversizedRecord => no_record(),
        Error::InvalidMessage(InvalidMessage::InvalidEmptyPayload) => local("unexpected message"),
        Error::InvalidMessage(InvalidMessage::HandshakePayloadTooLarge) => {
            generic("tls: handshake message exceeds maximum of 65535 bytes".to_owned())
        }
        Error::InvalidMessage(_) => local("error decoding message"),
        // Before the server's hello nothing but a handshake record can come.
        Error::InappropriateMessage {
            got_type: ContentType::ApplicationData | ContentType::ChangeCipherSpec,
            expect_types,
        } if expect_types[..] == [ContentType::Handshake] => no_record(),
        Error::InappropriateMessage { .. } => local("unexpected message"),
        Error::InappropriateHandshakeMessage { got_type, expect_types } => {
            match (message_name(*got_type), expect_types.first().copied().and_then(message_name)) {
                (Some(got), Some(expected)) => generic(format!(
                    "tls: received unexpected handshake message of type *tls.{got} when waiting for *tls.{expected}"
                )),
                _ => local("unexpected message"),
            }
        }
        Error::AlertReceived(AlertDescription::Unknown(number)) => {
            NetError::new(code::NON_TCP, format!("remote error: tls: alert({number})"))
        }
        Error::AlertReceived(alert) => {
            NetError::new(code::NON_TCP, format!("remote error: tls: {}", alert_text(*alert)))
        }
        Error::PeerIncompatible(
            PeerIncompatible::ServerDoesNotSupportTls12Or13 | PeerIncompatible::ServerTlsVersionIsDisabledByOurConfig,
        ) => generic("tls: server selected unsupported protocol version".to_owned()),
        Error::PeerMisbehaved(PeerMisbehaved::SelectedUnofferedCipherSuite) => {
            generic("tls: server chose an unconfigured cipher suite".to_owned())
        }
        Error::PeerMisbehaved(PeerMisbehaved::TooManyWarningAlertsReceived) => {
            generic("tls: too many ignored records".to_owned())
        }
        Error::PeerMisbehaved(PeerMisbehaved::TooManyKeyUpdateRequests) => {
            generic("tls: too many non-advancing records".to_owned())
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
        CertificateError::Expired | CertificateError::NotValidYet => {
            NetError::with_detail(code::GENERIC, format!("x509: {OUT_OF_TIME}"), failed(OUT_OF_TIME))
        }
        CertificateError::ExpiredContext { time, not_after } => {
            let text = format!("{OUT_OF_TIME}: current time {} is after {}", utc(*time), utc(*not_after));
            NetError::with_detail(code::GENERIC, format!("x509: {text}"), failed(&text))
        }
        CertificateError::NotValidYetContext { time, not_before } => {
            let text = format!("{OUT_OF_TIME}: current time {} is before {}", utc(*time), utc(*not_before));
            NetError::with_detail(code::GENERIC, format!("x509: {text}"), failed(&text))
        }
        CertificateError::BadEncoding => {
            NetError::generic("tls: failed to parse certificate from server: x509: malformed certificate")
        }
        CertificateError::InvalidPurpose | CertificateError::InvalidPurposeContext { .. } => wrong("EkuError"),
        // A self-signed certificate that is a CA is no server's certificate to webpki; to Go it is one nobody signed.
        CertificateError::Other(other) if other.to_string().contains("CaUsedAsEndEntity") => NetError::with_detail(
            code::UNKNOWN_AUTHORITY,
            "x509: unknown authority",
            failed("certificate signed by unknown authority"),
        ),
        // Its text says less than its name.
        CertificateError::Other(other) => wrong(&format!("{other:?}")),
        other => NetError::with_detail(code::GENERIC, format!("x509: {other}"), failed(&other.to_string())),
    }
}

const OUT_OF_TIME: &str = "certificate has expired or is not yet valid";

/// What webpki finds wrong and rustls has no name for; `reason` holds webpki's name for it.
fn wrong(reason: &str) -> NetError {
    const WORDS: [(&str, &str); 5] = [
        ("Eku", "certificate specifies an incompatible key usage"),
        ("UnsupportedCriticalExtension", "unhandled critical extension"),
        ("PathLenConstraintViolated", "too many intermediates for path length constraint"),
        ("NameConstraintViolation", "a root or intermediate certificate is not authorized to sign for this name"),
        ("MaximumPathDepthExceeded", "too many intermediates for verification"),
    ];
    let failed = |text: &str| format!("tls: failed to verify certificate: x509: {text}");
    // Go looks no further than to one that is no authority.
    if reason.contains("EndEntityUsedAsCa") {
        return NetError::with_detail(
            code::UNKNOWN_AUTHORITY,
            "x509: unknown authority",
            failed("certificate signed by unknown authority"),
        );
    }
    let text = WORDS.iter().find(|(name, _)| reason.contains(name)).map_or(reason, |(_, text)| text);
    NetError::with_detail(code::GENERIC, format!("x509: {text}"), failed(text))
}

/// A time as Go writes it in UTC: `2006-01-02T15:04:05Z`.
fn utc(time: UnixTime) -> String {
    let seconds = i64::try_from(time.as_secs()).unwrap_or(i64::MAX);
    let (year, month, day) = date_of_days(seconds / 86_400);
    let rest = seconds % 86_400;
    format!("{year:04}-{month:02}-{day:02}T{:02}:{:02}:{:02}Z", rest / 3_600, rest / 60 % 60, rest % 60)
}

/// The name of Go's type for a handshake message.
fn message_name(kind: HandshakeType) -> Option<&'static str> {
    Some(match kind {
        HandshakeType::HelloRequest => "helloRequestMsg",
        HandshakeType::ClientHello => "clientHelloMsg",
        HandshakeType::ServerHello | HandshakeType::HelloRetryRequest => "serverHelloMsg",
        HandshakeType::NewSessionTicket => "newSessionTicketMsg",
        HandshakeType::EncryptedExtensions => "encryptedExtensionsMsg",
        HandshakeType::Certificate => "certificateMsg",
        HandshakeType::ServerKeyExchange => "serverKeyExchangeMsg",
        HandshakeType::CertificateRequest => "certificateRequestMsg",
        HandshakeType::ServerHelloDone => "serverHelloDoneMsg",
        HandshakeType::CertificateVerify => "certificateVerifyMsg",
        HandshakeType::Finished => "finishedMsg",
        HandshakeType::CertificateStatus => "certificateStatusMsg",
        HandshakeType::KeyUpdate => "keyUpdateMsg",
        _ => return None,
    })
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
