//! A graph written down as files.

use std::fmt::Write as _;

use super::model::{Graph, How, Kind, Module, Step};

/// Name and text of each module; the script is the first.
pub(super) fn files(graph: &Graph) -> Vec<(String, String)> {
    let mut files: Vec<(String, String)> = graph
        .modules
        .iter()
        .enumerate()
        .map(|(index, module)| {
            let text = if module.kind == Kind::CommonJs { commonjs(index, module) } else { esm(index, module) };
            let script = if index == 0 { script(graph) } else { String::new() };
            (name(index), text + &script)
        })
        .collect();
    files.push(("data.bin".to_owned(), "abcdefgh".to_owned()));
    files
}

fn name(index: usize) -> String {
    format!("m{index}.js")
}

fn esm(index: usize, module: &Module) -> String {
    let mut text = String::new();
    // Writing to a String cannot fail.
    let mut line = |written: std::fmt::Arguments<'_>| {
        let _ = text.write_fmt(written);
        text.push('\n');
    };
    line(format_args!("import * as self{index} from './{}';", name(index)));
    for (number, link) in module.links.iter().enumerate() {
        let from = name(link.to);
        match link.how {
            How::Names => {
                line(format_args!("import {{ count as count{number}, bump as bump{number} }} from './{from}';"))
            }
            How::Namespace => line(format_args!("import * as ns{number} from './{from}';")),
            How::Reexport => line(format_args!("export * as re{number} from './{from}';")),
            How::Dynamic | How::Require => {}
        }
    }
    line(format_args!(
        "let counter = 0; export function bump() {{ counter++; }} export function count() {{ return counter; }}"
    ));
    if module.has_meta {
        line(format_args!("const place = () => typeof import.meta === 'object';"));
    }
    for (number, link) in module.links.iter().enumerate() {
        let from = name(link.to);
        match link.how {
            How::Dynamic => line(format_args!("const dyn{number} = await import('./{from}');")),
            How::Require => line(format_args!("const req{number} = require('./{from}');")),
            _ => {}
        }
    }
    if module.kind == Kind::Awaiting {
        line(format_args!("await null; await new Promise((done) => setTimeout(done, 0));"));
    }
    // All in functions: nothing is read before it is initialised, whatever the cycles.
    let look: Vec<String> =
        module.links.iter().enumerate().map(|(number, link)| seen(index, number, link.how)).collect();
    line(format_args!("export const links = () => [{}];", look.join(", ")));
    let place = if module.has_meta { "place()" } else { "true" };
    line(format_args!(
        "export const sum = () => links().reduce((all, link) => all + link.count(), {place} ? 0 : 1000);"
    ));
    text
}

/// The expression for what a link gives: an object with `count` and `bump`.
fn seen(index: usize, number: usize, how: How) -> String {
    match how {
        How::Names => format!("{{ count: count{number}, bump: bump{number} }}"),
        How::Namespace => format!("ns{number}"),
        How::Reexport => format!("self{index}.re{number}"),
        How::Dynamic => format!("dyn{number}"),
        How::Require => format!("req{number}"),
    }
}

fn commonjs(index: usize, module: &Module) -> String {
    let look: Vec<String> = (0..module.links.len()).map(|number| format!("req{number}")).collect();
    // Exports first: whoever asks for it in a cycle sees them all.
    let mut text = format!(
        "let counter = {index} - {index};\n\
         exports.bump = function () {{ counter++; }};\n\
         exports.count = function () {{ return counter; }};\n\
         exports.links = function () {{ return [{}]; }};\n\
         exports.sum = function () {{ return exports.links().reduce((all, link) => all + link.count(), 0); }};\n",
        look.join(", ")
    );
    for (number, link) in module.links.iter().enumerate() {
        let _ = writeln!(text, "const req{number} = require('./{}');", name(link.to));
    }
    text
}

/// The script's own part: every module it reaches by the way it is reached, and the steps.
fn script(graph: &Graph) -> String {
    let mut text = String::from(PRELUDE);
    // Each module is found by walking links from the script: through namespaces of namespaces, as users do.
    let mut paths = vec![String::new(); graph.modules.len()];
    for (module, from) in graph.known() {
        paths[module] = match from {
            None => "self0".to_owned(),
            Some((from, number)) => format!("{}.links()[{number}]", paths[from]),
        };
    }
    let _ = writeln!(text, "async function step(number) {{ switch (number) {{");
    for (number, step) in graph.steps.iter().enumerate() {
        let body = match *step {
            Step::Bump { by, link } => format!(
                "const link = {}.links()[{link}]; link.bump(); return `m{} ${{link.count()}}`;",
                paths[by], graph.modules[by].links[link].to
            ),
            Step::Sum { of } => format!("return 'sum ' + {}.sum();", paths[of]),
            Step::Import { of } => {
                format!("return await import('./{}').then(() => 'loaded', () => 'refused');", name(of))
            }
            Step::Atomics => "return atomics();".to_owned(),
            Step::Sleep => "sleep(0.001); return 'slept';".to_owned(),
            Step::Request => "return 'status ' + http.get(`http://${__ENV.TARGET}/f/10`).status;".to_owned(),
            Step::Generator { values } => {
                format!("let all = 0; for (const value of numbers({values})) all += value; return 'generated ' + all;")
            }
            Step::Async { awaits } => format!("return 'awaited ' + await waits({awaits});"),
            Step::Timer => "return await new Promise((done) => setTimeout(() => done('timer'), 1));".to_owned(),
            Step::Group => "return group('g', () => { trend.add(1); sleep(0.001); return 'group'; });".to_owned(),
            Step::Garbage => "return 'garbage ' + garbage();".to_owned(),
        };
        let _ = writeln!(text, "case {number}: {{ {body} }}");
    }
    let _ = writeln!(
        text,
        "}} }}\nexport const options = {{ scenarios: {{ default: {{ executor: 'per-vu-iterations', vus: {}, iterations: {}, maxDuration: '60s' }} }} }};\nexport default async function () {{ for (let n = 0; n < {}; n++) {{ garbage(); console.log(`vu${{__VU}} ${{__ITER}} ${{n}} ${{await step(n)}}`); }} }}",
        graph.vus,
        graph.iterations,
        graph.steps.len()
    );
    text
}

const PRELUDE: &str = "import { sleep, group } from 'k6'; import http from 'k6/http'; import { Trend } from 'k6/metrics';
const trend = new Trend('of_graphs'); const bytes = open('./data.bin', 'b');
function* numbers(n) { try { for (let i = 0; i < n; i++) { sleep(0); yield i; } } finally { sleep(0); } }
async function waits(n) { let done = 0; for (let i = 0; i < n; i++) { await null; sleep(0); done++; } return done; }
function garbage() { const all = []; for (let i = 0; i < 50; i++) { const one = { i, text: `${i}`.repeat(1 + i % 40), all }; one.self = one; all.push(one); } return all.length; }
function atomics() {
  const view = new Uint8Array(bytes); let how = 'same';
  try { Atomics.store(view, 0, 90); how = 'changed'; } catch (e) { if (!(e instanceof TypeError)) how = String(e); }
  try { Atomics.add(new Int32Array(bytes), 0, 1); how = 'changed'; } catch (e) { if (!(e instanceof TypeError)) how = String(e); }
  return `${how} ${String.fromCharCode(...view)}`;
}
";
