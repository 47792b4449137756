//! Scripts against a real cluster.

use super::{SHOW, server::Server};
use crate::harness::case;

#[test]
fn messages_come_back_in_every_compression() {
    let Some(server) = Server::shared() else { return };
    let script = format!(
        "import {{ Writer, Reader, Connection, CODEC_GZIP, CODEC_SNAPPY, CODEC_LZ4, CODEC_ZSTD, BALANCER_HASH, BALANCER_MURMUR2, BALANCER_CRC32, START_OFFSETS_LAST_OFFSET }} from 'k6/x/kafka'; {SHOW}
         const brokers = [__ENV.KAFKA];
         export default function () {{
           const admin = new Connection({{ address: brokers[0] }});
           const topic = `codecs-${{Date.now()}}`;
           admin.createTopic({{ topic, numPartitions: 2 }});
           const long = 'long '.repeat(12000);
           for (const compression of ['', CODEC_GZIP, CODEC_SNAPPY, CODEC_LZ4, CODEC_ZSTD]) {{
             const writer = new Writer({{ brokers, topic, compression, requiredAcks: -1 }});
             writer.produce({{ messages: [{{ partition: 0, key: `key ${{compression}}`, value: long, headers: {{ h: 'v', n: 7 }}, time: new Date(1700000000123) }}, {{ partition: 0, value: 'second' }}] }});
             writer.close();
           }}
           const reader = new Reader({{ brokers, topic, partition: 0 }});
           const seen = reader.consume({{ limit: 10 }});
           show(() => seen.filter((m) => m.key).map((m) => shown('', m.key) + ' ' + (shown('', m.value) === long) + ' ' + m.offset + ' ' + m.time + ' ' + shown('', m.headers.h) + shown('', m.headers.n)));
           show(() => seen.filter((m) => !m.key).map((m) => [m.key, shown('', m.value), m.topic === topic, m.partition, m.highwaterMark, new Date(m.time) <= new Date()].join()));
           show(() => reader.position(0));
           reader.seek(0, 9);
           show(() => reader.consume({{ maxMessages: 1, nanoPrecision: true }}).map((m) => m.offset));
           show(() => new Reader({{ brokers, topic, offset: 8 }}).consume({{ limit: 1 }})[0].time);
           show(() => new Reader({{ brokers, topic, maxWait: '300ms' }}).consume({{ limit: 100, expectTimeout: true }}).length);
           show(() => new Reader({{ brokers, topic, maxWait: '300ms', startOffset: START_OFFSETS_LAST_OFFSET }}).consume({{ limit: 1 }}));
           show(() => new Reader({{ brokers, topic, partition: 7, maxAttempts: 1 }}).consume({{ limit: 1 }}));
           show(() => new Writer({{ brokers, topic }}).produce({{ messages: [{{ partition: 7, value: 'x' }}] }}));
           show(() => new Writer({{ brokers, topic }}).produce({{ messages: [{{ value: 'x'.repeat(2e6) }}] }}));
           // The same key meets in the same partition, whoever chooses it.
           for (const balancer of [BALANCER_HASH, BALANCER_MURMUR2, BALANCER_CRC32, (key, count) => key.length % count]) {{
             const writer = new Writer({{ brokers, topic, balancer, requiredAcks: 1, batchSize: 1 }});
             writer.produce({{ messages: [1, 2, 3].map(() => ({{ key: 'k', value: 'v' }})) }});
           }}
           show(() => new Writer({{ brokers, topic, balancer: () => 2 }}).produce({{ messages: [{{ value: 'x' }}] }}));
           const rest = [0, 1].map((partition) => new Reader({{ brokers, topic, partition, maxWait: '500ms', offset: partition ? 0 : 10 }}).consume({{ limit: 100, expectTimeout: true }}).length);
           show(() => [rest[0] + rest[1], rest.every((count) => count % 3 === 0)]);
           admin.deleteTopic(topic);
         }}"
    );
    case(&script).env("KAFKA", &server.plain).both(|report| {
        let time = "2023-11-14T22:13:20Z v7";
        let second = |watermark| format!(",second,true,0,{watermark},true");
        let said = report.said();
        let expect = [
            format!("[\"key  true 0 {time}\",\"key gzip true 2 {time}\",\"key snappy true 4 {time}\",\"key lz4 true 6 {time}\",\"key zstd true 8 {time}\"]"),
            serde_json::to_string(&[second(10), second(10), second(10), second(10), second(10)]).expect("it is JSON"),
            "10".to_owned(),
            "[9]".to_owned(),
            "\"2023-11-14T22:13:20Z\"".to_owned(),
            "10".to_owned(),
            "!GoError: Unable to read messages., OriginalError: fetching message: context deadline exceeded".to_owned(),
            "!GoError: Unable to read messages., OriginalError: [3] Unknown Topic Or Partition: the broker does not have the topic or partition".to_owned(),
            "!GoError: Error writing messages., OriginalError: [3] Unknown Topic Or Partition: the broker does not have the topic or partition".to_owned(),
            "!GoError: Error writing messages., OriginalError: [10] Message Size Too Large: the message is larger than the broker accepts, or than batchBytes".to_owned(),
            "!GoError: Error writing messages., OriginalError: the balancer must give a partition from 0 to 1".to_owned(),
            "[12,true]".to_owned(),
        ];
        assert_eq!(said, expect, "{report:#?}");
    });
}
