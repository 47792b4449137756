//! A random graph of modules as data: what each exports and imports, and what an iteration prints.
//!
//! The expectation is computed here, by following the graph, and never by running anything: `source` only writes the same
//! graph down as JavaScript.

use xtask::fuzzing::Random;

/// What kind of module a file is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// An ES module.
    Esm,
    /// An ES module whose body waits before it ends.
    Awaiting,
    /// CommonJS.
    CommonJs,
}

/// One module. Module 0 is the script.
#[derive(Debug, Clone)]
pub(super) struct Module {
    pub(super) kind: Kind,
    /// Uses `import.meta`.
    pub(super) has_meta: bool,
    /// What it takes from others, in order.
    pub(super) links: Vec<Link>,
}

/// How a module refers to another.
#[derive(Debug, Clone, Copy)]
pub(super) struct Link {
    pub(super) to: usize,
    pub(super) how: How,
}

/// The ways to refer to a module.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum How {
    /// `import { value, bump } from …`
    Names,
    /// `import * as ns from …`
    Namespace,
    /// `export * as ns from …`, read through this module's own namespace.
    Reexport,
    /// `await import(…)`, only in modules that wait.
    Dynamic,
    /// `require(…)`
    Require,
}

/// A program and what it is expected to print.
#[derive(Debug, Clone)]
pub(super) struct Graph {
    pub(super) modules: Vec<Module>,
    /// Steps of an iteration, in order.
    pub(super) steps: Vec<Step>,
    pub(super) vus: usize,
    pub(super) iterations: usize,
}

/// What an iteration does.
#[derive(Debug, Clone, Copy)]
pub(super) enum Step {
    /// Bumps the counter of module `by`'s link number `link` and prints it as seen through that link.
    Bump { by: usize, link: usize },
    /// Prints a module's own sum over its links' counters.
    Sum { of: usize },
    /// `import()` of a module, which must be refused.
    Import { of: usize },
    /// Atomics on the bytes of a file, which must be refused.
    Atomics,
    /// `sleep()`
    Sleep,
    /// A request to the loopback server.
    Request,
    /// A generator that suspends between its values.
    Generator { values: usize },
    /// An async function with several awaits.
    Async { awaits: usize },
    /// A timer, awaited.
    Timer,
    /// Suspends inside a group, with a metric added.
    Group,
    /// Makes garbage in cycles.
    Garbage,
}

impl Graph {
    /// The graph of a seed.
    pub(super) fn random(seed: u64) -> Self {
        let mut random = Random::new(seed);
        let count = 2 + random.below(7);
        let mut modules: Vec<Module> = (0..count)
            .map(|index| {
                let kind = match random.below(8) {
                    0 if index > 0 => Kind::CommonJs,
                    1 if index > 0 => Kind::CommonJs,
                    2 => Kind::Awaiting,
                    _ => Kind::Esm,
                };
                Module { kind, has_meta: kind != Kind::CommonJs && random.one_in(3), links: Vec::new() }
            })
            .collect();
        for module in &mut modules {
            for _ in 0..1 + random.below(4) {
                let to = random.below(count);
                let how = match (module.kind, random.below(6)) {
                    (Kind::CommonJs, _) | (_, 0) => How::Require,
                    (Kind::Awaiting, 1) => How::Dynamic,
                    (_, 2) => How::Names,
                    (_, 3) => How::Namespace,
                    _ => How::Reexport,
                };
                module.links.push(Link { to, how });
            }
        }
        let mut graph = Self { modules, steps: Vec::new(), vus: 1 + random.below(3), iterations: 1 + random.below(3) };
        graph.mend();
        let steps = 4 + random.below(12);
        for _ in 0..steps {
            let step = graph.step(&mut random);
            graph.steps.push(step);
        }
        graph
    }

    fn step(&self, random: &mut Random) -> Step {
        let known = self.known();
        let module = known[random.below(known.len())].0;
        let links = self.modules[module].links.len();
        match random.below(14) {
            0..4 if links > 0 => Step::Bump { by: module, link: random.below(links) },
            4 | 5 => Step::Sum { of: module },
            6 | 7 => Step::Import { of: module },
            8 => Step::Atomics,
            9 => Step::Request,
            10 => Step::Generator { values: 1 + random.below(4) },
            11 => Step::Async { awaits: 1 + random.below(4) },
            12 => [Step::Timer, Step::Group][random.below(2)],
            13 => Step::Garbage,
            _ => Step::Sleep,
        }
    }

    /// Takes out what could never end: a module that waits for one that waits for it; and `require()` of what leads back
    /// here and waits for a module on its way: it does not wait, and leaves the rest of that module undone, in k6 as well.
    fn mend(&mut self) {
        for index in 0..self.modules.len() {
            let links = self.modules[index].links.clone();
            let ends = |link: &Link| {
                let reached = self.reach(link.to);
                let waits = match link.how {
                    How::Dynamic => true,
                    How::Require => reached.iter().any(|module| self.modules[*module].kind == Kind::Awaiting),
                    How::Names | How::Namespace | How::Reexport => false,
                };
                !waits || !reached.contains(&index)
            };
            self.modules[index].links = links.into_iter().filter(ends).collect();
        }
    }

    /// The modules that are evaluated when `from` is: all it refers to, itself included, whichever way.
    fn reach(&self, from: usize) -> Vec<usize> {
        let mut reached = vec![from];
        let mut next = 0;
        while next < reached.len() {
            for link in &self.modules[reached[next]].links {
                if !reached.contains(&link.to) {
                    reached.push(link.to);
                }
            }
            next += 1;
        }
        reached
    }

    /// The modules a script can walk to from its own namespace, each with the module and number of the link it is found
    /// by. A link by names gives some of a module only.
    pub(super) fn known(&self) -> Vec<(usize, Option<(usize, usize)>)> {
        let mut known = vec![(0, None)];
        let mut next = 0;
        while next < known.len() {
            let from = known[next].0;
            for (number, link) in self.modules[from].links.iter().enumerate() {
                if link.how != How::Names && known.iter().all(|(module, _)| *module != link.to) {
                    known.push((link.to, Some((from, number))));
                }
            }
            next += 1;
        }
        known
    }

    /// What one VU prints in all its iterations, in order.
    pub(super) fn expected(&self) -> Vec<String> {
        let mut counters = vec![0; self.modules.len()];
        let mut lines = Vec::new();
        for iteration in 0..self.iterations {
            for (number, step) in self.steps.iter().enumerate() {
                let said = match *step {
                    Step::Bump { by, link } => {
                        let to = self.modules[by].links[link].to;
                        counters[to] += 1;
                        format!("m{to} {}", counters[to])
                    }
                    Step::Sum { of } => {
                        let sum: usize = self.modules[of].links.iter().map(|link| counters[link.to]).sum();
                        format!("sum {sum}")
                    }
                    Step::Import { .. } => "refused".to_owned(),
                    Step::Atomics => "same abcdefgh".to_owned(),
                    Step::Sleep => "slept".to_owned(),
                    Step::Request => "status 200".to_owned(),
                    Step::Generator { values } => format!("generated {}", (0..values).sum::<usize>()),
                    Step::Async { awaits } => format!("awaited {awaits}"),
                    Step::Timer => "timer".to_owned(),
                    Step::Group => "group".to_owned(),
                    Step::Garbage => "garbage 50".to_owned(),
                };
                lines.push(format!("{iteration} {number} {said}"));
            }
        }
        lines
    }
}
