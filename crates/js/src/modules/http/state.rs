//! What the module keeps in a VU.

use std::{cell::RefCell, rc::Rc};

use onrush_net::CookieJar;

use super::expected::ResponseCallback;
use crate::vu::Vu;

/// A VU's cookie jar and response callback.
pub(super) struct HttpState {
    /// The jar and the call it belongs to.
    jar: RefCell<Option<(u64, SharedJar)>>,
    /// Set by `http.setResponseCallback`; `None` has no response judged.
    pub(super) callback: RefCell<Option<ResponseCallback>>,
}

pub(in crate::modules) type SharedJar = Rc<RefCell<CookieJar>>;

impl Default for HttpState {
    fn default() -> Self {
        Self { jar: RefCell::default(), callback: RefCell::new(Some(ResponseCallback::default())) }
    }
}

impl HttpState {
    pub(super) fn of(vu: &Vu) -> &Self {
        vu.slots.of()
    }

    /// The jar of the call under way, if it has one. It is forgotten when the next call begins, unless the options keep
    /// it.
    pub(super) fn jar(&self, vu: &Vu) -> Option<SharedJar> {
        let jar = self.jar.borrow();
        let (call, jar) = jar.as_ref()?;
        (vu.thread.config.http.no_cookies_reset || *call == vu.calls.get()).then(|| jar.clone())
    }

    /// The same, made if there is none.
    pub(super) fn jar_or_new(&self, vu: &Vu) -> SharedJar {
        self.jar(vu).unwrap_or_else(|| {
            let jar = SharedJar::default();
            self.jar.replace(Some((vu.calls.get(), jar.clone())));
            jar
        })
    }
}
