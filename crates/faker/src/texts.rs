//! Sentences and paragraphs.

use crate::{
    arguments::{Arguments, Parameter, optional},
    definition::{Definition, Made, define},
    source::{Source, capitalised},
    value::{FakerError, Value},
};

const SENTENCE: &[Parameter] = &[optional("wordcount", "5")];
const PARAGRAPH: &[Parameter] = &[
    optional("paragraphcount", "2"),
    optional("sentencecount", "2"),
    optional("wordcount", "5"),
    optional("paragraphseparator", "<br />"),
];

pub(crate) const DEFINITIONS: &[Definition] = &[
    define("word", "sentence", SENTENCE, |source, arguments| one_sentence(source, arguments, "word")),
    define("word", "paragraph", PARAGRAPH, |source, arguments| paragraphs(source, arguments, "word")),
    define("word", "loremIpsumSentence", SENTENCE, |source, arguments| one_sentence(source, arguments, ".lorem")),
    define("word", "loremIpsumParagraph", PARAGRAPH, |source, arguments| paragraphs(source, arguments, ".lorem")),
    define("hipster", "hipsterSentence", SENTENCE, |source, arguments| one_sentence(source, arguments, "hipsterWord")),
    define("hipster", "hipsterParagraph", PARAGRAPH, |source, arguments| paragraphs(source, arguments, "hipsterWord")),
    define("word", "question", &[], |source, _| {
        let words = source.rng.between(3, 10) as usize;
        let mut text = sentence(source, words, "word")?;
        text.pop();
        Ok(Value::Text(text + "?"))
    }),
];

fn one_sentence(source: &mut Source<'_>, arguments: &Arguments<'_>, list: &str) -> Made {
    sentence(source, arguments.count(0)?, list).map(Value::Text)
}

fn sentence(source: &mut Source<'_>, words: usize, list: &str) -> Result<String, FakerError> {
    let mut text = String::new();
    for index in 0..words {
        let before = text.len();
        if index > 0 {
            text.push(' ');
        }
        source.write(list, &mut text);
        source.take(text.len() - before)?;
    }
    Ok(capitalised(&text) + ".")
}

fn paragraphs(source: &mut Source<'_>, arguments: &Arguments<'_>, list: &str) -> Made {
    let (paragraphs, sentences, words) = (arguments.count(0)?, arguments.count(1)?, arguments.count(2)?);
    let separator = arguments.text(3)?;
    let mut text = String::new();
    for paragraph in 0..paragraphs {
        // One more, so that empty paragraphs come to an end, too.
        source.take(separator.len() + 1)?;
        if paragraph > 0 {
            text.push_str(&separator);
        }
        for index in 0..sentences {
            source.take(1)?;
            if index > 0 {
                text.push(' ');
            }
            text.push_str(&sentence(source, words, list)?);
        }
    }
    Ok(Value::Text(text))
}
