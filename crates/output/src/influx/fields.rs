//! Tags that are fields: InfluxDB keeps an index of every value of a tag, and none of those of a field.

/// Which tags are fields, and of which type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FieldKinds(Vec<(String, Kind)>);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Text,
    Whole,
    Number,
    Truth,
}

/// Why a list is none. The texts are k6's.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FieldError {
    /// A tag is in it twice.
    #[error("a tag name ({0}) shows up more than once in InfluxDB field type configurations")]
    Twice(String),
    /// There is no such type.
    #[error("an invalid type ({1}) is specified for an InfluxDB field ({0})")]
    Type(String, String),
}

impl FieldKinds {
    /// k6's own list.
    pub const OF_K6: &str = "vu,iter,url";

    /// Reads `name,name:int,…`.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn parse(text: &str) -> Result<Self, FieldError> {
        let mut kinds: Vec<(String, Kind)> = Vec::new();
        for item in text.split(',').map(str::trim).filter(|item| !item.is_empty()) {
            let (name, kind) = item.split_once(':').unwrap_or((item, "string"));
            let kind = match kind {
                "string" => Kind::Text,
                "int" => Kind::Whole,
                "float" => Kind::Number,
                "bool" => Kind::Truth,
                other => return Err(FieldError::Type(name.to_owned(), other.to_owned())),
            };
            if kinds.iter().any(|(known, _)| known == name) {
                return Err(FieldError::Twice(name.to_owned()));
            }
            kinds.push((name.to_owned(), kind));
        }
        Ok(Self(kinds))
    }

    /// Whether a tag is a field.
    pub(crate) fn has(&self, tag: &str) -> bool {
        self.0.iter().any(|(name, _)| name == tag)
    }

    /// Writes the value of a tag as its field. k6: what is not of the type stays a text.
    pub(crate) fn write(&self, tag: &str, value: &str, out: &mut String) {
        let kind = self.0.iter().find(|(name, _)| name == tag).map_or(Kind::Text, |(_, kind)| *kind);
        let typed = match kind {
            Kind::Text => None,
            Kind::Whole => value.parse::<i64>().ok().map(|number| format!("{number}i")),
            Kind::Number => {
                value.parse::<f64>().ok().filter(|number| number.is_finite()).map(|number| number.to_string())
            }
            Kind::Truth => value.parse::<bool>().ok().map(|truth| truth.to_string()),
        };
        if let Some(typed) = typed {
            return out.push_str(&typed);
        }
        out.push('"');
        for sign in value.chars() {
            if ['"', '\\'].contains(&sign) {
                out.push('\\');
            }
            out.push(sign);
        }
        out.push('"');
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists() {
        let check = |text: &str, expect: Result<usize, &str>| {
            let read = FieldKinds::parse(text).map(|kinds| kinds.0.len()).map_err(|error| error.to_string());
            assert_eq!(read, expect.map_err(str::to_owned), "{text}");
        };
        check("", Ok(0));
        check("vu:int,iter:int,url", Ok(3));
        check("a,b,a", Err("a tag name (a) shows up more than once in InfluxDB field type configurations"));
        check("a:text", Err("an invalid type (text) is specified for an InfluxDB field (a)"));
    }
}
