//! What scripts import besides classes: names of mechanisms, codecs and the like.

use crate::embed::{Ctx, Handle, JsResult, Val};

pub(super) fn export_all(ctx: Ctx, exports: &Handle) -> JsResult<()> {
    for (name, value) in TEXTS {
        exports.define(ctx, name, Val::string(ctx, value)?)?;
    }
    for (name, value) in TIMES_NS {
        exports.define(ctx, name, Val::number(value))?;
    }
    Ok(())
}

const TEXTS: [(&str, &str); 41] = [
    ("CODEC_GZIP", "gzip"),
    ("CODEC_SNAPPY", "snappy"),
    ("CODEC_LZ4", "lz4"),
    ("CODEC_ZSTD", "zstd"),
    ("NONE", "none"),
    ("SASL_PLAIN", "sasl_plain"),
    ("SASL_SCRAM_SHA256", "sasl_scram_sha256"),
    ("SASL_SCRAM_SHA512", "sasl_scram_sha512"),
    ("SASL_SSL", "sasl_ssl"),
    ("SASL_GSSAPI", "sasl_gssapi"),
    ("SASL_AWS_IAM", "sasl_aws_iam"),
    ("SASL_AZURE_ENTRA", "sasl_azure_entra"),
    ("SASL_GCP_OAUTH", "sasl_gcp_oauth"),
    ("TLS_1_0", "tlsv1.0"),
    ("TLS_1_1", "tlsv1.1"),
    ("TLS_1_2", "tlsv1.2"),
    ("TLS_1_3", "tlsv1.3"),
    ("KEY", "key"),
    ("VALUE", "value"),
    ("ISOLATION_LEVEL_READ_UNCOMMITTED", "isolation_level_read_uncommitted"),
    ("ISOLATION_LEVEL_READ_COMMITTED", "isolation_level_read_committed"),
    ("START_OFFSETS_FIRST_OFFSET", "start_offsets_first_offset"),
    ("START_OFFSETS_LAST_OFFSET", "start_offsets_last_offset"),
    ("FIRST_OFFSET", "start_offsets_first_offset"),
    ("LAST_OFFSET", "start_offsets_last_offset"),
    ("TOPIC_NAME_STRATEGY", "TopicNameStrategy"),
    ("RECORD_NAME_STRATEGY", "RecordNameStrategy"),
    ("TOPIC_RECORD_NAME_STRATEGY", "TopicRecordNameStrategy"),
    ("BALANCER_ROUND_ROBIN", "balancer_roundrobin"),
    ("BALANCER_LEAST_BYTES", "balancer_leastbytes"),
    ("BALANCER_HASH", "balancer_hash"),
    ("BALANCER_CRC32", "balancer_crc32"),
    ("BALANCER_MURMUR2", "balancer_murmur2"),
    ("GROUP_BALANCER_RANGE", "group_balancer_range"),
    ("GROUP_BALANCER_ROUND_ROBIN", "group_balancer_round_robin"),
    ("GROUP_BALANCER_RACK_AFFINITY", "group_balancer_rack_affinity"),
    ("SCHEMA_TYPE_STRING", "STRING"),
    ("SCHEMA_TYPE_BYTES", "BYTES"),
    ("SCHEMA_TYPE_AVRO", "AVRO"),
    ("SCHEMA_TYPE_JSON", "JSON"),
    ("SCHEMA_TYPE_PROTOBUF", "PROTOBUF"),
];

const TIMES_NS: [(&str, f64); 6] = [
    ("NANOSECOND", 1.0),
    ("MICROSECOND", 1e3),
    ("MILLISECOND", 1e6),
    ("SECOND", 1e9),
    ("MINUTE", 60e9),
    ("HOUR", 3_600e9),
];
