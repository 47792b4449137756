//! The server that a sentinel names.

use std::{cell::RefCell, rc::Rc};

use onrush_redis::{Command, Reply};

use super::{
    options::Options,
    pool::{Failed, Pool},
    servers::{Question, back_off},
};
use crate::vu::Vu;

pub(super) struct Sentinel {
    sentinel: Pool,
    master_name: String,
    /// Where `host` and `port` are still the sentinel's.
    master_options: Options,
    /// Once it is known, until it is gone or no master any more.
    master: RefCell<Option<Rc<Pool>>>,
}

impl Sentinel {
    pub(super) fn new(sentinel: Options, master_name: String, master_options: Options) -> Self {
        Self { sentinel: Pool::new(sentinel), master_name, master_options, master: RefCell::default() }
    }

    pub(super) fn ask(&self, vu: &Vu, question: &Question) -> Result<Reply, Failed> {
        let mut tries = 0;
        loop {
            let master = self.master(vu)?;
            let asked = master.ask(vu, None, &question.bytes);
            let is_over = match &asked {
                Ok(Reply::Error(text)) => !text.starts_with("READONLY "),
                Err(Failed::Unsent(_)) => false,
                _ => true,
            };
            if is_over || tries == self.master_options.retries {
                return asked;
            }
            // Another one may be the master by now.
            self.forget(&master);
            back_off(tries)?;
            tries += 1;
        }
    }

    fn forget(&self, gone: &Rc<Pool>) {
        let mut master = self.master.borrow_mut();
        if master.as_ref().is_some_and(|known| Rc::ptr_eq(known, gone)) {
            *master = None;
        }
    }

    fn master(&self, vu: &Vu) -> Result<Rc<Pool>, Failed> {
        if let Some(known) = &*self.master.borrow() {
            return Ok(known.clone());
        }
        let mut command = Command::new("sentinel");
        command.push(b"get-master-addr-by-name");
        command.push(self.master_name.as_bytes());
        let unreachable = |reason: &str| Failed::Because(format!("{UNREACHABLE}: {reason}"));
        let address = match self.sentinel.ask(vu, None, &command.bytes()) {
            Ok(Reply::List(parts)) => match parts.as_slice() {
                [Reply::Bytes(host), Reply::Bytes(port)] => {
                    format!("{}:{}", String::from_utf8_lossy(host), String::from_utf8_lossy(port))
                }
                _ => return Err(unreachable("the answer is no address")),
            },
            Ok(Reply::Error(text)) | Err(Failed::Because(text) | Failed::Unsent(text)) => {
                return Err(unreachable(&text));
            }
            Ok(_) => return Err(unreachable("redis: nil")),
            Err(Failed::Cancelled | Failed::Stale) => return Err(Failed::Cancelled),
        };
        let options = self.master_options.at(&address).ok_or_else(|| unreachable("the answer is no address"))?;
        // Another fiber may have been faster.
        Ok(self.master.borrow_mut().get_or_insert_with(|| Rc::new(Pool::new(options))).clone())
    }
}

/// go-redis says this of every problem with sentinels.
const UNREACHABLE: &str = "redis: all sentinels specified in configuration are unreachable";
