//! `k6/x/sql`: SQLite always, PostgreSQL and MySQL against servers of their own where they are installed, and servers that
//! break off or never answer.

use std::{
    io::{Read, Write},
    net::{TcpListener, TcpStream},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use crate::harness::case;

/// Shows what an expression gives, or its error.
const SHOW: &str = "
    const shown = (value) => value instanceof Uint8Array ? 'bytes ' + Array.from(value) : value instanceof Date ? 'date ' + value.toISOString() : value;
    const show = (what) => { try { const value = what(); console.log(JSON.stringify(Array.isArray(value) ? value.map((row) => Object.fromEntries(Object.entries(row).map(([k, v]) => [k, shown(v)]))) : value)); } catch (error) { console.log('!' + error.name + ': ' + error.message); } };
";

fn sqlite(body: &str) -> String {
    format!(
        "import sql from 'k6/x/sql'; import driver from 'k6/x/sql/driver/sqlite3'; {SHOW}
         const db = sql.open(driver, __ENV.DB || ':memory:');
         export default function () {{ {body} }}"
    )
}

#[test]
fn sqlite_keeps_what_it_is_given() {
    let script = sqlite(
        "show(() => typeof driver + String(driver));
         show(() => db.exec('CREATE TABLE t (i INTEGER, f REAL, s TEXT, b BLOB, n, yes BOOLEAN)').rowsAffected());
         const done = db.exec('INSERT INTO t VALUES (?, ?, ?, ?, ?, ?)', 7, 1.5, 'tü', new Uint8Array([1, 255]), null, true);
         show(() => [done.lastInsertId(), done.rowsAffected()].join());
         show(() => db.query('SELECT * FROM t'));
         show(() => db.query('SELECT i, i * 2 AS twice FROM t WHERE s = ?', 'tü'));
         show(() => db.exec('INSERT INTO t (i) VALUES (?), (?); UPDATE t SET n = 1', 8, 9n).rowsAffected());
         show(() => db.query('SELECT count(*) AS c FROM t WHERE n = 1'));
         show(() => db.query('SELECT ? AS a, ? AS b, ? AS c', new Date(0), 2 ** 60, undefined));
         show(() => db.query('SELECT * FROM t WHERE i > 100'));
         show(() => db.query('SELECT * FROM nope'));
         show(() => db.query('SELECT ?'));
         show(() => db.query('SELECT ?', {}));
         show(() => db.query('SELECT ?', []));
         show(() => db.queryWithTimeout('50ms', 'WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT max(x) FROM n'));
         show(() => db.execWithTimeout('1m', 'DELETE FROM t').rowsAffected());
         show(() => db.execWithTimeout('soon', 'DELETE FROM t'));
         db.close();
         show(() => db.query('SELECT 1'));
         show(() => sql.open('sqlite3', ''));
         show(() => sql.open(Symbol('other'), ''));
         show(() => sql.open(driver, 'x?_fk=;'));
         show(() => sql.open(driver, 'x', { conn_max_lifetime: 'x' }));
         show(() => typeof sql.open(driver, '/no/such/folder/x.db', { conn_max_idle_time: '1m', conn_max_lifetime: 5, max_idle_conns: 1, max_open_conns: 1 }));
         show(() => sql.open(driver, '/no/such/folder/x.db').query('SELECT 1'));",
    );
    case(&script).both(|report| {
        report.assert_clean();
        let expect = [
            "\"symbolSymbol(sqlite3)\"",
            "0",
            "\"1,1\"",
            "[{\"i\":7,\"f\":1.5,\"s\":\"tü\",\"b\":\"bytes 1,255\",\"n\":null,\"yes\":true}]",
            "[{\"i\":7,\"twice\":14}]",
            "3",
            "[{\"c\":3}]",
            "[{\"a\":\"1970-01-01 00:00:00.000+00:00\",\"b\":1152921504606847000,\"c\":null}]",
            "[]",
            "!GoError: no such table: nope",
            "!GoError: not enough args to execute query: want 1 got 0",
            "!GoError: sql: converting argument $1 type: unsupported type map[string]interface {}, a map",
            "!GoError: sql: converting argument $1 type: unsupported type []interface {}, a slice of interface",
            "!GoError: context deadline exceeded",
            "3",
            "!GoError: time: invalid duration \"soon\"",
            "!GoError: sql: database is closed",
            "!GoError: unsupported database: invalid driver parameter type",
            "!GoError: unsupported database: other",
            "!GoError: invalid _fk: \";\"",
            "!GoError: invalid option conn_max_lifetime: time: invalid duration \"x\"",
            "\"object\"",
            "!GoError: unable to open database file: /no/such/folder/x.db",
        ];
        assert_eq!(report.said(), expect);
    });
}

#[test]
fn vus_share_a_file_and_none_is_lost() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("shared.db");
    let script = "
        import sql from 'k6/x/sql'; import driver from 'k6/x/sql/driver/sqlite3';
        const db = sql.open(driver, `${__ENV.DB}?_busy_timeout=15000`);
        export function setup() { db.exec('CREATE TABLE IF NOT EXISTS t (vu, n)'); db.exec('DELETE FROM t'); }
        export default function () { db.exec('BEGIN IMMEDIATE'); db.exec('INSERT INTO t VALUES (?, ?)', __VU, __ITER); db.exec('COMMIT'); }
        export function teardown() { console.log(JSON.stringify(db.query('SELECT count(*) AS c, count(DISTINCT vu) AS v FROM t'))); db.close(); }";
    case(script).env("DB", &path.display().to_string()).vus(4, 5).threads(2).both(|report| {
        report.assert_clean();
        assert_eq!(report.said(), ["[{\"c\":20,\"v\":4}]"]);
    });
}

