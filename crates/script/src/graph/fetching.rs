//! What is on servers: modules, and the source maps of modules. Whatever is known at a time is asked for together.

use std::sync::Arc;

use super::{Loader, extension};
use crate::{
    error::{ErrorKind, ScriptError},
    map::Map,
    remote::{self, Unfetched},
    source,
};

impl Loader<'_> {
    /// Fetches what is to be fetched now, at once.
    pub(super) fn fetch_modules(&mut self) {
        let wanted = std::mem::take(&mut self.to_fetch);
        let urls = wanted.iter().map(|(index, _)| self.drafts[*index].specifier.clone()).collect();
        for ((index, request), fetched) in wanted.into_iter().zip(self.fetched(urls)) {
            let bytes_max = self.options.source_bytes_max;
            let fetched = match fetched {
                Ok(bytes) if extension::is_extension(&self.drafts[index].path) => {
                    self.extension(index, bytes);
                    continue;
                }
                fetched => fetched,
            };
            let source = fetched.and_then(|bytes| {
                if bytes.len() as u64 > bytes_max {
                    return Err(Unfetched::new(format!("it is larger than {bytes_max} bytes"), ""));
                }
                let text = source::decode(bytes.to_vec())
                    .map_err(|reason| Unfetched::new(reason, "modules are text in UTF-8: see what the URL leads to"))?;
                if remote::is_page(&text) { Err(remote::page()) } else { Ok(text) }
            });
            match source {
                Ok(source) => self.compile(index, source),
                Err(unfetched) => {
                    let draft = &mut self.drafts[index];
                    let named = unfetched.named(&request, &draft.specifier);
                    let error = ScriptError::new(ErrorKind::Fetch, &draft.specifier, named.message);
                    draft.outcome = Err(error.with_hint(named.hint));
                    draft.unfetched = Some(unfetched);
                }
            }
        }
    }

    /// Fetches the source maps of remote modules. Scripts run without them.
    pub(super) fn fetch_maps(&mut self) {
        let wanted = std::mem::take(&mut self.maps);
        if wanted.is_empty() {
            return;
        }
        if self.options.remote.is_none() {
            wanted.iter().for_each(|(index, url)| self.warn_of_map(*index, &format!("{url} is not a local file")));
            return;
        }
        let urls = wanted.iter().map(|(_, url)| url.to_string()).collect();
        for ((index, url), fetched) in wanted.into_iter().zip(self.fetched(urls)) {
            let parsed = fetched.map_err(|unfetched| unfetched.reason).and_then(|bytes| {
                let json = str::from_utf8(&bytes).map_err(|_| "not UTF-8".to_owned())?;
                Map::parse(json, Some(&url)).map(|map| (map, bytes))
            });
            match parsed {
                Ok((map, bytes)) => {
                    if let Ok(compiled) = &mut self.drafts[index].outcome {
                        compiled.map = Some(map);
                    }
                    self.assets.push((url.into(), bytes));
                }
                Err(reason) => self.warn_of_map(index, &reason),
            }
        }
    }

    fn fetched(&mut self, urls: Vec<String>) -> Vec<Result<Arc<[u8]>, Unfetched>> {
        let Some(remote) = self.options.remote.as_deref() else {
            return urls.iter().map(|_| Err(remote::no_network())).collect();
        };
        let urls: Vec<&str> = urls.iter().map(String::as_str).collect();
        self.fetch.get_or_insert_with(|| remote.begin()).fetch(&urls)
    }

    pub(super) fn warn_of_map(&mut self, index: usize, reason: &str) {
        self.warnings.push(format!("couldn't load source map for {}: {reason}", self.drafts[index].specifier));
    }
}
