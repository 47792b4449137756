//! `k6/x/faker`: every function, seeds, and what a script may do with the objects.

use crate::harness::case;

/// Calls all functions that need no arguments, and says what came of them. Those that count from the time of day are
/// left to the unit tests of the faker, which set the time: here two VUs may call them in different seconds.
const EVERYTHING: &str = "
    import faker, { Faker } from 'k6/x/faker';
    export default function () {
      const seeded = new Faker(11);
      const fromNow = ['date', 'dateRange', 'futureTime', 'pastTime'];
      const names = Object.keys(seeded.zen).filter((name) => !fromNow.includes(name));
      const made = [];
      for (const name of names) {
        try { made.push([name, seeded.zen[name]()]); } catch (error) { made.push([name, String(error)]); }
      }
      console.log(JSON.stringify(made));
    }";

#[test]
fn the_same_seed_gives_the_same_on_all_threads_and_in_both_layouts() {
    let mut all = Vec::new();
    let all_cell = std::cell::RefCell::new(&mut all);
    case(EVERYTHING).vus(4, 2).threads(2).both(|report| {
        report.assert_clean();
        assert_eq!(report.said().len(), 8);
        all_cell.borrow_mut().extend(report.said().iter().map(|line| (*line).to_owned()));
    });
    assert_eq!(all.len(), 16);
    assert!(all.iter().all(|line| *line == all[0]), "the same seed gave different values");
    for missing in ["digitN", "intRange", "lexify", "randomInt", "teams"] {
        assert!(all[0].contains(&format!("[\"{missing}\",\"TypeError: missing parameter: ")), "{missing}");
    }
}

#[test]
fn the_default_faker_takes_its_seed_from_the_environment_and_belongs_to_the_vu() {
    let script = "
        import faker from 'k6/x/faker';
        import * as all from 'k6/x/faker';
        const early = faker.person.firstName();
        export default function () {
          console.log(early, faker.person.firstName(), all.default.person.lastName(), faker.call('number', 1, 1000000));
        }";
    case(script).env("XK6_FAKER_SEED", "42").vus(6, 1).threads(2).both(|report| {
        report.assert_clean();
        let said = report.said();
        assert_eq!(said.len(), 6);
        assert!(said.iter().all(|line| *line == said[0]), "{said:?}");
    });
    // Without a seed, or with one that is no number, it is another one for each VU.
    for seed in ["", "0", "x"] {
        case(script).env("XK6_FAKER_SEED", seed).vus(6, 1).both(|report| {
            let said = report.said();
            assert!(said.iter().any(|line| *line != said[0]), "{said:?}");
        });
    }
}

#[test]
fn its_objects_are_as_in_k6() {
    case(
        "import faker, { Faker } from 'k6/x/faker';
         const tried = (what) => { try { return JSON.stringify(what()); } catch (error) { return `${error.name}: ${error.message}`; } };
         export default function () {
           const f = new Faker(7);
           const again = new Faker(7);
           const { firstName } = f.person;
           console.log(firstName() === again.person.firstName(), f.zen.city() === again.address.city(), f.call('uuid') === again.strings.uuid());
           console.log(typeof f.nope, typeof f.person.nope, typeof f.person.city, 'person' in f, 'city' in f.address, Object.keys(f.game).join());
           console.log(tried(() => f.nope.x()), '|', tried(() => f.person.nope()));
           console.log(tried(() => f.strings.digitN()), '|', tried(() => f.call('nope')), '|', tried(() => f.call()));
           console.log(tried(() => f.numbers.intRange('1', {})), '|', tried(() => f.strings.letterN(1e12)));
           console.log(tried(() => f.numbers.intRange(5, 5)), tried(() => f.numbers.intRange('5', '5')), tried(() => f.strings.digitN(3).length), tried(() => f.numbers.randomInt([9])), tried(() => f.strings.randomString(['a', 'a'])));
           console.log(tried(() => f.numbers.shuffleInts([3, 3])), tried(() => Object.keys(f.person.person()).join()), tried(() => f.color.rgbColor().length));
           console.log(/^[a-z0-9.]+@[a-z0-9.-]+$/.test(f.person.email()), /^\\d{4}-\\d\\d-\\d\\dT/.test(f.time.date()), f.time.date('yyyy') >= 1900, f.time.dateRange('2020-02-03', '2020-02-03', 'd/M/yy'));
           console.log(tried(() => Object.keys(f.person.teams(['a', 'b', 'c'], ['x', 'y'])).join()), f instanceof Faker, tried(() => Faker.prototype.call('city')));
         }",
    )
    .both(|report| {
        report.assert_clean();
        let expect = [
            "true true true",
            "undefined undefined undefined true true dice,gamertag",
            "TypeError: cannot read property 'x' of undefined | TypeError: not a function",
            "TypeError: missing parameter: count | TypeError: faker has no function \"nope\" | TypeError: faker has no function \"undefined\"",
            "GoError: intRange: max must be a whole number, not \"[object Object]\" | GoError: letterN: a value of more than 262144 bytes was asked for",
            "5 5 3 9 \"a\"",
            "[3,3] \"first_name,last_name,gender,ssn,hobby,job,address,contact,credit_card\" 3",
            "true true true 3/2/20",
            "\"x,y\" true TypeError: this is not a Faker",
        ];
        assert_eq!(report.said(), expect);
    });
}

#[test]
fn hostile_arguments_end_in_errors_and_what_vus_write_stays_theirs() {
    case(
        "import faker, { Faker } from 'k6/x/faker';
         export default function () {
           const evil = { toString() { throw new Error('mine'); } };
           const odd = [undefined, null, NaN, -0, 1e308, -1e308, '', '\\0', '😀'.repeat(1000), [], [[]], [undefined], {}, Symbol.iterator, () => 1, 2n ** 80n, new Array(50), evil];
           const f = new Faker(3);
           let made = 0, refused = 0;
           for (const name of Object.keys(f.zen)) for (const a of odd) {
             for (const args of [[a], [a, a], [1, a], [a, a, a, a, a, a, a, a, a]]) {
               try { f.zen[name](...args); made++; } catch (error) { refused++; if (/internal error/.test(error)) console.log(name, String(error)); }
             }
           }
           console.log(made > 10000, refused > 1000);
           try { faker.call('shuffleInts', new Array(200000)); } catch (error) { console.log(error.message); }
           try { faker.person = 1; } catch (error) { }
           console.log(typeof faker.person.firstName);
         }",
    )
    .both(|report| {
        let said = report.said();
        assert_eq!(said, ["true true", "faker takes arrays of at most 100000 items, not 200000", "function"]);
    });
}