#[test]
fn a_result_is_limited_by_the_memory_of_the_vu() {
    let script = sqlite(
        "const flood = 'WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n LIMIT 30) SELECT zeroblob(1000000) AS b FROM n';
         show(() => db.query(flood).length);
         show(() => db.query(flood.replace('30', '300')).length);
         show(() => db.query('SELECT 1 AS one'));",
    );
    case(&script).memory_limit(16 << 20).both(|report| {
        let said = report.said();
        assert_eq!(said.len(), 3, "{said:?}");
        assert!(said[0].contains("out of memory"), "{said:?}");
        assert_eq!(said[1], "!GoError: a result is larger than 64 MiB: select fewer rows or columns");
        assert_eq!(said[2], "[{\"one\":1}]");
    });
}

#[test]
fn a_statement_that_does_not_end_ends_with_its_vu() {
    let script = sqlite(
        "db.query('WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT max(x) FROM n'); console.log('never');",
    );
    case(&script)
        .options(
            r#"{"scenarios":{"default":{"executor":"constant-vus","vus":2,"duration":"300ms","gracefulStop":"0s"}}}"#,
        )
        .both(|report| assert_eq!(report.said(), Vec::<&str>::new()));
}

/// A server of a test's own, which ends with it.
struct Server {
    process: Child,
    port: u16,
    folder: tempfile::TempDir,
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
        // Whom it ran as may own the folder.
        let _ = std::fs::remove_dir_all(self.folder.path());
    }
}

fn free_port() -> u16 {
    TcpListener::bind(("127.0.0.1", 0)).and_then(|free| free.local_addr()).expect("a free port").port()
}

/// A program on the path, or where Debian keeps it.
fn program(name: &str, folders: &[&str]) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let versions = Path::new("/usr/lib/postgresql").read_dir().into_iter().flatten().flatten();
    std::env::split_paths(&path)
        .chain(folders.iter().map(PathBuf::from))
        .chain(versions.map(|version| version.path().join("bin")))
        .map(|folder| folder.join(name))
        .find(|path| path.exists())
        .or_else(|| {
            let _ = writeln!(std::io::stderr(), "skipped: {name} is not installed");
            None
        })
}

/// The program as a user that is not root, which database servers refuse to be.
fn as_user(user: &str, program: &Path) -> Command {
    let is_root = Command::new("id").arg("-u").output().is_ok_and(|output| output.stdout == b"0\n");
    if !is_root {
        return Command::new(program);
    }
    // Becomes the program, so that ending the process ends the server.
    let mut command = Command::new("setpriv");
    command.args([&format!("--reuid={user}"), &format!("--regid={user}"), "--clear-groups", "--"]).arg(program);
    command
}

