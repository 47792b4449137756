//! Setup data is shared between messages in memory and travels as a text.

/// Data there may be.
pub(super) mod option {
    use std::sync::Arc;

    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub(crate) fn serialize<S: Serializer>(data: &Option<Arc<str>>, serializer: S) -> Result<S::Ok, S::Error> {
        data.as_deref().serialize(serializer)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Arc<str>>, D::Error> {
        Ok(Option::<String>::deserialize(deserializer)?.map(Arc::from))
    }
}

/// The same, or why there is none.
pub(super) mod result {
    use std::sync::Arc;

    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    use crate::protocol::Failure;

    type Data = Result<Option<Arc<str>>, Failure>;

    pub(crate) fn serialize<S: Serializer>(data: &Data, serializer: S) -> Result<S::Ok, S::Error> {
        data.as_ref().map(Option::as_deref).serialize(serializer)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Data, D::Error> {
        let data = Result::<Option<String>, Failure>::deserialize(deserializer)?;
        Ok(data.map(|data| data.map(Arc::from)))
    }
}
