//! Bodies of responses in the hands of scripts. Every test runs under both layouts.

use crate::harness::{case, target};

#[test]
fn a_binary_body_is_the_scripts_own() {
    case(
        "import http from 'k6/http';
         const get = (path) => http.get(__ENV.BASE_URL + path, { responseType: 'binary' });
         let kept;
         export default function () {
           const res = get('/bytes/64?seed=7');
           const bytes = new Uint8Array(res.body);
           const before = bytes[0];
           bytes[0] = before ^ 255;
           console.log('same', res.body === res.body, new Uint8Array(res.body)[0] === (before ^ 255));
           console.log('fresh', new Uint8Array(get('/bytes/64?seed=7').body)[0] === before);
           const json = get('/json');
           console.log('json', json.json('slideshow.title') === get('/json').json('slideshow.title'), typeof json.json());
           new Uint8Array(json.body).fill(32);
           let text; try { json.json(); } catch (e) { text = 'throws'; }
           console.log('overwritten', text);
           const moved = res.body.transfer(100);
           console.log('moved', res.body.byteLength, moved.byteLength, new Uint8Array(moved)[0] === (before ^ 255), new Uint8Array(moved)[99]);
           console.log('same length', moved.transfer().byteLength, get('/bytes/8').body.transfer(0).byteLength);
           console.log('empty', get('/f/0').body.byteLength);
           if (kept) console.log('kept', new Uint8Array(kept)[1] === 97);
           kept = get('/bytes/64').body;
           new Uint8Array(kept).fill(97);
           console.log('sent', http.post(__ENV.BASE_URL + '/anything', kept).json('data') === 'a'.repeat(64));
         }",
    )
    .env("BASE_URL", &format!("http://{}", target()))
    .vus(1, 2)
    .both(|report| {
        report.assert_clean();
        let once = [
            "same true true",
            "fresh true",
            "json true object",
            "overwritten throws",
            "moved 0 100 true 0",
            "same length 100 0",
            "empty 0",
        ];
        let expect = [&once[..], &["sent true"], &once, &["kept true", "sent true"]].concat();
        assert_eq!(report.said(), expect);
    });
}

#[test]
fn bodies_count_against_the_limit_of_the_vu_and_are_freed() {
    case(
        "import http from 'k6/http';
         const get = (responseType) => http.get(__ENV.BASE_URL + '/f/100000', { responseType });
         const kept = [];
         export default function () {
           for (const responseType of ['text', 'binary']) {
             let caught = '';
             try { for (let i = 0; i < 1000; i++) { const res = get(responseType); kept.push(responseType === 'text' ? res : res.body); } }
             catch (e) { caught = e.message; }
             console.log(responseType, caught, kept.length > 20, kept.length < 80);
             kept.length = 0;
           }
           for (let i = 0; i < 100; i++) { const res = get('binary'); res.body; res.me = res; }
           let moved = new ArrayBuffer(0);
           try { moved = get('binary').body.transfer(7000000); } catch (e) { console.log('too long', String(e)); }
           console.log('freed', moved.byteLength);
         }",
    )
    .env("BASE_URL", &format!("http://{}", target()))
    .vus(2, 2)
    .memory_limit(6 << 20)
    .both(|report| {
        let four = |line| [line; 4];
        let expect = [
            four("binary out of memory true true"),
            four("freed 0"),
            four("text out of memory true true"),
            four("too long InternalError: out of memory"),
        ];
        assert_eq!(report.said_sorted(), expect.concat());
    });
}