fn start(mut command: Command, port: u16, folder: tempfile::TempDir) -> Server {
    let process = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("it was found");
    let server = Server { process, port, folder };
    let until = Instant::now() + Duration::from_secs(60);
    while TcpStream::connect(("127.0.0.1", port)).is_err() {
        assert!(Instant::now() < until, "the server does not start");
        std::thread::sleep(Duration::from_millis(50));
    }
    server
}

fn postgres() -> Option<Server> {
    let initdb = program("initdb", &[])?;
    let server = initdb.with_file_name("postgres");
    let folder = tempfile::tempdir().expect("a folder");
    let _ = Command::new("chown").arg("postgres").arg(folder.path()).stderr(Stdio::null()).status();
    let data = folder.path().join("data");
    let password = folder.path().join("password");
    std::fs::write(&password, "p/w:1\n").expect("it can be written");
    let mut make = as_user("postgres", &initdb);
    make.args(["-U", "tester", "-A", "scram-sha-256", "--no-sync", "--pwfile"]).arg(&password).arg("-D").arg(&data);
    let made = make.stdout(Stdio::null()).output().expect("it was found");
    assert!(made.status.success(), "initdb: {}", String::from_utf8_lossy(&made.stderr));
    let port = free_port();
    let mut command = as_user("postgres", &server);
    command.arg("-D").arg(&data).args(["-h", "127.0.0.1", "-k", "", "-F", "-p", &port.to_string()]);
    Some(start(command, port, folder))
}

#[test]
fn postgres_does_what_it_does_in_k6() {
    let Some(server) = postgres() else { return };
    let script = format!(
        "import sql from 'k6/x/sql'; import driver from 'k6/x/sql/driver/postgres'; {SHOW}
         const at = `127.0.0.1:${{__ENV.PORT}}/postgres`;
         const db = sql.open(driver, `postgres://tester:p%2Fw%3A1@${{at}}?sslmode=disable`);
         export default function () {{
           db.exec('DROP TABLE IF EXISTS t; CREATE TABLE t (id serial PRIMARY KEY, i bigint, f float8, s text, b bytea, n numeric, yes boolean, at timestamptz, day date)');
           const done = db.exec('INSERT INTO t (i, f, s, b, n, yes, at) VALUES ($1, $2, $3, $4, $5, $6, $7)', 7, 1.5, 'tü', new Uint8Array([1, 255]), '12.50', true, new Date(86400000));
           show(() => done.rowsAffected());
           show(() => done.lastInsertId());
           show(() => db.query('SELECT i, f, s, b, n, yes, at, day FROM t'));
           show(() => db.query('SELECT s FROM t WHERE i = $1 AND yes = $2', 7, true));
           show(() => db.query('INSERT INTO t (i) SELECT generate_series(1, 3) RETURNING id').length);
           show(() => db.query('SELECT 1 AS a; SELECT 2 AS b'));
           show(() => db.query('SELECT * FROM nope'));
           show(() => db.query('SELECT $1::int', 'x'));
           show(() => db.exec('COPY t FROM STDIN'));
           show(() => db.queryWithTimeout('100ms', 'SELECT pg_sleep(20)'));
           show(() => db.query('SELECT 1 AS again'));
           show(() => db.query('SELECT count(*) AS c, sum(length(x)) AS l FROM (SELECT repeat($1, 1000) AS x FROM generate_series(1, 1000)) AS y', 'a'));
           show(() => sql.open(driver, `postgres://tester:wrong@${{at}}?sslmode=disable`).query('SELECT 1'));
           show(() => sql.open(driver, `postgres://tester:x@${{at}}`).query('SELECT 1'));
           show(() => sql.open(driver, 'nonsense'));
           db.close();
         }}"
    );
    case(&script).env("PORT", &server.port.to_string()).both(|report| {
        report.assert_clean();
        let expect = [
            "1",
            "!GoError: LastInsertId is not supported by this driver",
            "[{\"i\":7,\"f\":1.5,\"s\":\"tü\",\"b\":\"bytes 1,255\",\"n\":\"bytes 49,50,46,53,48\",\"yes\":true,\"at\":\"date 1970-01-02T00:00:00.000Z\",\"day\":null}]",
            "[{\"s\":\"tü\"}]",
            "3",
            "[{\"b\":2}]",
            "!GoError: pq: relation \"nope\" does not exist",
            "!GoError: pq: invalid input syntax for type integer: \"x\"",
            "!GoError: pq: COPY from stdin failed: COPY FROM STDIN is not available to scripts",
            "!GoError: context deadline exceeded",
            "[{\"again\":1}]",
            "[{\"c\":1000,\"l\":1000000}]",
            "!GoError: pq: password authentication failed for user \"tester\"",
            "!GoError: pq: SSL is not enabled on the server",
            "!GoError: pq: missing \"=\" after \"nonsense\" in connection info string",
        ];
        assert_eq!(report.said(), expect);
    });
}

