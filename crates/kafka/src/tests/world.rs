//! A [`World`] of threads and `std::net`.

use std::{
    io::{ErrorKind, Read, Write},
    net::TcpStream,
    time::{Duration, Instant, SystemTime, UNIX_EPOCH},
};

use crate::{KafkaError, Stream, World};

/// Counts what it is asked for; gives up where it is told to.
#[derive(Debug)]
pub(super) struct TestWorld {
    pub(super) start: Instant,
    pub(super) held_max: usize,
    pub(super) held_limit: usize,
    pub(super) pauses_left: usize,
}

impl Default for TestWorld {
    fn default() -> Self {
        Self { start: Instant::now(), held_max: 0, held_limit: usize::MAX, pauses_left: usize::MAX }
    }
}

#[derive(Debug)]
pub(super) struct Socket(TcpStream, Instant);

impl Socket {
    fn limit(&self, deadline_ns: u64) -> Result<(), KafkaError> {
        let left = deadline_ns.saturating_sub(self.1.elapsed().as_nanos() as u64);
        let left = Duration::from_nanos(left).min(Duration::from_secs(60));
        if left.is_zero() {
            return Err(KafkaError::Timeout);
        }
        self.0
            .set_read_timeout(Some(left))
            .and_then(|()| self.0.set_write_timeout(Some(left)))
            .map_err(|error| failed(&error))
    }
}

fn failed(error: &std::io::Error) -> KafkaError {
    match error.kind() {
        ErrorKind::WouldBlock | ErrorKind::TimedOut => KafkaError::Timeout,
        _ => KafkaError::Broken(error.to_string()),
    }
}

impl Stream for Socket {
    fn read(&mut self, out: &mut Vec<u8>, deadline_ns: u64) -> Result<bool, KafkaError> {
        self.limit(deadline_ns)?;
        let mut buffer = [0; 16 << 10];
        let count = self.0.read(&mut buffer).map_err(|error| failed(&error))?;
        out.extend_from_slice(&buffer[..count]);
        Ok(count > 0)
    }

    fn write(&mut self, bytes: &[u8], deadline_ns: u64) -> Result<(), KafkaError> {
        self.limit(deadline_ns)?;
        self.0.write_all(bytes).map_err(|error| failed(&error))
    }

    fn is_quiet(&self) -> bool {
        let _ = self.0.set_nonblocking(true);
        let peeked = self.0.peek(&mut [0]);
        let _ = self.0.set_nonblocking(false);
        peeked.is_err()
    }
}

impl World for TestWorld {
    type Stream = Socket;

    fn dial(&mut self, host: &str, port: u16, _: u64) -> Result<Socket, KafkaError> {
        let socket = TcpStream::connect((host, port)).map_err(|error| failed(&error))?;
        Ok(Socket(socket, self.start))
    }

    fn now_ns(&self) -> u64 {
        self.start.elapsed().as_nanos() as u64
    }

    fn unix_ms(&self) -> i64 {
        SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_millis() as i64)
    }

    fn sleep(&mut self, ns: u64) -> Result<(), KafkaError> {
        std::thread::sleep(Duration::from_nanos(ns));
        Ok(())
    }

    fn pause(&mut self) -> Result<(), KafkaError> {
        match self.pauses_left.checked_sub(1) {
            Some(left) => {
                self.pauses_left = left;
                Ok(())
            }
            None => Err(KafkaError::Cancelled),
        }
    }

    fn hold(&mut self, bytes: usize) -> Result<(), KafkaError> {
        self.held_max = self.held_max.max(bytes);
        if bytes > self.held_limit { Err(KafkaError::TooLarge("out of memory".to_owned())) } else { Ok(()) }
    }

    fn aside<T: Send + 'static>(&mut self, work: impl FnOnce() -> T + Send + 'static) -> Result<T, KafkaError> {
        Ok(work())
    }
}
