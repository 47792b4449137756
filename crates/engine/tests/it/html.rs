//! Pages in scripts: hostile ones, and what documents cost. Every test runs under both layouts.

use std::time::Duration;

use crate::harness::case;

#[test]
fn hostile_pages_end_in_errors_of_the_script() {
    case(
        "import { parseHTML } from 'k6/html';
         const tried = (make) => { try { return make(); } catch (e) { return String(e); } };
         export default function () {
           console.log(tried(() => parseHTML('<div>'.repeat(100000)).find('div').size()));
           console.log(tried(() => parseHTML('<b><p>'.repeat(20000)).find('p').size()));
           console.log(tried(() => parseHTML('<p title=\"' + 'x'.repeat(1 << 20) + '\">').find('p').attr('title').length));
           console.log(tried(() => parseHTML('<p \\u0000a=\\u0000>\\u0000</p').find('p').text().length));
           console.log(tried(() => parseHTML('<p>x').find(':not('.repeat(5000)).size()));
           let deep = parseHTML('<p>x').find('p');
           for (let i = 0; i < 50000; i++) deep = deep.first();
           console.log(deep.end().end().text());
           deep = null;
           console.log('alive');
         }",
    )
    .vus(2, 2)
    .both(|report| {
        let once = ["0", "0", "1048576", "20000", "GoError: html: open stack of elements exceeds 512 nodes", "alive", "x"];
        let said: Vec<&str> = once.iter().flat_map(|line| [*line; 4]).collect();
        assert_eq!(report.said_sorted(), said, "{report:#?}");
        assert!(report.level("error").is_empty(), "{report:#?}");
        assert_eq!(report.level("warning").len(), 4, "{report:#?}");
    });
}

#[test]
fn documents_count_against_the_limit_of_the_vu_and_are_freed() {
    case(
        "import { parseHTML } from 'k6/html';
         const page = '<ul>' + '<li class=\"x\">item</li>'.repeat(2000) + '</ul>';
         const kept = [];
         export default function () {
           if (__ITER === 0) {
             try { for (;;) kept.push(parseHTML(page).find('ul')); }
             catch (e) { console.log(/--vu-memory-limit/.test(String(e)), kept.length > 2, kept.length < 100); }
             kept.length = 0;
           }
           for (let i = 0; i < 40; i++) parseHTML(page);
           for (let i = 0; i < 40; i++) { const cycle = { s: parseHTML(page).find('ul') }; cycle.me = cycle; }
           console.log('freed');
         }",
    )
    .vus(2, 2)
    .memory_limit(16 << 20)
    .both(|report| {
        report.assert_clean();
        assert_eq!(report.said_sorted(), ["freed", "freed", "freed", "freed", "true true true", "true true true"]);
    });
}

#[test]
fn callbacks_are_cut_like_other_code() {
    case(
        "import { parseHTML } from 'k6/html';
         export default function () {
           const items = parseHTML('<p>1<p>2').find('p');
           for (const call of ['each', 'map', 'filter', 'is', 'not']) {
             try { items[call](() => { if (__VU === 1) for (;;) {} }); } catch (e) { console.log('caught', e); }
           }
           if (__VU === 1) console.log('went on'); else for (;;) {}
         }",
    )
    .vus(2, 1)
    .interrupt_after(Duration::from_millis(300))
    .both(|report| {
        assert_eq!(report.said(), [""; 0], "{report:#?}");
    });
}

#[test]
fn pages_read_in_init_code_are_each_vus_own() {
    case(
        "import { parseHTML } from 'k6/html';
         const page = parseHTML('<select><option>a<option selected>b</select>');
         const list = page.find('select').get(0);
         page.seen = 0;
         export default function () {
           page.seen++;
           console.log(page.seen, list.value(), list.selectedOptions()[0].index(), typeof list.element.value);
         }",
    )
    .vus(2, 2)
    .both(|report| {
        report.assert_clean();
        let expect = ["1 b 1 undefined", "1 b 1 undefined", "2 b 1 undefined", "2 b 1 undefined"];
        assert_eq!(report.said_sorted(), expect);
    });
}
