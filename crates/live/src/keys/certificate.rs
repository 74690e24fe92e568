//! Facts of a certificate, and its fingerprint.

use std::fmt;
use std::str::FromStr;

use rustls::pki_types::CertificateDer;
use sha2::{Digest, Sha256};
use time::{Date, OffsetDateTime};
use x509_parser::prelude::{FromDer, X509Certificate};

use super::name::NodeName;

/// The time now. A certificate is valid by the calendar, not by the time of a run.
pub(super) fn now() -> OffsetDateTime {
    OffsetDateTime::now_utc()
}

/// The SHA-256 of a certificate. Its text is `sha256:` and 64 digits of base 16.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Fingerprint([u8; 32]);

impl Fingerprint {
    /// The fingerprint of a certificate in DER.
    pub fn of(der: &[u8]) -> Fingerprint {
        Fingerprint(Sha256::digest(der).into())
    }
}

impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("sha256:")?;
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

/// A text that is no fingerprint.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a fingerprint is `sha256:` and 64 digits of base 16")]
pub struct NoFingerprint;

impl FromStr for Fingerprint {
    type Err = NoFingerprint;

    fn from_str(text: &str) -> Result<Fingerprint, NoFingerprint> {
        let digits = text.strip_prefix("sha256:").ok_or(NoFingerprint)?;
        if digits.len() != 64 || !digits.bytes().all(|it| it.is_ascii_hexdigit()) {
            return Err(NoFingerprint);
        }
        let mut bytes = [0; 32];
        for (byte, place) in bytes.iter_mut().zip((0..64).step_by(2)) {
            *byte = u8::from_str_radix(&digits[place..place + 2], 16).map_err(|_| NoFingerprint)?;
        }
        Ok(Fingerprint(bytes))
    }
}

/// A certificate of a node or an authority, as far as people read it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Certificate {
    /// The name in it, if it is one of a node.
    pub name: Option<NodeName>,
    /// Its fingerprint.
    pub fingerprint: Fingerprint,
    /// Its last instant.
    pub valid_until: OffsetDateTime,
}

impl Certificate {
    /// The facts of a certificate in DER; `None` if it is none.
    pub(super) fn of(der: &CertificateDer<'_>) -> Option<Certificate> {
        let (rest, read) = X509Certificate::from_der(der).ok()?;
        let mut names = read.subject().iter_common_name();
        let name = names.next().and_then(|it| it.as_str().ok()?.parse().ok());
        let is_one = names.next().is_none();
        rest.is_empty().then(|| Certificate {
            name: name.filter(|_| is_one),
            fingerprint: Fingerprint::of(der),
            valid_until: read.validity().not_after.to_datetime(),
        })
    }

    /// The day on which it ends, in UTC.
    pub fn last_day(&self) -> Date {
        self.valid_until.date()
    }

    /// True if its time is over.
    pub fn is_expired(&self) -> bool {
        self.valid_until < now()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fingerprint_is_read_as_it_is_written() {
        let text = "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        let found = Fingerprint::of(b"abc");
        assert_eq!(found.to_string(), text);
        assert_eq!(text.parse(), Ok(found));
        assert_eq!(text.to_uppercase().replace("SHA", "sha").parse(), Ok(found));
        let short = &text[..70];
        for other in ["", "sha256:", "abc", short, &text[7..], &format!("{text}0")] {
            assert_eq!(other.parse::<Fingerprint>(), Err(NoFingerprint), "{other}");
        }
        let no_digit = text.replace("sha256:b", "sha256:+");
        assert_eq!(no_digit.parse::<Fingerprint>(), Err(NoFingerprint));
    }
}
