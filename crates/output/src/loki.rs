//! Log lines to Grafana Loki: collected for a period, sent as one request.
//!
//! The sender never waits. A line that finds the queue full, one beyond the limit of its period, and those of a
//! request that failed are counted; the counts are told, in Loki where it can be reached and to the caller.

use std::{
    borrow::Cow,
    collections::HashMap,
    io,
    sync::{
        Arc,
        atomic::{AtomicU64, AtomicUsize, Ordering},
        mpsc::{Receiver, RecvTimeoutError, Sender, SyncSender, channel, sync_channel},
    },
    time::Duration,
};

use onrush_fiber::Clock;
use onrush_net::{ClientOptions, ProxyOptions, RequestHeaders, Url};
use serde_json::{Map, Value, json};

use crate::{
    Ending,
    post::{Destination, Poster},
};

/// Where lines go, and how many.
#[derive(Debug, Clone)]
pub struct Config {
    /// The push endpoint.
    pub url: Url,
    /// Lines of one period; those beyond it are dropped.
    pub limit: u64,
    /// How long lines are collected.
    pub push_period: Duration,
    /// Longest message in bytes; longer ones lose their middle.
    pub message_bytes_max: usize,
    /// Labels of every line.
    pub labels: Vec<(String, String)>,
    /// Further headers of every request.
    pub headers: RequestHeaders,
    /// Labels that stay labels; others become part of the message. `None` for all.
    pub allowed_labels: Option<Vec<String>>,
    /// Tell how long each request took.
    pub profile: bool,
    /// The environment's proxies.
    pub proxies: ProxyOptions,
}

impl Config {
    /// Where Loki usually listens.
    pub const URL: &'static str = "http://127.0.0.1:3100/loki/api/v1/push";
    /// k6's limit for a period.
    pub const LIMIT: u64 = 100;
    /// k6's period.
    pub const PUSH_PERIOD: Duration = Duration::from_secs(1);
    /// k6's longest message.
    pub const MESSAGE_BYTES_MAX: usize = 1 << 20;
}

/// A log line.
#[derive(Debug, Clone)]
pub struct Line {
    /// Nanoseconds since 1970.
    pub unix_ns: i128,
    /// Its level as Loki is told it, such as `warning`.
    pub level: &'static str,
    /// The message.
    pub message: String,
    /// Its fields.
    pub fields: Vec<(Cow<'static, str>, String)>,
}

/// A connection to Loki, served by a thread of its own.
pub struct Loki {
    queue: Sender<Message>,
    counts: Arc<Counts>,
}

/// What both ends of the queue know.
#[derive(Debug, Default)]
struct Counts {
    /// Lines in the queue and the bytes of their messages.
    lines: AtomicUsize,
    bytes: AtomicUsize,
    /// Lines of which it is not known yet what becomes of them.
    pending: AtomicU64,
    /// Lines that found the queue full, and those of requests that failed.
    lost: AtomicU64,
}

enum Message {
    Line(Line),
    Flush(SyncSender<()>),
}

impl Loki {
    /// Lines that may wait: a request may take its whole deadline.
    const LINES_MAX: usize = 8_192;
    /// Bytes of messages that may wait: a message may be long.
    const BYTES_MAX: usize = 32 << 20;

    /// Starts the thread. `tell` gets a sentence when lines are lost: the first time and at the end.
    ///
    /// # Errors
    /// When the thread or its network side cannot be set up.
    pub fn start(config: Config, tell: impl Fn(String) + Send + 'static) -> io::Result<Self> {
        let (queue, messages) = channel();
        let counts = Arc::new(Counts::default());
        let own = Arc::clone(&counts);
        let mut headers = RequestHeaders::default();
        headers.set("Content-Type", "application/json");
        config.headers.iter().for_each(|(name, value)| headers.add(name, value));
        let to = Destination::new(config.url.clone(), headers, Pusher::DEADLINE);
        let network = ClientOptions { proxies: config.proxies.clone(), ..ClientOptions::default() };
        let poster = Poster::start(to, network, Ending::default())?;
        std::thread::Builder::new()
            .name("loki".to_owned())
            .spawn(move || Pusher::new(config, poster, own, Box::new(tell)).run(&messages))?;
        Ok(Self { queue, counts })
    }

    /// Sends a line, or counts it when there is no room.
    pub fn push(&self, line: Line) {
        let counts = &self.counts;
        let has_room = counts.lines.load(Ordering::Relaxed) < Self::LINES_MAX
            && counts.bytes.load(Ordering::Relaxed).saturating_add(line.message.len()) <= Self::BYTES_MAX;
        if !has_room {
            counts.lost.fetch_add(1, Ordering::Relaxed);
            return;
        }
        counts.pending.fetch_add(1, Ordering::Relaxed);
        counts.lines.fetch_add(1, Ordering::Relaxed);
        counts.bytes.fetch_add(line.message.len(), Ordering::Relaxed);
        // If the thread is gone, because it panicked, the line stays pending for ever, and is told as such.
        let _ = self.queue.send(Message::Line(line));
    }