/// A user that every system has: the package of the server's program alone makes none.
const NOBODY: &str = "65534";

fn mysql() -> Option<Server> {
    let folders = ["/usr/sbin", "/usr/bin"];
    let (install, server) = (program("mariadb-install-db", &folders)?, program("mariadbd", &folders)?);
    let folder = tempfile::tempdir().expect("a folder");
    let _ = Command::new("chown").arg(NOBODY).arg(folder.path()).stderr(Stdio::null()).status();
    let data = format!("--datadir={}", folder.path().join("data").display());
    let init = folder.path().join("init.sql");
    std::fs::write(
        &init,
        "CREATE DATABASE d;\nCREATE USER 'u'@'%' IDENTIFIED BY 'p/w:1';\nGRANT ALL ON d.* TO 'u'@'%';\n",
    )
    .expect("it can be written");
    let mut make = as_user(NOBODY, &install);
    let made = make.args(["--no-defaults", "--skip-test-db", "--auth-root-authentication-method=normal", &data]);
    let made = made.output().expect("it was found");
    assert!(made.status.success(), "mariadb-install-db: {}", String::from_utf8_lossy(&made.stderr));
    let port = free_port();
    let mut command = as_user(NOBODY, &server);
    let socket = format!("--socket={}", folder.path().join("s").display());
    command.args(["--no-defaults", "--bind-address=127.0.0.1", &format!("--port={port}"), &data, &socket]);
    command.arg(format!("--init-file={}", init.display())).arg("--skip-name-resolve");
    Some(start(command, port, folder))
}

#[test]
fn mysql_does_what_it_does_in_k6() {
    let Some(server) = mysql() else { return };
    let script = format!(
        "import sql from 'k6/x/sql'; import driver from 'k6/x/sql/driver/mysql'; {SHOW}
         const at = `tcp(127.0.0.1:${{__ENV.PORT}})/d`;
         const db = sql.open(driver, `u:p/w:1@${{at}}`);
         export default function () {{
           db.exec('DROP TABLE IF EXISTS t');
           db.exec('CREATE TABLE t (id INT AUTO_INCREMENT PRIMARY KEY, i BIGINT, f DOUBLE, s TEXT, b BLOB, n DECIMAL(10,2), at DATETIME, day DATE, u BIGINT UNSIGNED)');
           const done = db.exec('INSERT INTO t (i, f, s, b, n, at, u) VALUES (?, ?, ?, ?, ?, ?, ?)', -7, 1.5, 'tü', new Uint8Array([1, 255]), '12.50', new Date(86400000), 9);
           show(() => [done.lastInsertId(), done.rowsAffected()].join());
           show(() => db.query('SELECT i, f, n, at, day, u FROM t'));
           show(() => db.query('SELECT i, f, n, at, day, u FROM t WHERE id = ?', 1));
           show(() => String.fromCharCode(...db.query('SELECT b, s FROM t')[0].b));
           show(() => db.query('SELECT ? AS a, ? AS b', null, true));
           show(() => db.query('SELECT * FROM nope'));
           show(() => db.query('SELECT ?', 1, 2));
           show(() => db.query('SELECT 1 AS a; SELECT 2 AS b'));
           show(() => sql.open(driver, `u:p/w:1@${{at}}?multiStatements=true&parseTime=true`).query('SELECT at FROM d.t; SELECT 2 AS b'));
           show(() => db.queryWithTimeout('100ms', 'SELECT SLEEP(20)'));
           show(() => db.query('SELECT 1 AS again'));
           show(() => sql.open(driver, `u:wrong@${{at}}`).query('SELECT 1'));
           show(() => sql.open(driver, 'nonsense'));
           db.close();
         }}"
    );
    case(&script).env("PORT", &server.port.to_string()).both(|report| {
        report.assert_clean();
        let date = "bytes 49,57,55,48,45,48,49,45,48,50,32,48,48,58,48,48,58,48,48";
        let row =
            format!("[{{\"i\":-7,\"f\":1.5,\"n\":\"bytes 49,50,46,53,48\",\"at\":\"{date}\",\"day\":null,\"u\":9}}]");
        let said = report.said();
        let expect = [
            "\"1,1\"",
            row.as_str(),
            row.as_str(),
            "\"\\u0001ÿ\"",
            "[{\"a\":null,\"b\":1}]",
            "!GoError: Error 1146 (42S02): Table 'd.nope' doesn't exist",
            "!GoError: sql: expected 1 arguments, got 2",
            said.get(7).copied().unwrap_or_default(),
            "[{\"at\":\"date 1970-01-02T00:00:00.000Z\"}]",
            "!GoError: context deadline exceeded",
            "[{\"again\":1}]",
            said.get(11).copied().unwrap_or_default(),
            "!GoError: invalid DSN: missing the slash separating the database name",
        ];
        assert_eq!(said, expect);
        assert!(said[7].starts_with("!GoError: Error 1064 (42000): You have an error in your SQL syntax"), "{said:?}");
        assert!(said[11].starts_with("!GoError: Error 1045 (28000): Access denied for user 'u'@"), "{said:?}");
    });
}

