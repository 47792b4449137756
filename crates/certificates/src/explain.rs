//! What is wrong with a certificate, in words, and what to do about it.

use rustls::{AlertDescription, CertificateError, Error};
use rustls_pki_types::UnixTime;

/// Whose certificate it is, as the reader sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Party {
    /// The coordinator's, read by those who dial it.
    Coordinator,
    /// That of somebody who dials, read by the coordinator.
    Caller,
    /// The reader's own.
    Own,
}

impl Party {
    fn whose(self) -> &'static str {
        match self {
            Self::Coordinator => "the coordinator's certificate",
            Self::Caller => "its certificate",
            Self::Own => "it",
        }
    }
}

/// Why a certificate, or the lack of one, ended a connection; `None` for errors of another kind.
pub fn explain(error: &Error, party: Party) -> Option<String> {
    let whose = party.whose();
    match error {
        Error::InvalidCertificate(wrong) => Some(certificate(wrong, whose)),
        Error::NoCertificatesPresented => {
            Some("it showed no certificate: give it one with --tls, made by `onrush cluster add`".to_owned())
        }
        // What the other side says of ours.
        Error::AlertReceived(alert) => alert_about(*alert, party),
        _ => None,
    }
}

fn certificate(error: &CertificateError, whose: &str) -> String {
    use CertificateError as E;
    match error {
        E::ExpiredContext { not_after, .. } => {
            format!("{whose} expired on {}: renew it with `onrush cluster renew`", day(*not_after))
        }
        E::Expired => format!("{whose} has expired: renew it with `onrush cluster renew`"),
        E::NotValidYetContext { not_before, .. } => {
            format!("{whose} is not valid before {}: is the clock of one of the two machines wrong?", day(*not_before))
        }
        E::NotValidYet => format!("{whose} is not valid yet: is the clock of one of the two machines wrong?"),
        E::UnknownIssuer | E::BadSignature => {
            format!("{whose} was issued by another authority: both sides need certificates of the same one")
        }
        E::NotValidForNameContext { expected, presented } => {
            let names: Vec<&str> = presented.iter().map(|name| bare(name)).collect();
            format!(
                "{whose} is not for \"{}\" but for {}: use one of these, or issue one for this name with `onrush cluster renew --name`",
                expected.to_str(),
                names.join(", ")
            )
        }
        E::NotValidForName => format!("{whose} is for another name"),
        E::InvalidPurpose | E::InvalidPurposeContext { .. } => {
            format!(
                "{whose} is for another purpose: a coordinator's cannot be used by those who dial, nor theirs by it"
            )
        }
        other => format!("{whose} cannot be used: {other}"),
    }
}

fn alert_about(alert: AlertDescription, party: Party) -> Option<String> {
    let (they, ours) = match party {
        Party::Caller => ("it refuses this coordinator's certificate", "coordinator"),
        Party::Coordinator | Party::Own => ("the coordinator refuses this certificate", "member"),
    };
    let why = match alert {
        AlertDescription::CertificateExpired => "it has expired: renew it with `onrush cluster renew`".to_owned(),
        AlertDescription::UnknownCA | AlertDescription::DecryptError => {
            "it was issued by another authority: both sides need certificates of the same one".to_owned()
        }
        AlertDescription::CertificateRequired => {
            return Some(
                "the coordinator asks for a certificate: give one with --tls, made by `onrush cluster add`".to_owned(),
            );
        }
        AlertDescription::BadCertificate
        | AlertDescription::UnsupportedCertificate
        | AlertDescription::CertificateUnknown
        | AlertDescription::AccessDenied => format!("it is not that of a {ours} it believes; its own log says more"),
        _ => return None,
    };
    Some(format!("{they}: {why}"))
}

/// The name within `DnsName("a")` and `IpAddress(10.0.0.1)`.
fn bare(name: &str) -> &str {
    name.split_once('(').map_or(name, |(_, rest)| rest.trim_end_matches(')').trim_matches('"'))
}

/// A date as people read it.
pub fn day(time: UnixTime) -> String {
    let seconds = i64::try_from(time.as_secs()).unwrap_or(i64::MAX);
    match jiff::Timestamp::from_second(seconds) {
        Ok(time) => time.strftime("%Y-%m-%d %H:%M UTC").to_string(),
        Err(_) => "a date that is none".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use rustls_pki_types::ServerName;

    use super::*;

    fn check(error: CertificateError, expect: &str) {
        assert_eq!(explain(&Error::InvalidCertificate(error), Party::Coordinator).as_deref(), Some(expect));
    }

    #[test]
    fn what_is_wrong_is_said_with_what_to_do() {
        let at = |seconds| UnixTime::since_unix_epoch(Duration::from_secs(seconds));
        check(
            CertificateError::ExpiredContext { time: at(2_000_000_000), not_after: at(1_794_000_000) },
            "the coordinator's certificate expired on 2026-11-06 21:20 UTC: renew it with `onrush cluster renew`",
        );
        check(
            CertificateError::UnknownIssuer,
            "the coordinator's certificate was issued by another authority: both sides need certificates of the same one",
        );
        let expected = ServerName::try_from("other").expect("a name");
        let presented = vec!["DnsName(\"load-1\")".to_owned(), "IpAddress(10.0.0.1)".to_owned()];
        check(
            CertificateError::NotValidForNameContext { expected, presented },
            "the coordinator's certificate is not for \"other\" but for load-1, 10.0.0.1: use one of these, or issue one for this name with `onrush cluster renew --name`",
        );
    }

    #[test]
    fn errors_of_other_kinds_are_not_about_certificates() {
        assert_eq!(explain(&Error::HandshakeNotComplete, Party::Own), None);
        assert_eq!(explain(&Error::AlertReceived(AlertDescription::InternalError), Party::Own), None);
        let alert = explain(&Error::AlertReceived(AlertDescription::CertificateExpired), Party::Coordinator);
        assert!(alert.is_some_and(|text| text.starts_with("the coordinator refuses this certificate: it has expired")));
    }
}
