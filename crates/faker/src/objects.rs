//! People, places and things with several members, named as k6 names them.

use crate::{
    arguments::required,
    codes::upc,
    definition::{Definition, Made, define},
    numbers::degrees,
    payment::{credit_card, price},
    source::Source,
    strings::email,
    value::Value,
};

pub(crate) const DEFINITIONS: &[Definition] = &[
    define("address", "address", &[], |source, _| address(source)),
    define("person", "person", &[], |source, _| person(source)),
    define("person", "teams", &[required("people"), required("teams")], |source, arguments| {
        let (mut people, names) = (arguments.list(0)?, arguments.list(1)?);
        source.rng.shuffle(&mut people);
        let mut teams: Vec<(String, Vec<String>)> = names.into_iter().map(|name| (name, Vec::new())).collect();
        let count = teams.len().max(1);
        for (index, person) in people.into_iter().enumerate() {
            if let Some((_, team)) = teams.get_mut(index % count) {
                team.push(person);
            }
        }
        Ok(Value::Object(teams.into_iter().map(|(name, team)| (name, Value::texts(team))).collect()))
    }),
    define("company", "job", &[], |source, _| job(source)),
    define("book", "book", &[], |source, _| {
        words(source, &[("title", "bookTitle"), ("author", "bookAuthor"), ("genre", "bookGenre")])
    }),
    define("movie", "movie", &[], |source, _| words(source, &[("name", "movieName"), ("genre", "movieGenre")])),
    define("car", "car", &[], |source, _| {
        let members = [
            ("type", "carType"),
            ("fuel", "carFuelType"),
            ("transmission", "carTransmissionType"),
            ("brand", "carMaker"),
            ("model", "carModel"),
        ];
        let year = |source: &mut Source<'_>| {
            let now = crate::calendar::Civil::of(source.now).year;
            Ok(Value::Integer(source.rng.between(now - 30, now)))
        };
        Ok(with(words(source, &members)?, "year", year(source)?))
    }),
    define("product", "product", &[], |source, _| {
        let count = source.rng.between(1, 3);
        let categories = (0..count).map(|_| source.word_value("productCategory")).collect();
        let count = source.rng.between(2, 5);
        let features = (0..count).map(|_| source.word_value("productFeature")).collect();
        let product = words(source, &[("name", "productName"), ("description", "productDescription")])?;
        let product = with(product, "categories", Value::List(categories));
        let amount = price(source, 3.0, 100.0);
        let product = with(product, "price", Value::Float(amount));
        let product = with(product, "features", Value::List(features));
        let color = source.word_value("safeColor");
        let material = source.word_value("productMaterial");
        let upc = upc(source)?;
        Ok(with(with(with(product, "color", color), "material", material), "upc", Value::Text(upc)))
    }),
];

/// An object of words: its members, and the lists they are from.
fn words(source: &mut Source<'_>, members: &[(&str, &str)]) -> Made {
    Ok(Value::Object(members.iter().map(|(name, list)| ((*name).to_owned(), source.word_value(list))).collect()))
}

fn with(object: Value, name: &str, value: Value) -> Value {
    let Value::Object(mut members) = object else { return object };
    members.push((name.to_owned(), value));
    Value::Object(members)
}

fn address(source: &mut Source<'_>) -> Made {
    let [street, city, state, zip] = ["street", "city", "state", "zip"].map(|list| source.word(list));
    let country = source.word_value("country");
    let latitude = degrees(source, -90.0, 90.0)?;
    let longitude = degrees(source, -180.0, 180.0)?;
    let text = |text: String| Value::Text(text);
    Ok(Value::Object(vec![
        ("address".to_owned(), text(format!("{street}, {city}, {state} {zip}"))),
        ("street".to_owned(), text(street)),
        ("city".to_owned(), text(city)),
        ("state".to_owned(), text(state)),
        ("zip".to_owned(), text(zip)),
        ("country".to_owned(), country),
        ("latitude".to_owned(), latitude),
        ("longitude".to_owned(), longitude),
    ]))
}

fn job(source: &mut Source<'_>) -> Made {
    words(
        source,
        &[("company", "company"), ("title", "jobTitle"), ("descriptor", "jobDescriptor"), ("level", "jobLevel")],
    )
}

fn person(source: &mut Source<'_>) -> Made {
    let members = [
        ("first_name", "firstName"),
        ("last_name", "lastName"),
        ("gender", "gender"),
        ("ssn", "ssn"),
        ("hobby", "hobby"),
    ];
    let person = words(source, &members)?;
    let person = with(person, "job", job(source)?);
    let person = with(person, "address", address(source)?);
    let phone = source.word_value("phone");
    let contact = vec![("phone".to_owned(), phone), ("email".to_owned(), Value::Text(email(source)))];
    let person = with(person, "contact", Value::Object(contact));
    Ok(with(person, "credit_card", credit_card(source)?))
}
