//! The authority, which issues certificates.

use std::num::NonZeroU16;

use rcgen::{
    BasicConstraints, CertificateParams, DistinguishedName, DnType, ExtendedKeyUsagePurpose, IsCa,
    Issuer, KeyPair, KeyUsagePurpose,
};
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use time::{Duration, OffsetDateTime};

use super::certificate::{Certificate, now};
use super::error::KeyError;
use super::name::NodeName;

/// Days that an authority is valid at least, so that its nodes can be renewed for years.
const DAYS_OF_AUTHORITY: u16 = 3650;

/// Time before its issue at which a certificate begins, because the clock of a peer may be late.
const EARLIER: Duration = Duration::days(1);

/// Time by which a certificate may end earlier than asked for, with its authority: the first ones are issued seconds later
/// than that of their authority.
const LATER: Duration = Duration::hours(1);

/// An authority with its key.
pub(super) struct Authority {
    issuer: Issuer<'static, KeyPair>,
    /// Its certificate.
    pub(super) certificate: Certificate,
    /// Its certificate as text.
    pub(super) certificate_pem: String,
}

/// A certificate with its key. It has no `Debug`, so that no log contains the key.
pub(super) struct Issued {
    pub(super) certificate: Certificate,
    pub(super) certificate_pem: String,
    pub(super) key_pem: String,
}

impl Authority {
    /// A new authority for certificates of so many days, and its key as text.
    pub(super) fn generate(days: NonZeroU16) -> Result<(Authority, String), KeyError> {
        let key = KeyPair::generate().map_err(KeyError::Generate)?;
        let mut params =
            parameters("haggle authority", valid_for(days.get().max(DAYS_OF_AUTHORITY)));
        params.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
        params.key_usages = vec![KeyUsagePurpose::KeyCertSign];
        let certificate_pem = params.self_signed(&key).map_err(KeyError::Generate)?.pem();
        let key_pem = key.serialize_pem();
        let authority = Authority::from_pem(&certificate_pem, &key_pem);
        Ok((authority.ok_or(KeyError::Generate(rcgen::Error::CouldNotParseCertificate))?, key_pem))
    }

    /// The authority in the texts of its files; `None` if they are none.
    pub(super) fn from_pem(certificate_pem: &str, key_pem: &str) -> Option<Authority> {
        let der = CertificateDer::from_pem_slice(certificate_pem.as_bytes()).ok()?;
        let key = KeyPair::from_pem(key_pem).ok()?;
        Some(Authority {
            certificate: Certificate::of(&der)?,
            issuer: Issuer::from_ca_cert_der(&der, key).ok()?,
            certificate_pem: certificate_pem.to_owned(),
        })
    }

    /// A certificate for a node.
    pub(super) fn issue(&self, name: &NodeName, days: NonZeroU16) -> Result<Issued, KeyError> {
        let (from, until) = valid_for(days.get());
        let last = self.certificate.valid_until;
        if until > last + LATER {
            let left = (last - now()).whole_days().max(0);
            return Err(KeyError::AuthorityEnds { on: self.certificate.last_day(), left });
        }
        self.issue_between(name, (from, until.min(last)))
    }

    /// A certificate that is valid from one instant to another.
    pub(super) fn issue_between(
        &self,
        name: &NodeName,
        validity: (OffsetDateTime, OffsetDateTime),
    ) -> Result<Issued, KeyError> {
        let key = KeyPair::generate().map_err(KeyError::Generate)?;
        let mut params = parameters(name.as_str(), validity);
        params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
        // A node makes connections and accepts them.
        params.extended_key_usages =
            vec![ExtendedKeyUsagePurpose::ServerAuth, ExtendedKeyUsagePurpose::ClientAuth];
        let signed = params.signed_by(&key, &self.issuer).map_err(KeyError::Generate)?;
        let unread = KeyError::Generate(rcgen::Error::CouldNotParseCertificate);
        Ok(Issued {
            certificate: Certificate::of(signed.der()).ok_or(unread)?,
            certificate_pem: signed.pem(),
            key_pem: key.serialize_pem(),
        })
    }
}

/// The first and the last instant of a certificate that is issued now.
fn valid_for(days: u16) -> (OffsetDateTime, OffsetDateTime) {
    // Certificates have whole seconds.
    let now = now().replace_nanosecond(0).unwrap_or_else(|_| now());
    (now - EARLIER, now + Duration::days(days.into()))
}

fn parameters(name: &str, (from, until): (OffsetDateTime, OffsetDateTime)) -> CertificateParams {
    let mut params = CertificateParams::default();
    params.distinguished_name = DistinguishedName::new();
    params.distinguished_name.push(DnType::CommonName, name);
    (params.not_before, params.not_after) = (from, until);
    params
}
