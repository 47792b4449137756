//! `k6/x/kafka`: against a real cluster where Java and Maven are there (`cluster`), a registry of schemas of the test's own
//! (`registry`), and brokers that break off or never answer.

mod cluster;
mod registry;

use std::{
    io::{Read, Write},
    net::{Shutdown, TcpListener, TcpStream},
};

use crate::harness::case;

/// Shows what an expression gives, or its error.
const SHOW: &str = "
    const shown = (key, value) => value instanceof Uint8Array ? String.fromCharCode(...value) : value;
    const show = (what) => { try { console.log(JSON.stringify(what(), shown)); } catch (error) { console.log(`!${error.name}: ${error.message}`); } };
";

/// A broker that does something to each connection, and its address.
fn broker(serve: impl Fn(TcpStream) + Clone + Send + 'static) -> String {
    let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a free port");
    let address = listener.local_addr().expect("it is bound").to_string();
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let serve = serve.clone();
            std::thread::spawn(move || serve(stream));
        }
    });
    address
}

/// Says something to whoever asks, whatever is asked, and closes.
fn rude(answer: Vec<u8>) -> String {
    broker(move |mut stream| {
        let _ = stream.read(&mut [0; 1024]);
        let _ = stream.write_all(&answer);
        let _ = stream.shutdown(Shutdown::Write);
        let _ = stream.read_to_end(&mut Vec::new());
    })
}

/// Takes everything and says nothing.
fn silent() -> String {
    broker(|mut stream| {
        let _ = stream.read_to_end(&mut Vec::new());
    })
}

