//! The classes and their accessors, as measured.

use super::{
    Accessor, Class,
    Kind::{self, Address, Choice, Computed, Constant, Flag, Int, Text, Url},
    Mixin, UrlPart, Value,
};
use crate::{
    Document, NodeId,
    element::{self as e, ENCODINGS},
};

const fn a(name: &'static str, kind: Kind) -> Accessor {
    Accessor { name, kind }
}

const fn class(name: &'static str, tags: &'static [&'static str], mixin: Mixin, own: &'static [Accessor]) -> Class {
    Class { name, tags, mixin, own }
}

const POLICY: Kind = Choice(
    "referrerpolicy",
    &["no-referrer", "no-referrer-when-downgrade", "origin", "origin-when-cross-origin", "unsafe-url"],
    Some(""),
);
const CROSS_ORIGIN: Kind = Choice("crossorigin", &["anonymous", "use-credentials"], None);
const ENCTYPE: Kind = Choice("enctype", ENCODINGS, Some("application/x-www-form-urlencoded"));
const ON_OFF: Kind = Choice("autocomplete", &["on", "off"], Some("on"));
const FORM: Accessor = a("form", Computed(e::owner));
const LABELS: Accessor = a("labels", Computed(e::labels));
const NAME: Accessor = a("name", Text("name"));
const VALUE: Accessor = a("value", Text("value"));
const TYPE: Accessor = a("type", Text("type"));
const SRC: Accessor = a("src", Address("src"));
const MEDIA_QUERY: Accessor = a("media", Text("media"));
const WIDTH: Accessor = a("width", Text("width"));
const HEIGHT: Accessor = a("height", Text("height"));
const DISABLED: Accessor = a("disabled", Flag("disabled"));
const REQUIRED: Accessor = a("required", Flag("required"));
const AUTOFOCUS: Accessor = a("autofocus", Flag("autofocus"));
const ACCESS_KEY: Accessor = a("accessKey", Text("accesskey"));
const TAB_INDEX: Accessor = a("tabIndex", Int("tabindex", 0));
const TARGET: Accessor = a("target", Text("target"));
const HREF_ADDRESS: Accessor = a("href", Address("href"));
const REL: Accessor = a("rel", Text("rel"));
const REL_LIST: Accessor = a("relList", Computed(e::rel_list));
const USE_MAP: Accessor = a("useMap", Text("usemap"));
const PLACEHOLDER: Accessor = a("placeholder", Text("placeholder"));
const TEXT: Accessor = a("text", Computed(e::text_content));
const OPTIONS: Accessor = a("options", Computed(e::options));
const DATETIME: Accessor = a("datetime", Text("datetime"));
const LABEL: Accessor = a("label", Text("label"));

pub(super) const HREF: &[Accessor] = &[
    ACCESS_KEY,
    a("download", Text("download")),
    a("hash", Url(UrlPart::Hash)),
    a("host", Url(UrlPart::Host)),
    a("hostname", Url(UrlPart::Hostname)),
    HREF_ADDRESS,
    a("hrefLang", Text("hreflang")),
    a("origin", Url(UrlPart::Origin)),
    a("password", Url(UrlPart::Password)),
    a("pathname", Url(UrlPart::Pathname)),
    a("port", Url(UrlPart::Port)),
    a("protocol", Url(UrlPart::Protocol)),
    a("referrerPolicy", POLICY),
    REL,
    REL_LIST,
    a("search", Url(UrlPart::Search)),
    TARGET,
    TEXT,
    a("toString", Address("href")),
    TYPE,
    a("username", Url(UrlPart::Username)),
];

pub(super) const FORM_FIELD: &[Accessor] = &[
    FORM,
    a("formAction", Computed(e::form_action)),
    a("formEnctype", Computed(e::form_enctype)),
    a("formMethod", Computed(e::form_method)),
    a("formNoValidate", Computed(e::form_no_validate)),
    a("formTarget", Computed(e::form_target)),
    LABELS,
    NAME,
];

pub(super) const MEDIA: &[Accessor] = &[
    a("autoplay", Flag("autoplay")),
    a("controls", Flag("controls")),
    a("crossOrigin", CROSS_ORIGIN),
    a("currentSrc", Text("src")),
    a("defaultMuted", Flag("muted")),
    a("loop", Flag("loop")),
    a("mediaGroup", Text("mediagroup")),
    a("muted", Flag("muted")),
    a("preload", Choice("preload", &["none", "metadata", "auto"], Some("auto"))),
    SRC,
    a("textTracks", Computed(e::text_tracks)),
];

pub(super) const MOD: &[Accessor] = &[a("cite", Text("cite")), DATETIME];
pub(super) const TABLE_SECTION: &[Accessor] = &[a("rows", Computed(e::rows))];
pub(super) const TABLE_CELL: &[Accessor] = &[
    a("cellIndex", Computed(e::cell_index)),
    a("colSpan", Int("colspan", 1)),
    a("headers", Text("headers")),
    a("rowSpan", Int("rowspan", 1)),
];

const INPUT_TYPES: &[&str] = &[
    "button",
    "checkbox",
    "color",
    "date",
    "datetime-local",
    "email",
    "file",
    "hidden",
    "image",
    "month",
    "number",
    "password",
    "radio",
    "range",
    "reset",
    "search",
    "submit",
    "tel",
    "text",
    "time",
    "url",
    "week",
];

const INPUT: &[Accessor] = &[
    a("accept", Text("accept")),
    ACCESS_KEY,
    a("alt", Text("alt")),
    a("autocomplete", ON_OFF),
    AUTOFOCUS,
    a("checked", Flag("checked")),
    a("defaultChecked", Flag("checked")),
    a("defaultValue", Text("value")),
    a("dirName", Text("dirname")),
    DISABLED,
    HEIGHT,
    a("list", Computed(e::input_list)),
    a("max", Text("max")),
    a("maxLength", Int("maxlength", -1)),
    a("min", Text("min")),
    a("multiple", Flag("multiple")),
    a("pattern", Text("pattern")),
    PLACEHOLDER,
    a("readonly", Flag("readonly")),
    REQUIRED,
    a("size", Int("size", 0)),
    SRC,
    a("step", Text("step")),
    TAB_INDEX,
    a("type", Choice("type", INPUT_TYPES, Some("text"))),
    VALUE,
    WIDTH,
];

const TEXT_AREA: &[Accessor] = &[
    ACCESS_KEY,
    a(
        "autocapitalize",
        Choice("autocapitalize", &["none", "off", "characters", "words", "sentences"], Some("sentences")),
    ),
    a("autocomplete", ON_OFF),
    a("cols", Int("cols", 0)),
    a("defaultValue", Text("value")),
    FORM,
    LABELS,
    a("length", Computed(e::textarea_length)),
    a("maxLength", Int("maxlength", 0)),
    PLACEHOLDER,
    a("readOnly", Flag("readonly")),
    REQUIRED,
    a("rows", Int("rows", 0)),
    TAB_INDEX,
    a("type", Constant("textarea")),
    VALUE,
    a("wrap", Choice("wrap", &["hard", "soft", "off"], Some("soft"))),
];

pub(super) const CLASSES: &[Class] = &[
    class("AnchorElement", &["a"], Mixin::Href, &[]),
    class("AreaElement", &["area"], Mixin::Href, &[]),
    class("AudioElement", &["audio"], Mixin::Media, &[]),
    class("VideoElement", &["video"], Mixin::Media, &[]),
    class("BaseElement", &["base"], Mixin::None, &[HREF_ADDRESS, TARGET]),
    class(
        "ButtonElement",
        &["button"],
        Mixin::FormField,
        &[
            ACCESS_KEY,
            AUTOFOCUS,
            DISABLED,
            TAB_INDEX,
            a("type", Choice("type", &["submit", "button", "menu", "reset"], Some("submit"))),
            a("value", Computed(e::button_value)),
        ],
    ),
    class("CanvasElement", &["canvas"], Mixin::None, &[a("height", Int("height", 150)), a("width", Int("width", 150))]),
    class("ColElement", &["col"], Mixin::None, &[a("span", Int("span", 1))]),
    class("DataElement", &["data"], Mixin::None, &[VALUE]),
    class("DataListElement", &["datalist"], Mixin::None, &[OPTIONS]),
    class("DelElement", &["del"], Mixin::Mod, &[]),
    class("InsElement", &["ins"], Mixin::Mod, &[]),
    class("EmbedElement", &["embed"], Mixin::None, &[HEIGHT, a("src", Text("src")), TYPE, WIDTH]),
    class(
        "FieldSetElement",
        &["fieldset"],
        Mixin::None,
        &[
            DISABLED,
            a("elements", Computed(e::fieldset_elements)),
            FORM,
            NAME,
            a("type", Constant("fieldset")),
            a("validity", Computed(|_, _| Value::Undefined)),
        ],
    ),
    class(
        "FormElement",
        &["form"],
        Mixin::None,
        &[
            a("acceptCharset", Text("accept-charset")),
            a("action", Address("action")),
            a("autocomplete", ON_OFF),
            a("elements", Computed(e::form_elements)),
            a("encoding", ENCTYPE),
            a("enctype", ENCTYPE),
            a("length", Computed(e::form_length)),
            a("method", Choice("method", &["get", "post"], Some("get"))),
            NAME,
            a("noValidate", Flag("novalidate")),
            TARGET,
        ],
    ),
    class(
        "IFrameElement",
        &["iframe"],
        Mixin::None,
        &[a("allowfullscreen", Flag("allowfullscreen")), HEIGHT, NAME, a("referrerPolicy", POLICY), SRC, WIDTH],
    ),
    class(
        "ImageElement",
        &["img"],
        Mixin::None,
        &[
            a("alt", Text("alt")),
            a("crossOrigin", CROSS_ORIGIN),
            a("currentSrc", Address("src")),
            a("height", Int("height", 0)),
            a("isMap", Flag("ismap")),
            NAME,
            a("referrerPolicy", POLICY),
            a("sizes", Text("sizes")),
            SRC,
            a("srcset", Text("srcset")),
            USE_MAP,
            a("width", Int("width", 0)),
        ],
    ),
    class("InputElement", &["input"], Mixin::FormField, INPUT),
    class(
        "KeygenElement",
        &["keygen"],
        Mixin::None,
        &[
            AUTOFOCUS,
            a("challenge", Text("challenge")),
            DISABLED,
            FORM,
            a("keytype", Choice("keytype", &["RSA", "DSA", "EC"], Some("RSA"))),
            LABELS,
            NAME,
            a("type", Constant("keygen")),
        ],
    ),
    class(
        "LabelElement",
        &["label"],
        Mixin::None,
        &[a("control", Computed(e::label_control)), FORM, a("htmlFor", Text("for"))],
    ),
    class("LegendElement", &["legend"], Mixin::None, &[ACCESS_KEY, FORM]),
    class(
        "LiElement",
        &["li"],
        Mixin::None,
        &[
            a("type", Choice("type", &["1", "a", "A", "i", "I", "disc", "square", "circle"], Some(""))),
            a("value", Int("value", 0)),
        ],
    ),
    class(
        "LinkElement",
        &["link"],
        Mixin::None,
        &[
            a("crossOrigin", CROSS_ORIGIN),
            HREF_ADDRESS,
            a("hreflang", Text("hreflang")),
            MEDIA_QUERY,
            a("referrerPolicy", POLICY),
            REL,
            REL_LIST,
            TARGET,
            TYPE,
        ],
    ),
    class(
        "MapElement",
        &["map"],
        Mixin::None,
        &[a("areas", Computed(e::map_areas)), a("images", Computed(e::map_images)), NAME],
    ),
    class(
        "MetaElement",
        &["meta"],
        Mixin::None,
        &[
            a("content", Text("content")),
            a("httpEquiv", Choice("http-equiv", &["content-type", "default-style", "refresh"], Some("content-type"))),
            NAME,
        ],
    ),
    class(
        "MeterElement",
        &["meter"],
        Mixin::None,
        &[
            a("high", Int("high", 0)),
            LABELS,
            a("low", Int("low", 0)),
            a("max", Int("max", 0)),
            a("min", Int("min", 0)),
            a("optimum", Int("optimum", 0)),
        ],
    ),
    class(
        "ObjectElement",
        &["object"],
        Mixin::None,
        &[
            a("data", Address("data")),
            FORM,
            HEIGHT,
            NAME,
            TAB_INDEX,
            TYPE,
            a("typeMustMatch", Flag("typemustmatch")),
            USE_MAP,
            WIDTH,
        ],
    ),
    class(
        "OListElement",
        &["ol"],
        Mixin::None,
        &[
            a("reversed", Flag("reversed")),
            a("start", Int("start", 0)),
            a("type", Choice("type", &["1", "a", "A", "i", "I"], Some("1"))),
        ],
    ),
    class("OptGroupElement", &["optgroup"], Mixin::None, &[DISABLED, LABEL]),
    class(
        "OptionElement",
        &["option"],
        Mixin::None,
        &[
            a("defaultSelected", Flag("selected")),
            a("disabled", Computed(e::option_disabled)),
            FORM,
            a("index", Computed(e::option_index)),
            a("label", Computed(e::option_label)),
            a("selected", Flag("selected")),
            TEXT,
            a("value", Computed(e::option_value)),
        ],
    ),
    class(
        "OutputElement",
        &["output"],
        Mixin::None,
        &[
            a("defaultValue", Computed(e::text_content)),
            FORM,
            a("htmlFor", Text("for")),
            LABELS,
            NAME,
            a("type", Constant("output")),
            a("value", Computed(e::text_content)),
        ],
    ),
    class("ParamElement", &["param"], Mixin::None, &[NAME, VALUE]),
    class("PreElement", &["pre"], Mixin::None, &[NAME, VALUE]),
    class(
        "ProgressElement",
        &["progress"],
        Mixin::None,
        &[
            LABELS,
            a("max", Computed(e::progress_max)),
            a("position", Computed(e::progress_position)),
            a("value", Computed(e::progress_value)),
        ],
    ),
    class(
        "ScriptElement",
        &["script"],
        Mixin::None,
        &[
            a("async", Flag("async")),
            a("charset", Text("charset")),
            a("crossOrigin", Text("crossorigin")),
            a("defer", Flag("defer")),
            a("noModule", Flag("nomodule")),
            SRC,
            TEXT,
            TYPE,
        ],
    ),
    class(
        "SelectElement",
        &["select"],
        Mixin::None,
        &[
            AUTOFOCUS,
            DISABLED,
            FORM,
            LABELS,
            a("length", Computed(e::select_length)),
            a("multiple", Flag("multiple")),
            NAME,
            OPTIONS,
            REQUIRED,
            a("selectedIndex", Computed(e::selected_index)),
            a("selectedOptions", Computed(e::selected_options)),
            a("size", Computed(e::select_size)),
            TAB_INDEX,
            a("type", Computed(e::select_type)),
            a("value", Computed(e::select_value)),
        ],
    ),
    class(
        "SourceElement",
        &["source"],
        Mixin::None,
        &[
            a("keySystem", Text("keysystem")),
            MEDIA_QUERY,
            a("sizes", Text("sizes")),
            SRC,
            a("srcset", Text("srcset")),
            TYPE,
        ],
    ),
    class("StyleElement", &["style"], Mixin::None, &[MEDIA_QUERY, a("type", Computed(style_type))]),
    class(
        "TableElement",
        &["table"],
        Mixin::None,
        &[
            a("caption", Computed(e::table_caption)),
            a("rows", Computed(e::rows)),
            a("sortable", Flag("sortable")),
            a("tBodies", Computed(e::table_bodies)),
            a("tFoot", Computed(e::table_foot)),
            a("tHead", Computed(e::table_head)),
        ],
    ),
    class("TableHeadElement", &["thead"], Mixin::TableSection, &[]),
    class("TableFootElement", &["tfoot"], Mixin::TableSection, &[]),
    class("TableBodyElement", &["tbody"], Mixin::TableSection, &[]),
    class(
        "TableRowElement",
        &["tr"],
        Mixin::None,
        &[
            a("cells", Computed(e::row_cells)),
            a("rowIndex", Computed(e::row_index)),
            a("sectionRowIndex", Computed(e::section_row_index)),
        ],
    ),
    class("TableDataCellElement", &["td"], Mixin::TableCell, &[]),
    class(
        "TableHeaderCellElement",
        &["th"],
        Mixin::TableCell,
        &[
            a("abbr", Text("abbr")),
            a("scope", Choice("scope", &["row", "col", "rowgroup", "colgroup"], Some(""))),
            a("sorted", Flag("sorted")),
        ],
    ),
    class("TextAreaElement", &["textarea"], Mixin::None, TEXT_AREA),
    class("TimeElement", &["time"], Mixin::None, &[DATETIME]),
    class("TitleElement", &["title"], Mixin::None, &[TEXT]),
    class(
        "TrackElement",
        &["track"],
        Mixin::None,
        &[
            a("default", Flag("default")),
            a(
                "kind",
                Choice("kind", &["subtitle", "captions", "descriptions", "chapters", "metadata"], Some("subtitle")),
            ),
            LABEL,
            SRC,
            a("srclang", Text("srclang")),
        ],
    ),
    class("UListElement", &["ul"], Mixin::None, &[TYPE]),
];

fn style_type(document: &Document, node: NodeId) -> Value {
    Value::Text(document.attribute(node, "type").unwrap_or("text/css").to_owned())
}
