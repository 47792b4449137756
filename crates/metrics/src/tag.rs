//! Tag names: the system tags k6 defines, and the keys tags are reduced to.
//!
//! Tag *values* are interned per shard (see [`crate::Shard`]); nothing here holds one.

/// A tag k6 sets by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum SystemTag {
    /// Protocol, `HTTP/1.1`.
    Proto,
    /// WebSocket sub-protocol.
    Subproto,
    /// Response status.
    Status,
    /// Request method.
    Method,
    /// Request URL, credentials masked; equals `name` where a name was set.
    Url,
    /// Request name.
    Name,
    /// Group path, `::a::b`.
    Group,
    /// Name of a check.
    Check,
    /// Error text.
    Error,
    /// Numeric error code.
    ErrorCode,
    /// TLS version.
    TlsVersion,
    /// Scenario name.
    Scenario,
    /// RPC service.
    Service,
    /// Whether the response callback accepted the response.
    ExpectedResponse,
    /// VU number: metadata, never part of a series.
    Vu,
    /// Iteration number: metadata, never part of a series.
    Iter,
    /// OCSP status.
    OcspStatus,
    /// Peer address.
    Ip,
}

impl SystemTag {
    /// Every system tag, in the order of their keys.
    pub const ALL: [Self; 18] = [
        Self::Proto,
        Self::Subproto,
        Self::Status,
        Self::Method,
        Self::Url,
        Self::Name,
        Self::Group,
        Self::Check,
        Self::Error,
        Self::ErrorCode,
        Self::TlsVersion,
        Self::Scenario,
        Self::Service,
        Self::ExpectedResponse,
        Self::Vu,
        Self::Iter,
        Self::OcspStatus,
        Self::Ip,
    ];

    /// The set that is on unless the user chooses another.
    pub const DEFAULTS: SystemTags = SystemTags(0x3fff);

    /// k6's name of the tag.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Proto => "proto",
            Self::Subproto => "subproto",
            Self::Status => "status",
            Self::Method => "method",
            Self::Url => "url",
            Self::Name => "name",
            Self::Group => "group",
            Self::Check => "check",
            Self::Error => "error",
            Self::ErrorCode => "error_code",
            Self::TlsVersion => "tls_version",
            Self::Scenario => "scenario",
            Self::Service => "service",
            Self::ExpectedResponse => "expected_response",
            Self::Vu => "vu",
            Self::Iter => "iter",
            Self::OcspStatus => "ocsp_status",
            Self::Ip => "ip",
        }
    }

    /// The tag k6 calls `name`.
    #[expect(clippy::should_implement_trait, reason = "an unknown name is no error, and `FromStr` wants one")]
    pub fn from_str(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|tag| tag.as_str() == name)
    }

    /// Its key, the same under all subscriptions.
    pub const fn key(self) -> TagKey {
        TagKey(self as u16)
    }

    /// Whether it is metadata: shown by raw outputs, but never part of a series or a sub-metric.
    pub const fn is_metadata(self) -> bool {
        matches!(self, Self::Vu | Self::Iter)
    }
}

/// A set of system tags: those the `systemTags` option switches on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SystemTags(u32);

impl SystemTags {
    /// No tag at all, k6's `systemTags: []`.
    pub const NONE: Self = Self(0);

    /// The set with `tag` added.
    #[must_use]
    pub const fn with(self, tag: SystemTag) -> Self {
        Self(self.0 | 1 << tag as u8)
    }

    /// Whether `tag` is in the set.
    pub const fn contains(self, tag: SystemTag) -> bool {
        self.0 >> tag as u8 & 1 == 1
    }

    /// The tags both sets have.
    #[must_use]
    pub const fn intersection(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    /// The tags of the set in the order of [`SystemTag::ALL`].
    pub fn iter(self) -> impl Iterator<Item = SystemTag> {
        SystemTag::ALL.into_iter().filter(move |tag| self.contains(*tag))
    }
}

impl Default for SystemTags {
    fn default() -> Self {
        SystemTag::DEFAULTS
    }
}

impl FromIterator<SystemTag> for SystemTags {
    fn from_iter<I: IntoIterator<Item = SystemTag>>(tags: I) -> Self {
        tags.into_iter().fold(Self::NONE, Self::with)
    }
}

/// A subscribed tag name: an index into the key table of [`crate::Subscriptions`], where the system tags come first.
/// Under "keep everything" a shard adds its own after them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TagKey(pub u16);

/// A set of keys, small and read often.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct KeySet {
    all: bool,
    words: Vec<u64>,
}

impl KeySet {
    pub(crate) fn insert(&mut self, key: TagKey) {
        let word = usize::from(key.0 / 64);
        if self.words.len() <= word {
            self.words.resize(word + 1, 0);
        }
        self.words[word] |= 1 << (key.0 % 64);
    }

    pub(crate) fn insert_all(&mut self) {
        self.all = true;
    }

    pub(crate) fn union(&mut self, other: &Self) {
        self.all |= other.all;
        if self.words.len() < other.words.len() {
            self.words.resize(other.words.len(), 0);
        }
        for (word, more) in self.words.iter_mut().zip(&other.words) {
            *word |= more;
        }
    }

    pub(crate) fn contains(&self, key: TagKey) -> bool {
        self.all || self.words.get(usize::from(key.0 / 64)).is_some_and(|word| word >> (key.0 % 64) & 1 == 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_keys() {
        for (index, tag) in SystemTag::ALL.into_iter().enumerate() {
            assert_eq!(tag.key(), TagKey(index as u16));
            assert_eq!(SystemTag::from_str(tag.as_str()), Some(tag));
        }
        assert_eq!(SystemTag::from_str("Status"), None);
    }

    #[test]
    fn defaults() {
        let names: Vec<_> = SystemTag::DEFAULTS.iter().map(SystemTag::as_str).collect();
        assert_eq!(
            names.join(", "),
            "proto, subproto, status, method, url, name, group, check, error, error_code, tls_version, scenario, service, expected_response"
        );
        assert!(!SystemTag::DEFAULTS.contains(SystemTag::Vu));
        assert_eq!(SystemTags::NONE.iter().count(), 0);
        let two: SystemTags = [SystemTag::Ip, SystemTag::Url].into_iter().collect();
        assert_eq!(two.iter().collect::<Vec<_>>(), [SystemTag::Url, SystemTag::Ip]);
    }

    #[test]
    fn key_sets() {
        let mut set = KeySet::default();
        set.insert(TagKey(3));
        let mut far = KeySet::default();
        far.insert(TagKey(200));
        set.union(&far);
        assert!(set.contains(TagKey(3)) && set.contains(TagKey(200)));
        assert!(!set.contains(TagKey(4)) && !set.contains(TagKey(9_999)));
        set.insert_all();
        assert!(set.contains(TagKey(9_999)));
    }
}