#[test]
fn configurations_are_looked_at() {
    let script = format!(
        "import * as kafka from 'k6/x/kafka'; {SHOW}
         const brokers = ['127.0.0.1:1'];
         export default function () {{
           show(() => new kafka.Writer());
           show(() => new kafka.Writer('localhost:9092'));
           show(() => new kafka.Writer({{}}));
           show(() => new kafka.Writer({{ brokers: 'localhost' }}));
           show(() => new kafka.Writer({{ brokers: ['localhost:port'] }}));
           show(() => new kafka.Writer({{ brokers, topic: 5 }}));
           show(() => new kafka.Writer({{ brokers, balancer: 'best' }}));
           show(() => new kafka.Writer({{ brokers, compression: 'rar' }}));
           show(() => new kafka.Writer({{ brokers, requiredAcks: 2 }}));
           show(() => new kafka.Writer({{ brokers, readTimeout: 'soon' }}));
           show(() => new kafka.Writer({{ brokers, sasl: {{ algorithm: kafka.SASL_SSL }} }}));
           show(() => new kafka.Writer({{ brokers, sasl: {{ algorithm: kafka.SASL_AWS_IAM }} }}));
           show(() => new kafka.Writer({{ brokers, tls: {{ enableTls: true, serverCaPem: '/no/such/file.pem' }} }}));
           show(() => new kafka.Writer({{ brokers, tls: {{ enableTls: true, serverCaPem: '-----BEGIN CERTIFICATE-----' }} }}));
           show(() => new kafka.Reader({{ brokers }}));
           show(() => new kafka.Reader({{ brokers, topic: 't', partition: -1 }}));
           show(() => new kafka.Reader({{ brokers, groupID: 'g', groupTopics: ['t'], groupBalancers: ['luck'] }}));
           const writer = new kafka.Producer({{ brokers, maxAttempts: 1 }});
           show(() => writer.produce());
           show(() => writer.produce({{ messages: [5] }}));
           show(() => writer.produce({{ messages: [{{ value: 1n }}] }}));
           show(() => writer.produce({{ messages: [{{ value: 'v', partition: 0.5 }}] }}));
           show(() => writer.produce({{ messages: [{{ value: 'v', time: 'then' }}] }}));
           show(() => writer.produce({{ messages: [{{ value: 'v' }}] }}));
           show(() => writer.produce({{ messages: [] }}));
           show(() => writer.stats());
           writer.close(); writer.close();
           show(() => writer.produce({{ messages: [{{ value: 'v', topic: 't' }}] }}));
           show(() => kafka.LoadJKS({{}}));
           show(() => kafka.Writer.prototype.produce.call({{}}));
         }}"
    );
    case(&script).both(|report| {
        report.assert_clean();
        let expect = [
            "!GoError: the writer must be configured by an object, not <nil>",
            "!GoError: the writer must be configured by an object, not string",
            "!GoError: the writer has no brokers: name them as [\"host:port\"]",
            "!GoError: invalid option brokers of the writer: an array of strings is expected, not string",
            "!GoError: invalid broker address \"localhost:port\": the port is not a number up to 65535",
            "!GoError: invalid option topic of the writer: a string is expected, not int64",
            "!GoError: invalid option balancer of the writer: \"best\" is not one of balancer_roundrobin, balancer_leastbytes, balancer_hash, balancer_crc32, balancer_murmur2",
            "!GoError: invalid option compression of the writer: \"rar\" is not one of gzip, snappy, lz4, zstd",
            "!GoError: invalid option requiredAcks of the writer: 2 is not -1, 0 or 1",
            "!GoError: invalid option readTimeout of the writer: time: invalid duration \"soon\"",
            "!GoError: SASL_SSL needs TLS: set enableTls in tls",
            "!GoError: the SASL algorithm \"sasl_aws_iam\" is not available in Onrush: use SASL_PLAIN, SASL_SCRAM_SHA256 or SASL_SCRAM_SHA512",
            "!GoError: the file \"/no/such/file.pem\" can be read in the init context only",
        ];
        let said = report.said();
        assert_eq!(said[..expect.len()], expect);
        assert!(said[expect.len()].starts_with("!GoError: invalid TLS configuration: "), "{said:?}");
        let expect = [
            "!GoError: the reader has no topic: set topic, or groupID and groupTopics",
            "!GoError: invalid option partition of the reader: it is negative",
            "!GoError: invalid option groupBalancers of the reader: unknown balancer \"luck\"",
            "!GoError: produce() takes an object with an array of messages, not <nil>",
            "!GoError: message 0 is not an object but int64",
            "!GoError: message 0: its value must be bytes, as SchemaRegistry.serialize() gives them, not *big.Int",
            "!GoError: message 0: its partition is not a whole number",
            "!GoError: message 0: its time is not a date",
            "!GoError: Error writing messages., OriginalError: a message has no topic, and neither has the writer",
            "null",
            "{\"pending\":0}",
            "!GoError: the writer is closed",
        ];
        let said: Vec<_> = said[14..].iter().map(|line| if *line == "undefined" { "null" } else { line }).collect();
        assert_eq!(said[..expect.len()], expect);
        assert!(said[12].starts_with("!GoError: LoadJKS is not available in Onrush"), "{said:?}");
        assert!(said[13].starts_with("!TypeError: "), "{said:?}");
    });
}

#[test]
fn brokers_that_are_gone_or_rude() {
    let script = format!(
        "import {{ Writer, Reader, Connection }} from 'k6/x/kafka'; {SHOW}
         export default function () {{
           for (const broker of __ENV.BROKERS.split(' ')) {{
             const config = {{ brokers: [broker], topic: 't', maxAttempts: 1, readTimeout: '200ms', writeTimeout: '200ms', requiredAcks: 1 }};
             show(() => new Writer(config).produce({{ messages: [{{ value: 'v' }}] }}));
             show(() => new Reader(config).consume({{ limit: 1 }}));
             show(() => new Connection({{ address: broker }}).listTopics());
           }}
         }}"
    );
    let gone = TcpListener::bind(("127.0.0.1", 0)).and_then(|listener| listener.local_addr()).expect("a free port");
    let (garbage, huge) = (rude(b"HTTP/1.1 400 Bad Request\r\n\r\n".to_vec()), rude(vec![0x7F, 0xFF, 0xFF, 0xFF]));
    let brokers = [gone.to_string(), garbage, huge, rude(Vec::new())].join(" ");
    case(&script).env("BROKERS", &brokers).both(|report| {
        let refused = format!("dial tcp {gone}: connect: connection refused");
        let long = "the broker's answer is longer than 104857600 bytes, or it does not speak Kafka's protocol";
        let why = [refused.as_str(), long, long, "unexpected EOF"];
        let what = ["Error writing messages", "Unable to read messages", "Failed to list topics"];
        let expect: Vec<_> =
            why.iter().flat_map(|why| what.map(|what| format!("!GoError: {what}., OriginalError: {why}"))).collect();
        assert_eq!(report.said(), expect);
    });
}

