//! The servers of a cluster: a command goes to the one that has its key, and follows where that one sends it.

use std::{
    cell::{Cell, RefCell},
    rc::Rc,
};

use onrush_redis::{Command, Redirect, Reply, Shards};
use rustc_hash::FxHashMap;

use super::{
    options::{ClusterOptions, Options},
    pool::{Failed, Pool},
    servers::{Question, back_off},
};
use crate::vu::Vu;

pub(super) struct Cluster {
    options: ClusterOptions,
    shards: RefCell<Option<Rc<Shards>>>,
    /// A server has sent us on: what is known of the others is old.
    is_stale: Cell<bool>,
    /// By address, and whether they are only read from.
    pools: RefCell<FxHashMap<(String, bool), Rc<Pool>>>,
    /// Spreads what can go to any server.
    turn: Cell<usize>,
}

/// Servers with connections at most: a hostile one could name a new one with every answer.
const POOLS_MAX: usize = 1024;

impl Cluster {
    pub(super) fn new(options: ClusterOptions) -> Self {
        Self {
            options,
            shards: RefCell::default(),
            is_stale: Cell::new(false),
            pools: RefCell::default(),
            turn: Cell::new(0),
        }
    }

    pub(super) fn ask(&self, vu: &Vu, question: &Question) -> Result<Reply, Failed> {
        let mut tries = 0;
        let mut sent_to: Option<(Rc<Pool>, bool)> = None;
        loop {
            let (pool, asks) = match sent_to.take() {
                Some(place) => place,
                None => (self.place(vu, question)?, false),
            };
            let asking = asks.then(|| Command::new("ASKING").bytes());
            let asked = pool.ask(vu, asking.as_deref(), &question.bytes);
            if tries == self.options.redirects_max {
                return asked;
            }
            match &asked {
                Ok(Reply::Error(text)) => match Redirect::of(text) {
                    Some(Redirect::Moved(to)) => {
                        self.is_stale.set(true);
                        sent_to = Some((self.pool(&pool.options, to, false)?, false));
                    }
                    Some(Redirect::Ask(to)) => sent_to = Some((self.pool(&pool.options, to, false)?, true)),
                    None if PASSING.iter().any(|word| text.starts_with(word)) => {
                        self.is_stale.set(true);
                        back_off(tries)?;
                    }
                    None => return asked,
                },
                Err(Failed::Unsent(_)) => {
                    self.is_stale.set(true);
                    back_off(tries)?;
                }
                _ => return asked,
            }
            tries += 1;
        }
    }

    /// The server for a command.
    fn place(&self, vu: &Vu, question: &Question) -> Result<Rc<Pool>, Failed> {
        let shards = self.shards(vu)?;
        let turn = self.turn.get();
        self.turn.set(turn.wrapping_add(1));
        let any = || shards.masters().nth(turn % shards.masters().len()).unwrap_or_default();
        let servers = question.slot.map_or(&[][..], |slot| shards.of(slot));
        let reads = self.options.reads_anywhere && question.is_read && !servers.is_empty();
        // A slot that nobody has: whoever is asked says so.
        let address = match servers {
            [] => any(),
            servers if reads => &servers[turn % servers.len()],
            [first, ..] => first,
        };
        self.pool(&self.options.seeds[0], address, reads)
    }

    fn pool(&self, from: &Options, address: &str, reads_only: bool) -> Result<Rc<Pool>, Failed> {
        let Some(options) = from.at(address) else {
            return Err(Failed::Because(format!("redis: {address:?} is no address of a server")));
        };
        let key = (options.address(), reads_only);
        let mut pools = self.pools.borrow_mut();
        if let Some(pool) = pools.get(&key) {
            return Ok(pool.clone());
        }
        if pools.len() == POOLS_MAX {
            return Err(Failed::Because(format!("redis: the cluster has named more than {POOLS_MAX} servers")));
        }
        let pool = Rc::new(Pool::new(Options { reads_only, ..options }));
        pools.insert(key, pool.clone());
        Ok(pool)
    }

    /// Which server has what: asked for before the first command, and again after one was sent on.
    fn shards(&self, vu: &Vu) -> Result<Rc<Shards>, Failed> {
        let known = self.shards.borrow().clone();
        if let Some(known) = known.as_ref().filter(|_| !self.is_stale.get()) {
            return Ok(known.clone());
        }
        self.is_stale.set(false);
        let mut command = Command::new("CLUSTER");
        command.push(b"SLOTS");
        let command = command.bytes();
        let addresses: Vec<String> = known.iter().flat_map(|shards| shards.masters()).map(str::to_owned).collect();
        let mut why = None;
        for (index, address) in addresses.into_iter().chain(self.options.seeds.iter().map(Options::address)).enumerate()
        {
            if index == ASKED_MAX {
                break;
            }
            let pool = self.pool(&self.options.seeds[0], &address, false)?;
            match pool.ask(vu, None, &command) {
                // go-redis: a server that is none of a cluster has everything.
                Ok(Reply::Error(text)) if text.ends_with("cluster support disabled") => {
                    return Ok(self.learn(Shards::all(pool.options.address())));
                }
                Ok(Reply::Error(text)) => why = why.or(Some(text)),
                Ok(reply) => match Shards::read(&reply, &pool.options.host) {
                    Some(shards) => return Ok(self.learn(shards)),
                    None => why = why.or_else(|| Some(NO_SLOTS.to_owned())),
                },
                Err(Failed::Cancelled) => return Err(Failed::Cancelled),
                Err(Failed::Because(text) | Failed::Unsent(text)) => why = why.or(Some(text)),
                Err(Failed::Stale) => {}
            }
        }
        // Old knowledge is better than none.
        known.ok_or_else(|| Failed::Because(why.unwrap_or_else(|| NO_SLOTS.to_owned())))
    }

    fn learn(&self, shards: Shards) -> Rc<Shards> {
        let shards = Rc::new(shards);
        self.shards.replace(Some(shards.clone()));
        shards
    }
}

/// Errors that go away by themselves.
const PASSING: [&str; 4] = ["TRYAGAIN ", "CLUSTERDOWN ", "LOADING ", "MASTERDOWN "];
/// Servers that are asked which server has what, one after another.
const ASKED_MAX: usize = 16;
/// A cluster without slots, or an answer that is no list of them.
const NO_SLOTS: &str = "redis: cluster has no nodes";
