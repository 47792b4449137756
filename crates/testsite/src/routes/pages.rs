//! Pages with links, forms and tables, for scripts that read and submit HTML. Forms lead to `/anything/…`, which tells
//! what it was sent.

use super::request::{GET, Outcome, allow, not_found};
use crate::{
    head::Head,
    reply::{Built, Payload},
    response_head::HTML,
};

const FORMS: &[u8] = include_bytes!("../../assets/forms.html");
const LINKS: &[u8] = include_bytes!("../../assets/links.html");
const BASE: &[u8] = include_bytes!("../../assets/base.html");
const TABLES: &[u8] = include_bytes!("../../assets/tables.html");
const BROKEN: &[u8] = include_bytes!("../../assets/broken.html");

/// `/pages/{name}`.
pub(super) fn page(head: &Head<'_>, name: &str) -> Outcome {
    let text = match name {
        "forms" => FORMS,
        "links" | "links/deep/here" => LINKS,
        "base" => BASE,
        "tables" => TABLES,
        "broken" => BROKEN,
        _ => return Err(not_found()),
    };
    allow(head, GET)?;
    Ok(Built::with_payload(200, HTML, Payload::Text(text)))
}
