//! Scripts against a real cluster.

use std::path::Path;

use onrush_testkit::ApacheKafka;

use super::SHOW;
use crate::harness::case;

/// A cluster's brokers learn of a change a little later than whoever makes it is told.
const EVENTUALLY: &str = "import { sleep } from 'k6';
    const eventually = (what) => { for (let turn = 0; turn < 60 && !what(); turn++) sleep(0.1); return what(); };";

#[test]
fn messages_come_back_in_every_compression() {
    let Some(server) = ApacheKafka::shared(Path::new(env!("CARGO_TARGET_TMPDIR"))) else { return };
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

#[test]
fn topics_are_made_listed_and_removed() {
    let Some(server) = ApacheKafka::shared(Path::new(env!("CARGO_TARGET_TMPDIR"))) else { return };
    let script = format!(
        "import {{ AdminClient, Connection, Writer, Consumer, Reader }} from 'k6/x/kafka'; {SHOW} {EVENTUALLY}
         const brokers = [__ENV.KAFKA];
         const named = new Connection({{ address: brokers[0] }});
         if (__VU === 0) named.createTopic({{ topic: 'from-init' }});
         export default function () {{
           const admin = new AdminClient({{ brokers }});
           const topic = `topics-${{Date.now()}}`;
           show(() => eventually(() => named.listTopics().includes('from-init')));
           admin.createTopic({{ topic, numPartitions: 3, replicationFactor: 1, configEntries: [{{ configName: 'compression.type', configValue: 'snappy' }}] }});
           admin.createTopic({{ topic }});
           eventually(() => named.listTopics().includes(topic));
           show(() => [named.listTopics().includes(topic), named.listTopics().includes('__consumer_offsets')]);
           show(() => admin.listTopics().filter((info) => info.topic === topic).map((info) => [info.partitions, info.error]));
           const info = admin.getMetadata(topic);
           show(() => [info.topic === topic, info.error, info.partitions]);
           show(() => admin.createTopic({{ topic: `${{topic}}-2`, replicaAssignments: [{{ partition: 0, replicas: [1] }}, {{ partition: 1, replicas: [1] }}] }}));
           eventually(() => named.listTopics().includes(`${{topic}}-2`));
           show(() => admin.getMetadata(`${{topic}}-2`).partitions.length);
           show(() => admin.createTopic({{ topic: 'bad name' }}));
           show(() => admin.createTopic({{ topic: `${{topic}}-3`, replicationFactor: 5 }}));
           show(() => admin.createTopic({{ topic: `${{topic}}-3`, configEntries: [{{ configName: 'no.such', configValue: 'x' }}] }}));
           show(() => admin.createTopic({{}}));
           admin.deleteTopic(topic);
           show(() => !eventually(() => !admin.listTopics().some((info) => info.topic === topic)));
           show(() => admin.deleteTopic(topic));
           show(() => admin.getMetadata(topic));
           show(() => new Writer({{ brokers, topic, maxAttempts: 2 }}).produce({{ messages: [{{ value: 'x' }}] }}));
           const made = `made-${{Date.now()}}`;
           new Writer({{ brokers, topic: made, autoCreateTopic: true, requiredAcks: 1 }}).produce({{ messages: [{{ value: 'x' }}] }});
           show(() => new Reader({{ brokers, topic: made }}).consume({{ limit: 1 }}).map((message) => shown('', message.value)));
           show(() => admin.initializeConsumerGroupOffsets({{ groupId: `g-${{made}}`, topics: [made] }}).map((place) => [place.partition, place.offset]));
           show(() => new Consumer({{ brokers, groupId: `g-${{made}}`, groupTopics: [made], maxWait: '500ms' }}).consume({{ limit: 1, expectTimeout: true }}).length);
           admin.close();
           show(() => admin.listTopics());
         }}"
    );
    case(&script).env("KAFKA", &server.plain).both(|report| {
        let said = report.said();
        let partition = |id| format!("{{\"id\":{id},\"leader\":1,\"replicas\":[1],\"isrs\":[1],\"error\":null}}");
        let unknown = "[3] Unknown Topic Or Partition: the broker does not have the topic or partition";
        let expect = [
            "true".to_owned(),
            "[true,false]".to_owned(),
            "[[3,null]]".to_owned(),
            format!("[true,null,[{},{},{}]]", partition(0), partition(1), partition(2)),
            "undefined".to_owned(),
            "2".to_owned(),
            "!GoError: Failed to create topic., OriginalError: [17] Invalid Topic: ".to_owned(),
            "!GoError: Failed to create topic., OriginalError: [38] Invalid Replication Factor: ".to_owned(),
            "!GoError: Failed to create topic., OriginalError: [40] Invalid Configuration: ".to_owned(),
            "!GoError: createTopic() needs the name of a topic".to_owned(),
            "false".to_owned(),
            format!("!GoError: Failed to delete topic., OriginalError: {unknown}"),
            format!("!GoError: Failed to get metadata., OriginalError: {unknown}"),
            format!("!GoError: Error writing messages., OriginalError: {unknown}"),
            "[\"x\"]".to_owned(),
            "[[0,1]]".to_owned(),
            "0".to_owned(),
            "!GoError: the connection is closed".to_owned(),
        ];
        assert_eq!(said.len(), expect.len(), "{report:#?}");
        for (said, expect) in said.iter().zip(&expect) {
            assert!(said.starts_with(expect.as_str()), "{said} is not {expect}");
        }
    });
}

#[test]
fn groups_share_and_remember() {
    let Some(server) = ApacheKafka::shared(Path::new(env!("CARGO_TARGET_TMPDIR"))) else { return };
    let script = format!(
        "import {{ AdminClient, Producer, Consumer, GROUP_BALANCER_ROUND_ROBIN }} from 'k6/x/kafka'; {SHOW} {EVENTUALLY}
         const brokers = [__ENV.KAFKA];
         export default function () {{
           const [topic, other] = [`group-${{Date.now()}}`, `other-${{Date.now()}}`];
           const admin = new AdminClient({{ brokers }});
           admin.createTopic({{ topic, numPartitions: 3 }});
           admin.createTopic({{ topic: other }});
           eventually(() => admin.listTopics().filter((info) => [topic, other].includes(info.topic)).length === 2);
           const producer = new Producer({{ brokers, requiredAcks: -1 }});
           const send = (topic, values) => producer.produce({{ messages: values.map((value, index) => ({{ topic, value, partition: topic === other ? 0 : index % 3 }})) }});
           const group = {{ brokers, groupId: `g-${{topic}}`, groupTopics: [topic, other], groupBalancers: [GROUP_BALANCER_ROUND_ROBIN], heartbeatInterval: '200ms', sessionTimeout: '6s', rebalanceTimeout: '6s' }};
           const values = (messages) => messages.map((message) => shown('', message.value)).sort().join('');
           send(topic, ['a', 'b', 'c', 'd']); send(other, ['e']);
           const first = new Consumer(group);
           show(() => values(first.consume({{ limit: 5 }})));
           show(() => first.stats());
           // What was read is not read again, by whoever is next.
           first.close();
           send(topic, ['f', 'g']);
           const second = new Consumer({{ ...group, maxWait: '2s' }});
           show(() => values(second.consume({{ limit: 2 }})));
           second.commitOffsets();
           // Another member comes: both take turns until the group is whole again.
           const third = new Consumer({{ ...group, maxWait: '300ms' }});
           send(topic, ['h', 'i', 'j']); send(other, ['k']);
           let seen = '';
           second.close();
           for (let turn = 0; turn < 20 && seen.length < 4; turn++) seen += values(third.consume({{ limit: 4, expectTimeout: true }}));
           show(() => [...seen].sort().join(''));
           third.close();
         }}"
    );
    case(&script).env("KAFKA", &server.plain).both(|report| {
        report.assert_clean();
        assert_eq!(report.said(), ["\"abcde\"", "{\"assignments\":4}", "\"fg\"", "\"hijk\""], "{report:#?}");
    });
    // Two VUs are two members, which share what there is.
    let script = format!(
        "import {{ AdminClient, Producer, Consumer }} from 'k6/x/kafka'; import {{ Counter }} from 'k6/metrics'; {SHOW}
         const brokers = [__ENV.KAFKA];
         export function setup() {{
           const topic = `shared-${{Date.now()}}`;
           new AdminClient({{ brokers }}).createTopic({{ topic, numPartitions: 4 }});
           const messages = [...Array(40).keys()].map((index) => ({{ topic, value: String(index), partition: index % 4 }}));
           new Producer({{ brokers, requiredAcks: -1 }}).produce({{ messages }});
           return topic;
         }}
         export default function (topic) {{
           const consumer = new Consumer({{ brokers, groupId: `g-${{topic}}`, groupTopics: [topic], heartbeatInterval: '100ms', sessionTimeout: '6s', rebalanceTimeout: '6s', maxWait: '3s' }});
           for (const message of consumer.consume({{ limit: 40, expectTimeout: true }})) console.log(shown('', message.value));
           consumer.close();
         }}"
    );
    case(&script).env("KAFKA", &server.plain).vus(2, 1).threads(2).both(|report| {
        report.assert_clean();
        let mut said: Vec<u32> = report.said().iter().filter_map(|text| text.parse().ok()).collect();
        said.sort_unstable();
        said.dedup();
        // A partition that changes hands may be read twice in part; nothing is lost.
        assert_eq!(said, (0..40).collect::<Vec<_>>(), "{report:#?}");
    });
}

#[test]
fn those_who_log_in_are_let_in() {
    let Some(server) = ApacheKafka::shared(Path::new(env!("CARGO_TARGET_TMPDIR"))) else { return };
    let script = format!(
        "import {{ Connection, SASL_PLAIN, SASL_SCRAM_SHA256, SASL_SCRAM_SHA512, TLS_1_3 }} from 'k6/x/kafka'; {SHOW}
         const login = (algorithm, username, password) => show(() => Array.isArray(new Connection({{ address: __ENV.SASL, sasl: {{ algorithm, username, password }} }}).listTopics()));
         const file = new Connection({{ address: __ENV.TLS, tls: {{ enableTls: true, serverCaPem: './ca.pem' }} }});
         export default function () {{
           login(SASL_PLAIN, 'alice', 'secret');
           login(SASL_SCRAM_SHA256, 'bob', 's3cret');
           login(SASL_SCRAM_SHA512, 'bob', 's3cret');
           login(SASL_PLAIN, 'alice', 'wrong');
           login(SASL_SCRAM_SHA256, 'bob', 'wrong');
           login(SASL_SCRAM_SHA512, 'nobody', 's3cret');
           const over = (tls) => show(() => Array.isArray(new Connection({{ address: __ENV.TLS, tls }}).listTopics()));
           over({{ enableTls: true, insecureSkipTlsVerify: true }});
           over({{ enableTls: true, serverCaPem: __ENV.CA, minVersion: TLS_1_3 }});
           over({{ enableTls: true }});
           show(() => Array.isArray(file.listTopics()));
         }}"
    );
    let env = |case: crate::harness::Case| {
        case.env("SASL", &server.sasl).env("TLS", &server.tls).env("CA", &server.ca_pem).file("ca.pem", &server.ca_pem)
    };
    env(case(&script)).both(|report| {
        let said = report.said();
        let failed = "!GoError: Failed to list topics., OriginalError: [58] SASL Authentication Failed: ";
        let expect = [
            "true",
            "true",
            "true",
            failed,
            failed,
            failed,
            "true",
            "true",
            "!GoError: Failed to list topics., OriginalError: ",
            "true",
        ];
        assert_eq!(said.len(), expect.len(), "{report:#?}");
        for (said, expect) in said.iter().zip(&expect) {
            assert!(said.starts_with(expect), "{said} is not {expect}");
        }
        assert!(said[8].contains("certificate"), "{said:?}");
    });
}

#[test]
fn metrics_are_counted() {
    let Some(server) = ApacheKafka::shared(Path::new(env!("CARGO_TARGET_TMPDIR"))) else { return };
    let script = "
        import { Writer, Reader, Connection } from 'k6/x/kafka';
        const brokers = [__ENV.KAFKA];
        export const options = { thresholds: {
          kafka_writer_message_count: ['count == 6'], kafka_writer_error_count: ['count == 1'], kafka_writer_write_count: ['count == 3'],
          kafka_writer_batch_size: ['count == 6'], kafka_writer_message_bytes: ['count == 12'], kafka_writer_write_seconds: ['max < 5000'],
          kafka_writer_acks_required: ['value == 1'], kafka_writer_async: ['rate == 0'], 'kafka_writer_message_count{clientid:onrush}': ['count == 6'],
          kafka_reader_message_count: ['count == 6'], kafka_reader_message_bytes: ['count == 12'], kafka_reader_dial_count: ['count > 0'],
          kafka_reader_timeouts_count: ['count == 1'], kafka_reader_error_count: ['count == 0'], kafka_reader_lag: ['value == 0'],
          kafka_reader_offset: ['value == 6'], kafka_reader_fetch_wait_max: ['value == 1000'], 'kafka_reader_message_count{partition:0}': ['count == 6'],
        } };
        export default function () {
          const topic = `metrics-${Date.now()}`;
          new Connection({ address: brokers[0] }).createTopic({ topic });
          const writer = new Writer({ brokers, topic, requiredAcks: 1, batchSize: 2 });
          writer.produce({ messages: [1, 2, 3, 4, 5, 6].map((n) => ({ key: 'k', value: String(n) })) });
          try { writer.produce({ messages: [{ partition: 9, value: 'x' }] }); } catch (error) { console.log('refused'); }
          const reader = new Reader({ brokers, topic, maxWait: '1s' });
          console.log(reader.consume({ limit: 7, expectTimeout: true }).length);
        }";
    case(script).env("KAFKA", &server.plain).both(|report| {
        assert_eq!(report.said(), ["refused", "6"], "{report:#?}");
        assert_eq!(report.exit, onrush_session::ExitCode::Success, "{report:#?}");
    });
}

#[test]
fn the_example_of_the_page_runs() {
    let Some(server) = ApacheKafka::shared(Path::new(env!("CARGO_TARGET_TMPDIR"))) else { return };
    let page = include_str!("../../../../../docs/reference/modules/kafka.md");
    let script = page.split("```js\n").nth(1).and_then(|block| block.split("\n```").next()).expect("an example");
    case(script).env("BROKER", &server.plain).both(|report| {
        report.assert_clean();
        assert_eq!(report.rate(onrush_metrics::builtin::CHECKS), (1, 1), "{report:#?}");
        assert_eq!(report.exit, onrush_session::ExitCode::Success);
    });
}