    /// Waits until the lines so far are sent, for so long at most.
    ///
    /// # Errors
    /// How many lines of the whole run had not arrived by then.
    pub fn flush(&self, patience: Duration) -> Result<(), u64> {
        let (done, wait) = sync_channel(1);
        if self.queue.send(Message::Flush(done)).is_ok() && wait.recv_timeout(patience).is_ok() {
            return Ok(());
        }
        Err(self.counts.pending.load(Ordering::Relaxed) + self.counts.lost.load(Ordering::Relaxed))
    }
}

/// The thread's state.
struct Pusher {
    config: Config,
    poster: Poster,
    counts: Arc<Counts>,
    tell: Box<dyn Fn(String) + Send>,
    streams: Streams,
    /// The period the last line came in, and how many came in it.
    period: i128,
    in_period: u64,
    /// Lines above the limit since the last request.
    dropped: u64,
    /// The last failure, told when it is another.
    told: String,
    told_at_end: u64,
}

impl Pusher {
    /// How long a request may take. Short enough for the last one to end before the program loses patience.
    const DEADLINE: Duration = Duration::from_secs(3);

    fn new(config: Config, poster: Poster, counts: Arc<Counts>, tell: Box<dyn Fn(String) + Send>) -> Self {
        Self {
            config,
            poster,
            counts,
            tell,
            streams: Streams::default(),
            period: 0,
            in_period: 0,
            dropped: 0,
            told: String::new(),
            told_at_end: 0,
        }
    }

    fn run(&mut self, messages: &Receiver<Message>) {
        let period = self.config.push_period;
        let mut next = Clock::now() + period;
        loop {
            match messages.recv_timeout(next.saturating_sub(Clock::now()).as_duration()) {
                Ok(Message::Line(line)) => self.take(line),
                Ok(Message::Flush(done)) => {
                    self.push();
                    self.sum_up();
                    let _ = done.send(());
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => {
                    self.push();
                    return self.sum_up();
                }
            }
            if Clock::now() >= next {
                self.push();
                next = Clock::now() + period;
            }
        }
    }

    fn take(&mut self, line: Line) {
        self.counts.lines.fetch_sub(1, Ordering::Relaxed);
        self.counts.bytes.fetch_sub(line.message.len(), Ordering::Relaxed);
        let period = line.unix_ns.div_euclid(self.config.push_period.as_nanos().max(1) as i128);
        if period != self.period {
            (self.period, self.in_period) = (period, 0);
        }
        self.in_period += 1;
        if self.in_period > self.config.limit || self.streams.bytes > Streams::BYTES_MAX {
            self.dropped += 1;
        } else {
            self.streams.add(&self.config, line);
        }
    }

    fn push(&mut self) {
        let dropped = std::mem::take(&mut self.dropped);
        // Lines that a request which succeeds settles.
        let settled = self.streams.lines + dropped;
        if dropped > 0 {
            let line = Line {
                unix_ns: Clock::unix_nanos(Clock::now()),
                level: "warning",
                // k6's sentence.
                message: format!(
                    "Onrush dropped {dropped} log messages because they were above the limit of {} messages / {:?}",
                    self.config.limit, self.config.push_period
                ),
                fields: Vec::new(),
            };
            self.streams.add(&self.config, line);
        }
        if self.streams.lines == 0 {
            return;
        }
        let lines = self.streams.lines;
        let body = self.streams.take();
        let bytes = body.len();
        let started = Clock::now();
        let result = self.poster.post(body.into_bytes(), Duration::ZERO).map_err(|refused| refused.why);
        if self.config.profile {
            let took = Clock::now().saturating_sub(started).as_millis_f64();
            (self.tell)(format!("pushed {lines} log lines ({bytes} bytes) to Loki in {took:.1} ms"));
        }
        if result.is_err() {
            self.counts.lost.fetch_add(settled, Ordering::Relaxed);
        }
        self.counts.pending.fetch_sub(settled, Ordering::Relaxed);
        if let Err(error) = result
            && self.told != error
        {
            let url = self.config.url.clean();
            (self.tell)(format!("failed to push {lines} log lines to Loki at {url}: {error}"));
            self.told = error;
        }
    }

    /// Says how many lines are missing in all, if that has changed.
    fn sum_up(&mut self) {
        let missing = self.counts.lost.load(Ordering::Relaxed);
        if missing > self.told_at_end {
            self.told_at_end = missing;
            (self.tell)(format!("{missing} log lines did not reach Loki"));
        }
    }
}

/// Lines by their labels, in the order of their first line.
#[derive(Default)]
struct Streams {
    by_labels: HashMap<String, usize>,
    streams: Vec<(Map<String, Value>, Vec<Value>)>,
    lines: u64,
    bytes: usize,
}

impl Streams {
    /// Messages that are collected at most, in bytes.
    const BYTES_MAX: usize = 32 << 20;