#[test]
fn whoever_waits_is_cancelled() {
    for wait in
        ["new Writer(config).produce({ messages: [{ value: 'v' }] })", "new Reader(config).consume({ limit: 1 })"]
    {
        let script = format!(
            "import {{ Writer, Reader }} from 'k6/x/kafka';
             const config = {{ brokers: [__ENV.SILENT], topic: 't', readTimeout: '1h', maxWait: '1h' }};
             export default function () {{
               console.log('waits');
               try {{ {wait}; }} catch (error) {{ console.log('caught'); }}
               console.log('never');
             }}"
        );
        let options =
            r#"{"scenarios":{"default":{"executor":"constant-vus","vus":1,"duration":"1s","gracefulStop":"0s"}}}"#;
        case(&script).env("SILENT", &silent()).options(options).both(|report| {
            assert_eq!(report.said(), ["waits"], "{report:#?}");
        });
    }
}

#[test]
fn what_a_broker_sends_is_limited_by_the_memory_of_the_vu() {
    // The length is believable, and the bytes do come.
    let flood = broker(|mut stream| {
        let _ = stream.read(&mut [0; 1024]);
        let _ = stream.write_all(&(90_u32 << 20).to_be_bytes());
        while stream.write_all(&[0; 64 << 10]).is_ok() {}
    });
    let script = format!(
        "import {{ Connection }} from 'k6/x/kafka'; {SHOW}
         export default function () {{
           show(() => new Connection({{ address: __ENV.FLOOD }}).listTopics());
           show(() => 'goes on');
         }}"
    );
    case(&script).env("FLOOD", &flood).memory_limit(32 << 20).both(|report| {
        let expect = ["!GoError: Failed to list topics., OriginalError: out of memory", "\"goes on\""];
        assert_eq!(report.said(), expect);
    });
}

