//! Made-up data: names, addresses, words, numbers, by the names that `k6/x/faker` gives the functions.
//!
//! It knows no JavaScript. [`Function::find`] looks a function up, [`Function::call`] makes a value with the numbers of an
//! [`Rng`]: the same seed and the same calls give the same values, on every machine. `words` reads the lists and patterns of
//! `data/`, once a process; functions that are neither are in the files named after what they make, and `table` has them
//! all by name.
//!
//! ```
//! use onrush_faker::{Function, Rng, Value};
//!
//! let function = Function::find("firstName").expect("it is known");
//! let name = function.call(&mut Rng::new(11), 0, &[]).expect("it takes no arguments");
//! assert!(matches!(name, Value::Text(name) if !name.is_empty()));
//! ```

mod arguments;
mod calendar;
mod codes;
mod definition;
mod numbers;
mod objects;
mod payment;
mod rng;
mod source;
mod strings;
mod table;
mod texts;
mod times;
mod value;
mod words;

pub use arguments::Argument;
pub use rng::Rng;
pub use table::{Function, categories};
pub use value::{FakerError, Value};

#[cfg(test)]
mod tests;
