//! A registry of schemas with Confluent's REST API, as much of it as a script asks for.

use std::{
    io::{BufRead, BufReader, Read, Write},
    net::TcpStream,
};

use super::{SHOW, broker};
use crate::harness::case;

const KIND: &str = r#"{\"type\":\"enum\",\"name\":\"Kind\",\"namespace\":\"a\",\"symbols\":[\"A\",\"B\"]}"#;
const VALUE: &str =
    r#"{\"type\":\"record\",\"name\":\"V\",\"namespace\":\"a\",\"fields\":[{\"name\":\"k\",\"type\":\"a.Kind\"}]}"#;

/// Answers one request after the other.
fn serve(stream: TcpStream) {
    let Ok(mut writer) = stream.try_clone() else { return };
    let mut reader = BufReader::new(stream);
    loop {
        let (mut head, mut length) = (Vec::new(), 0);
        loop {
            let mut line = String::new();
            if reader.read_line(&mut line).unwrap_or(0) == 0 {
                return;
            }
            if let Some(text) = line.to_lowercase().strip_prefix("content-length:") {
                length = text.trim().parse().unwrap_or(0);
            }
            if line == "\r\n" {
                break;
            }
            head.push(line);
        }
        let mut body = vec![0; length];
        if reader.read_exact(&mut body).is_err() {
            return;
        }
        let request = head.first().map(String::as_str).unwrap_or_default().trim_end_matches(" HTTP/1.1\r\n");
        let is_known = head.iter().any(|line| line.trim_end() == "Authorization: Basic dTpw");
        let references = r#"[{"name":"a.Kind","subject":"kind","version":1}]"#;
        let (status, answer) = match request {
            _ if !is_known => ("401 Unauthorized", r#"{"error_code":401,"message":"who are you?"}"#.to_owned()),
            "POST /subjects/t-value/versions" => ("200 OK", r#"{"id":258}"#.to_owned()),
            "POST /subjects/t-value" | "GET /subjects/t-value/versions/latest" | "GET /subjects/t-value/versions/3" => {
                let text = format!(
                    r#"{{"subject":"t-value","id":258,"version":3,"references":{references},"schema":"{VALUE}"}}"#
                );
                ("200 OK", text)
            }
            "GET /schemas/ids/258" => ("200 OK", format!(r#"{{"references":{references},"schema":"{VALUE}"}}"#)),
            "GET /subjects/kind/versions/1" => {
                ("200 OK", format!(r#"{{"subject":"kind","id":1,"version":1,"schema":"{KIND}"}}"#))
            }
            "GET /subjects/endless/versions/latest" => {
                let text = r#"{"id":2,"version":1,"schema":"\"int\"","references":[{"subject":"endless"}]}"#;
                ("200 OK", text.to_owned())
            }
            "GET /subjects/html/versions/latest" => ("502 Bad Gateway", "<html>".to_owned()),
            _ => ("404 Not Found", format!(r#"{{"error_code":40401,"message":"no {request}"}}"#)),
        };
        let length = answer.len();
        let _ = write!(writer, "HTTP/1.1 {status}\r\nContent-Length: {length}\r\n\r\n{answer}");
    }
}

#[test]
fn schemas_come_from_a_registry() {
    let script = format!(
        "import {{ SchemaRegistry, SCHEMA_TYPE_AVRO as AVRO }} from 'k6/x/kafka'; {SHOW}
         const registry = new SchemaRegistry({{ url: `http://${{__ENV.REGISTRY}}/`, basicAuth: {{ username: 'u', password: 'p' }} }});
         export default function () {{
           const made = registry.createSchema({{ subject: 't-value', schema: 'x', schemaType: AVRO, references: [{{ name: 'a.Kind', subject: 'kind', version: 1 }}] }});
           show(() => [made.id, made.version, made.subject, made.schemaType, made.references.length, made.enableCaching]);
           const found = registry.getSchema({{ subject: 't-value', version: 3 }});
           show(() => found.schema === made.schema && found.id === 258);
           const bytes = registry.serialize({{ data: {{ k: 'B' }}, schema: made, schemaType: AVRO }});
           show(() => Array.from(bytes));
           show(() => registry.deserialize({{ data: bytes, schema: found, schemaType: AVRO }}));
           show(() => registry.deserialize({{ data: bytes, schemaType: AVRO }}));
           show(() => registry.getSchema({{ subject: 'a b/ü' }}));
           show(() => registry.getSchema({{ subject: 'html' }}));
           const endless = registry.getSchema({{ subject: 'endless' }});
           show(() => registry.serialize({{ data: 1, schema: endless, schemaType: AVRO }}));
           show(() => new SchemaRegistry({{ url: __ENV.REGISTRY }}).getSchema({{ subject: 't-value' }}));
           show(() => new SchemaRegistry({{ url: 'http://' }}));
         }}"
    );
    case(&script).env("REGISTRY", &broker(serve)).both(|report| {
        let said = report.said();
        let expect = [
            "[258,3,\"t-value\",\"AVRO\",1,false]",
            "true",
            "[0,0,0,1,2,2]",
            "{\"k\":\"B\"}",
            "{\"k\":\"B\"}",
            "!GoError: Failed to get schema., OriginalError: the schema registry answers with status 404: no GET /subjects/a%20b%2F%C3%BC/versions/latest",
            "!GoError: Failed to get schema., OriginalError: the schema registry answers with status 502 and something other than JSON",
            "!GoError: the schema refers to too many others",
            "!GoError: Failed to get schema., OriginalError: the schema registry answers with status 401: who are you?",
        ];
        assert_eq!(said[..expect.len()], expect, "{report:#?}");
        assert!(said[9].starts_with("!GoError: invalid URL of the schema registry"), "{said:?}");
    });
}