#[test]
fn values_there_and_back_without_a_registry() {
    let script = format!(
        "import {{ SchemaRegistry, KEY, VALUE, TOPIC_NAME_STRATEGY, RECORD_NAME_STRATEGY, TOPIC_RECORD_NAME_STRATEGY, SCHEMA_TYPE_STRING, SCHEMA_TYPE_BYTES, SCHEMA_TYPE_JSON, SCHEMA_TYPE_AVRO, SCHEMA_TYPE_PROTOBUF }} from 'k6/x/kafka'; {SHOW}
         const registry = new SchemaRegistry();
         const user = JSON.stringify({{ type: 'record', name: 'User', namespace: 'a.b', fields: [{{ name: 'id', type: 'long' }}, {{ name: 'mail', type: ['null', 'string'] }}, {{ name: 'raw', type: 'bytes' }}] }});
         const trip = (schemaType, data, schema) => registry.deserialize({{ schemaType, schema, data: registry.serialize({{ schemaType, schema, data }}) }});
         export default function () {{
           show(() => trip(SCHEMA_TYPE_STRING, 'tü'));
           show(() => trip(SCHEMA_TYPE_BYTES, new Uint8Array([65, 66])));
           show(() => trip(SCHEMA_TYPE_BYTES, [67, 68]));
           show(() => trip(SCHEMA_TYPE_JSON, {{ a: [1, null, 'x'] }}));
           show(() => trip(SCHEMA_TYPE_AVRO, {{ id: 7, mail: 'm', raw: [1, 2] }}, {{ schema: user }}));
           show(() => trip(SCHEMA_TYPE_AVRO, {{ id: 7, mail: null, raw: 'a' }}, {{ schema: user, id: 5 }}));
           show(() => Array.from(registry.serialize({{ schemaType: SCHEMA_TYPE_AVRO, data: {{ id: 7, mail: null, raw: '' }}, schema: {{ schema: user, id: 258 }} }})));
           show(() => Array.from(registry.serialize({{ schemaType: SCHEMA_TYPE_JSON, data: 1, schema: {{ id: 1, schema: '' }} }})));
           show(() => trip(SCHEMA_TYPE_JSON, {{ a: 1 }}, {{ id: 9, schema: '{{}}' }}));
           show(() => registry.serialize({{ schemaType: SCHEMA_TYPE_STRING, data: 5 }}));
           show(() => registry.serialize({{ schemaType: SCHEMA_TYPE_BYTES, data: {{}} }}));
           show(() => registry.serialize({{ schemaType: SCHEMA_TYPE_JSON }}));
           show(() => registry.serialize({{ schemaType: SCHEMA_TYPE_AVRO, data: {{}} }}));
           show(() => registry.serialize({{ schemaType: SCHEMA_TYPE_AVRO, data: {{ id: 'x' }}, schema: {{ schema: user }} }}));
           show(() => registry.serialize({{ schemaType: SCHEMA_TYPE_AVRO, data: {{}}, schema: {{ schema: '{{' }} }}));
           show(() => registry.serialize({{ schemaType: SCHEMA_TYPE_PROTOBUF, data: {{}} }}));
           show(() => registry.serialize({{ schemaType: 'XML', data: {{}} }}));
           show(() => registry.deserialize({{ schemaType: SCHEMA_TYPE_JSON, data: new Uint8Array([123]) }}));
           show(() => registry.deserialize({{ schemaType: SCHEMA_TYPE_AVRO, data: new Uint8Array([14]), schema: {{ schema: user }} }}));
           for (const subjectNameStrategy of [TOPIC_NAME_STRATEGY, RECORD_NAME_STRATEGY, TOPIC_RECORD_NAME_STRATEGY, 'other']) {{
             show(() => registry.getSubjectName({{ topic: 't', element: KEY, schema: user, subjectNameStrategy }}));
           }}
           show(() => registry.getSubjectName({{ topic: 't', element: VALUE }}));
           show(() => registry.getSchema({{ subject: 's' }}));
         }}"
    );
    case(&script).both(|report| {
        let expect = [
            "\"tü\"",
            "\"AB\"",
            "\"CD\"",
            "{\"a\":[1,null,\"x\"]}",
            "{\"id\":7,\"mail\":\"m\",\"raw\":[1,2]}",
            "{\"id\":7,\"mail\":null,\"raw\":[97]}",
            "[0,0,0,1,2,14,0,0]",
            "[0,0,0,0,1,49]",
            "{\"a\":1}",
            "!GoError: Failed to serialize data., OriginalError: invalid data to serialize: a string is expected, not int64",
            "!GoError: Failed to serialize data., OriginalError: invalid data to serialize: a byte array is expected, not map[string]interface {}",
            "!GoError: Failed to serialize data., OriginalError: invalid data to serialize: a value that JSON has is expected, not <nil>",
            "!GoError: Failed to serialize data., OriginalError: serializing Avro needs a schema",
            "!GoError: Failed to serialize data., OriginalError: avro: id must be long, not \"x\"",
            "!GoError: avro: the schema is not JSON: EOF while parsing an object at line 1 column 1",
            "!GoError: SCHEMA_TYPE_PROTOBUF is not available in Onrush: serialize the message in the script and use SCHEMA_TYPE_BYTES",
            "!GoError: unsupported schema type \"XML\": expected one of the SCHEMA_TYPE constants",
        ];
        let said = report.said();
        assert_eq!(said[..expect.len()], expect);
        assert!(said[17].starts_with("!SyntaxError: "), "{said:?}");
        let expect = [
            "!GoError: Failed to deserialize data., OriginalError: avro: the value ends too early",
            "\"t-key\"",
            "\"a.b.User\"",
            "\"t-a.b.User\"",
            "!GoError: unknown subject name strategy \"other\"",
            "\"t-value\"",
            "!GoError: Failed to get schema., OriginalError: the schema registry has no url: name it as new SchemaRegistry({url: …})",
        ];
        assert_eq!(said[18..], expect);
    });
}