#[test]
fn servers_that_are_gone_or_never_answer() {
    let silent = TcpListener::bind(("127.0.0.1", 0)).expect("a free port");
    let rude = TcpListener::bind(("127.0.0.1", 0)).expect("a free port");
    let (silent_port, rude_port) =
        (silent.local_addr().expect("bound").port(), rude.local_addr().expect("bound").port());
    std::thread::spawn(move || {
        for mut stream in rude.incoming().flatten() {
            let _ = stream.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n");
            let _ = stream.shutdown(std::net::Shutdown::Write);
            let _ = stream.read_to_end(&mut Vec::new());
        }
    });
    let script = format!(
        "import sql from 'k6/x/sql'; import postgres from 'k6/x/sql/driver/postgres'; import mysql from 'k6/x/sql/driver/mysql'; {SHOW}
         export default function () {{
           for (const [driver, name] of [[postgres, (port) => `postgres://u:p@127.0.0.1:${{port}}/d?sslmode=disable`], [mysql, (port) => `u:p@tcp(127.0.0.1:${{port}})/d`]]) {{
             show(() => sql.open(driver, name(__ENV.GONE)).query('SELECT 1'));
             show(() => sql.open(driver, name(__ENV.RUDE)).query('SELECT 1'));
             show(() => sql.open(driver, name(__ENV.SILENT)).queryWithTimeout('50ms', 'SELECT 1'));
           }}
           sql.open(postgres, `postgres://u:p@127.0.0.1:${{__ENV.SILENT}}/d`).query('SELECT 1');
           console.log('never');
         }}"
    );
    let gone = free_port();
    case(&script)
        .env("GONE", &gone.to_string())
        .env("RUDE", &rude_port.to_string())
        .env("SILENT", &silent_port.to_string())
        .options(r#"{"scenarios":{"default":{"executor":"constant-vus","vus":1,"duration":"2s","gracefulStop":"0s"}}}"#)
        .both(|report| {
            let refused = format!("!GoError: dial tcp 127.0.0.1:{gone}: connect: connection refused");
            let expect = [
                refused.as_str(),
                "!GoError: a result is larger than 64 MiB: select fewer rows or columns",
                "!GoError: context deadline exceeded",
                refused.as_str(),
                "!GoError: commands out of sync. You can't run this command now",
                "!GoError: context deadline exceeded",
            ];
            assert_eq!(report.said(), expect);
        });
    drop(silent);
}
