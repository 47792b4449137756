//! The fuzz targets, for the driver and the tests.

use xtask::fuzzing::Target;

/// All targets.
pub(crate) const TARGETS: &[Target] = &[
    Target {
        name: "http1",
        run: onrush_net::http1::fuzz,
        words: &[
            "HTTP/1.1 200 OK\r\n",
            "HTTP/1.0 404 \r\n",
            "HTTP/1.1 100 Continue\r\n\r\n",
            "HTTP/1.1 204 No Content\r\n",
            "HTTP/1.1 304 Not Modified\r\n",
            "HTTP/1.1 101 Switching Protocols\r\n",
            "Content-Length: ",
            "Content-Length: 5\r\n",
            "Transfer-Encoding: chunked\r\n",
            "Transfer-Encoding: gzip, chunked\r\n",
            "transfer-encoding:\tidentity\r\n",
            "Connection: close\r\n",
            "Connection: keep-alive, Upgrade\r\n",
            "Set-Cookie: a=b; Path=/\r\n",
            "Trailer: X\r\n",
            "\r\n\r\n",
            "\r\n",
            "\n",
            "\n\n",
            ": ",
            " \r\n\t folded",
            "0\r\n\r\n",
            "5\r\nhello\r\n",
            "a;name=\"value\"\r\n0123456789\r\n",
            "ffffffffffffffff\r\n",
            "0000000000000001\r\nx\r\n",
        ],
        bytes_max: 8 << 10,
    },
    Target {
        name: "threshold",
        run: |input| onrush_metrics::fuzz_threshold(&String::from_utf8_lossy(input)),
        words: &[
            "p(95)", "p(", "avg", "min", "max", "med", "count", "rate", "value", "<", "<=", ">", ">=", "==", "===", "!=", " ", "\t",
            "1e9", "Infinity", "NaN", "0x1p-2", "1_000", "http_req_duration", "{", "}", ":", ",", "tag:value", "{a:b,c:d}", "é", "\u{0}",
        ],
        bytes_max: 512,
    },
];
