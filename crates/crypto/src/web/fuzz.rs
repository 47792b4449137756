//! Reading keys from any bytes, for fuzzers.

use super::{Algorithm, Exported, ImportFormat, Key, KeyData, Parameters, import};
use crate::Hash;

/// Reads a key from any bytes and checks that what was read can be written and is read again as the same. The first byte
/// says which algorithm and format, the second which curve.
///
/// # Panics
/// If a promise is broken.
pub fn fuzz(data: &[u8]) {
    let [kind, curve, rest @ ..] = data else { return };
    let algorithm = Algorithm::ALL[usize::from(kind & 15) % Algorithm::ALL.len()];
    let format =
        [ImportFormat::Raw, ImportFormat::Pkcs8, ImportFormat::Spki, ImportFormat::Jwk][usize::from(kind >> 6)];
    let parameters = Parameters {
        hash: Some(Hash::Sha256),
        curve: ["P-256", "P-384", "P-521", ""][usize::from(curve & 3)].to_owned(),
        bits: None,
    };
    let text = String::from_utf8_lossy(rest);
    let data = if format == ImportFormat::Jwk { KeyData::Jwk(&text) } else { KeyData::Bytes(format, rest) };
    let Ok(key) = import(algorithm, data, &parameters) else { return };
    for format in [ImportFormat::Raw, ImportFormat::Pkcs8, ImportFormat::Spki, ImportFormat::Jwk] {
        let Ok(exported) = key.export(format.name()) else { continue };
        let again = read(algorithm, format, &exported, &parameters);
        assert_eq!(again.key_type(), key.key_type());
        assert_eq!(again.export(format.name()), Ok(exported), "{} {format:?}", algorithm.name());
    }
}

fn read(algorithm: Algorithm, format: ImportFormat, exported: &Exported, parameters: &Parameters) -> Key {
    let text;
    let data = match exported {
        Exported::Bytes(bytes) => KeyData::Bytes(format, bytes),
        Exported::Jwk(jwk) => {
            text = serde_json::Value::from(jwk.clone()).to_string();
            KeyData::Jwk(&text)
        }
    };
    import(algorithm, data, parameters)
        .unwrap_or_else(|error| panic!("{} cannot be read again as {format:?}: {error}", algorithm.name()))
}
