//! Writable streams, which k6 has since 2.2: order, room, errors and their texts. And streams of blobs.

use crate::harness::case;

#[test]
fn writable_streams() {
    let script = "
        import { WritableStream, WritableStreamDefaultWriter } from 'k6/experimental/streams';
        const text = (error) => (error instanceof Error ? `${error.name}: ${error.message}` : String(error));
        const outcome = (promise) => promise.then((value) => `ok ${value}`, text);
        const thrown = (call) => { try { call(); return 'nothing'; } catch (error) { return text(error); } };
        export default async function () {
            const seen = [];
            const sink = {
                start() { seen.push('start'); },
                async write(chunk) { await null; seen.push(chunk); },
                close() { seen.push('close'); },
                abort(reason) { seen.push(`abort ${reason}`); },
            };
            const stream = new WritableStream(sink, { highWaterMark: 2 });
            const writer = stream.getWriter();
            console.log([writer.desiredSize, stream.locked].join());
            const writes = [1, 2, 3].map((chunk) => writer.write(chunk));
            console.log(writer.desiredSize);
            await writer.ready;
            console.log(await outcome(stream.close()), '|', await outcome(stream.abort()));
            const closed = writer.close();
            console.log(await outcome(writer.close()), '|', await outcome(writer.write(4)));
            await Promise.all([...writes, closed, writer.closed]);
            console.log(seen.join(), writer.desiredSize);
            writer.releaseLock();
            console.log(await outcome(writer.closed), '|', await outcome(writer.write(5)), '|', thrown(() => writer.desiredSize));
            console.log(await outcome(stream.close()));

            const failing = new WritableStream({ write() { throw new Error('full'); } });
            const other = new WritableStreamDefaultWriter(failing);
            console.log(await outcome(other.write(1)), '|', await outcome(other.closed), '|', other.desiredSize);

            const aborted = new WritableStream(sink);
            console.log(await outcome(aborted.abort('enough')), seen[seen.length - 1]);

            let controller;
            const broken = new WritableStream({ start(given) { controller = given; } });
            controller.error('by hand');
            console.log(await outcome(broken.getWriter().ready));

            console.log(thrown(() => new WritableStream({ type: 'bytes' })));
            console.log(thrown(() => WritableStream()));
            console.log(thrown(() => new WritableStream({ write: 1 })));
            console.log(thrown(() => new WritableStream({}, { highWaterMark: -1 })));
            console.log(thrown(() => new WritableStreamDefaultWriter(broken)), '|', thrown(() => new WritableStreamDefaultWriter({})));
        }";
    case(script).both(|report| {
        report.assert_clean();
        assert_eq!(
            report.said(),
            [
                "2,true",
                "-1",
                "TypeError: cannot close a locked stream | TypeError: cannot abort a locked stream",
                "TypeError: stream is already closing | TypeError: stream is closing or closed",
                "start,1,2,3,close 0",
                "TypeError: writer released | TypeError: writer was released | TypeError: writer was released",
                "TypeError: stream is already closed or errored",
                "Error: full | Error: full | null",
                "ok undefined abort enough",
                "by hand",
                "RangeError: 'type' is not supported by WritableStream",
                "TypeError: WritableStream constructor must be called with new",
                "TypeError: underlyingSink.[[write]] must be a function",
                "RangeError: highWaterMark must be a non-negative number",
                "TypeError: stream is locked | TypeError: WritableStreamDefaultWriter argument must be a WritableStream",
            ]
        );
    });
}

/// The pieces are those of k6 1.8.1.
#[test]
fn a_blob_is_a_stream_of_texts() {
    let script = "
        import { Blob } from 'k6/websockets';
        export default async function () {
            for (const parts of [[], ['a'.repeat(1024)], ['é'.repeat(600), 'z']]) {
                const stream = new Blob(parts).stream();
                const reader = stream.getReader();
                const pieces = [];
                for (let piece = await reader.read(); !piece.done; piece = await reader.read()) {
                    pieces.push(`${typeof piece.value} ${piece.value.length} ${piece.value.slice(-2)}`);
                }
                console.log(pieces.join('; '), stream.locked);
            }
        }";
    case(script).both(|report| {
        report.assert_clean();
        assert_eq!(
            report.said(),
            ["string 0  true", "string 1024 aa; string 0  true", "string 512 éé; string 89 éz; string 0  true"]
        );
    });
}