    fn add(&mut self, config: &Config, line: Line) {
        let mut labels: Vec<(&str, &str)> = config.labels.iter().map(|(name, value)| (&**name, &**value)).collect();
        labels.extend(line.fields.iter().map(|(name, value)| (&**name, &**value)));
        labels.push(("level", line.level));
        // The later of two equal names counts; the sort keeps their order.
        labels.sort_by_key(|(name, _)| *name);
        let mut unique: Vec<(&str, &str)> = Vec::with_capacity(labels.len());
        for label in labels {
            match unique.last_mut().filter(|last| last.0 == label.0) {
                Some(last) => *last = label,
                None => unique.push(label),
            }
        }
        let mut message = shorten(&line.message, config.message_bytes_max);
        if let Some(allowed) = &config.allowed_labels {
            unique.retain(|(name, value)| {
                let is_allowed = allowed.iter().any(|allowed| allowed == name);
                if !is_allowed {
                    message.push_str(&format!(" {name}={value}"));
                }
                is_allowed
            });
        }
        let labels: Map<String, Value> =
            unique.into_iter().map(|(name, value)| (name.to_owned(), value.into())).collect();
        self.lines += 1;
        self.bytes += message.len();
        let value = json!([line.unix_ns.to_string(), message]);
        let key = Value::Object(labels.clone()).to_string();
        let next = self.streams.len();
        let index = *self.by_labels.entry(key).or_insert(next);
        match self.streams.get_mut(index) {
            Some((_, values)) => values.push(value),
            None => self.streams.push((labels, vec![value])),
        }
    }

    /// The request's body; empties the collection.
    fn take(&mut self) -> String {
        let all = std::mem::take(self);
        let streams: Vec<Value> =
            all.streams.into_iter().map(|(stream, values)| json!({ "stream": stream, "values": values })).collect();
        json!({ "streams": streams }).to_string()
    }
}

/// A message without its middle, as k6 shortens it.
fn shorten(message: &str, bytes_max: usize) -> String {
    if message.len() <= bytes_max {
        return message.to_owned();
    }
    let start = message.floor_char_boundary(bytes_max / 2);
    let end = message.ceil_char_boundary(message.len() - bytes_max / 2);
    let omitted = message[start..end].chars().count();
    format!("{}... omitting {omitted} characters ...{}", &message[..start], &message[end..])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config() -> Config {
        Config {
            url: Url::parse(Config::URL).expect("a URL"),
            limit: 5,
            push_period: Duration::from_millis(300),
            message_bytes_max: 10,
            labels: vec![("foo".to_owned(), "bar".to_owned()), ("baz".to_owned(), "1".to_owned())],
            headers: RequestHeaders::default(),
            allowed_labels: None,
            profile: false,
            proxies: ProxyOptions::default(),
        }
    }

    fn line(level: &'static str, message: &str) -> Line {
        Line { unix_ns: 7, level, message: message.to_owned(), fields: vec![("source".into(), "console".to_owned())] }
    }

    /// The body k6 1.8.1 sends for these lines, the order of labels aside.
    #[test]
    fn bodies_are_k6s() {
        let mut streams = Streams::default();
        for line in [line("info", "one"), line("error", "xxxxxxxxxxxxxxxxxxxx0"), line("info", "two")] {
            streams.add(&config(), line);
        }
        assert_eq!(
            streams.take(),
            r#"{"streams":[{"stream":{"baz":"1","foo":"bar","level":"info","source":"console"},"values":[["7","one"],["7","two"]]},{"stream":{"baz":"1","foo":"bar","level":"error","source":"console"},"values":[["7","xxxxx... omitting 11 characters ...xxxx0"]]}]}"#
        );
        assert_eq!((streams.lines, streams.bytes), (0, 0));
        let allowed = Config { allowed_labels: Some(vec!["foo".to_owned(), "level".to_owned()]), ..config() };
        streams.add(&allowed, line("info", "one"));
        assert_eq!(
            streams.take(),
            r#"{"streams":[{"stream":{"foo":"bar","level":"info"},"values":[["7","one baz=1 source=console"]]}]}"#
        );
    }

    #[test]
    fn lines_go_through_the_environments_proxy() {
        let server = onrush_testkit::GoodServer::start(|_| onrush_testkit::Reply::status(204));
        let proxy = onrush_testkit::GoodProxy::start(server.addr());
        let proxies = ProxyOptions { http: proxy.addr().to_string(), ..ProxyOptions::default() };
        let url = Url::parse("http://loki.invalid/loki/api/v1/push").expect("a URL");
        let loki = Loki::start(Config { url, proxies, ..config() }, |_| {}).expect("a thread");
        loki.push(line("info", "one"));
        assert_eq!(loki.flush(Duration::from_secs(20)), Ok(()));
        assert_eq!(server.requests(), 1);
        assert!(proxy.heads()[0].starts_with("POST http://loki.invalid/loki/api/v1/push HTTP/1.1"));
    }

    #[test]
    fn long_messages_lose_their_middle() {
        assert_eq!(shorten("short", 10), "short");
        assert_eq!(shorten("éééééééééé", 5), "é... omitting 8 characters ...é");
        assert_eq!(shorten("abc", 0), "... omitting 3 characters ...");
    }
}
