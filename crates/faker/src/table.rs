//! All functions by name and by category. Built once a process, when a script first asks.

use std::{collections::BTreeSet, sync::LazyLock};

use crate::{
    arguments::{Argument, Arguments},
    codes,
    definition::Definition,
    numbers, objects, payment,
    rng::Rng,
    source::Source,
    strings, texts, times,
    value::{FakerError, Value},
    words,
};

const DEFINITIONS: [&[Definition]; 7] = [
    numbers::DEFINITIONS,
    strings::DEFINITIONS,
    times::DEFINITIONS,
    texts::DEFINITIONS,
    payment::DEFINITIONS,
    objects::DEFINITIONS,
    codes::DEFINITIONS,
];

/// A function of the module.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Function(u16);

impl Function {
    /// The function of that name.
    pub fn find(name: &str) -> Option<Self> {
        TABLE.functions.binary_search_by(|entry| entry.name.cmp(name)).ok().map(|index| Self(index as u16))
    }

    /// The function with that number.
    pub fn numbered(number: u16) -> Option<Self> {
        (usize::from(number) < TABLE.functions.len()).then_some(Self(number))
    }

    /// Its number; numbers are below 32,768.
    pub fn number(self) -> u16 {
        self.0
    }

    /// All functions, by name.
    pub fn all() -> impl Iterator<Item = Self> {
        (0..TABLE.functions.len()).map(|index| Self(index as u16))
    }

    /// What it is called.
    pub fn name(self) -> &'static str {
        self.entry().name
    }

    /// The category it belongs to.
    pub fn category(self) -> &'static str {
        self.entry().category
    }

    /// How many parameters it has.
    pub fn parameter_count(self) -> usize {
        match self.entry().make {
            Make::Word => 0,
            Make::Value(definition) => definition.parameters.len(),
        }
    }

    /// Makes a value. `now` is in seconds since 1970; an argument that is `None` is left out.
    ///
    /// # Errors
    /// An argument is missing or is not what it should be.
    pub fn call(self, rng: &mut Rng, now: i64, given: &[Option<Argument>]) -> Result<Value, FakerError> {
        let entry = self.entry();
        let mut source = Source::new(entry.name, rng, now);
        match entry.make {
            Make::Word => Ok(source.word_value(entry.name)),
            Make::Value(definition) => {
                let arguments = Arguments { function: entry.name, parameters: definition.parameters, given };
                (definition.make)(&mut source, &arguments)
            }
        }
    }

    fn entry(self) -> &'static Entry {
        &TABLE.functions[usize::from(self.0)]
    }
}

/// The names of all categories.
pub fn categories() -> impl Iterator<Item = &'static str> {
    TABLE.categories.iter().copied()
}

struct Entry {
    name: &'static str,
    category: &'static str,
    make: Make,
}

enum Make {
    /// A word of the list of its name.
    Word,
    Value(&'static Definition),
}

struct Table {
    functions: Vec<Entry>,
    categories: BTreeSet<&'static str>,
}

static TABLE: LazyLock<Table> = LazyLock::new(|| {
    let mut table = Table { functions: Vec::new(), categories: BTreeSet::new() };
    for (category, name, _) in words::all().filter(|(_, name, _)| !name.starts_with('.')) {
        table.functions.push(Entry { name, category, make: Make::Word });
    }
    for definition in DEFINITIONS.into_iter().flatten() {
        let Definition { name, category, .. } = *definition;
        table.functions.push(Entry { name, category, make: Make::Value(definition) });
    }
    table.functions.sort_by_key(|entry| entry.name);
    table.categories = table.functions.iter().map(|entry| entry.category).collect();
    table
});
