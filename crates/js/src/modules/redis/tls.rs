//! `socket.tls`: certificates of a client's own.

use std::cell::OnceCell;

use onrush_net::{ClientAuth, OwnTls};

use super::fields::{Fields, TLS, wrong_type};
use crate::{
    embed::{Ctx, Handle, JsResult},
    vu::Vu,
};

/// How a server is spoken to over TLS; without anything, as the run's options say.
#[derive(Default)]
pub(super) struct Tls {
    roots_pem: String,
    cert_pem: String,
    key_pem: String,
    /// Made with the first connection.
    settings: OnceCell<OwnTls>,
}

impl std::fmt::Debug for Tls {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Tls").finish_non_exhaustive()
    }
}

impl Tls {
    pub(super) fn read(ctx: Ctx, object: &Handle) -> JsResult<Result<Self, String>> {
        let fields = match Fields::of(ctx, object, "tlsOptions", "socket.tls.", &[TLS])? {
            Ok(fields) => fields,
            Err(error) => return Ok(Err(error)),
        };
        let (cert_pem, key_pem) = (fields.text("cert"), fields.text("key"));
        let mut tls = Self::default();
        // k6: one without the other is ignored.
        if !cert_pem.is_empty() && !key_pem.is_empty() {
            for (pem, what) in [(&cert_pem, "certificate"), (&key_pem, "key")] {
                if !pem.contains("-----BEGIN ") {
                    return Ok(Err(format!("tls: failed to find any PEM data in {what} input")));
                }
            }
            (tls.cert_pem, tls.key_pem) = (cert_pem, key_pem);
        }
        let roots = object.get(ctx, "ca")?;
        if roots.is_set() && !roots.is_array() {
            return Ok(Err(wrong_type(ctx, &roots, "tlsOptions.socket.tls.ca", "[]string")));
        }
        for index in 0..if roots.is_array() { roots.length(ctx)? } else { 0 } {
            let root = roots.get_index(ctx, index)?;
            if !root.is_string() {
                return Ok(Err(wrong_type(ctx, &root, "tlsOptions.socket.tls.ca", "string")));
            }
            tls.roots_pem.push_str(&root.to_text(ctx)?);
            tls.roots_pem.push('\n');
        }
        Ok(Ok(tls))
    }

    /// The settings of a connection; nothing where they are the run's.
    ///
    /// # Errors
    /// What is wrong with the certificates.
    pub(super) fn settings(&self, vu: &Vu) -> Result<Option<&OwnTls>, String> {
        if self.roots_pem.is_empty() && self.cert_pem.is_empty() {
            return Ok(None);
        }
        if let Some(settings) = self.settings.get() {
            return Ok(Some(settings));
        }
        let auth = (!self.cert_pem.is_empty()).then(|| ClientAuth {
            cert_pem: self.cert_pem.clone(),
            key_pem: self.key_pem.clone(),
            password: String::new(),
            domains: Vec::new(),
        });
        let roots = (!self.roots_pem.is_empty()).then_some(self.roots_pem.as_str());
        let made = vu.thread.client.own_tls(auth, roots).map_err(|error| format!("tls: {error}"))?;
        Ok(Some(self.settings.get_or_init(|| made)))
    }
}
