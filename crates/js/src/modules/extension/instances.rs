//! Which instance a call runs in, and who pays for its memory.
//!
//! An extension that keeps state has an instance a VU, made at the VU's first call. One that does not is lent an idle
//! instance of the thread: there are as many as calls are under way at a time, since a long call lets other VUs run.

use std::{cell::RefCell, rc::Rc, sync::Arc};

use onrush_crypto::web::random_bytes;
use onrush_extension::{CallError, Extension, Host, Instance, LogLevel};
use onrush_fiber::Clock;

use super::Callee;
use crate::{
    embed::{Charge, JsResult, Throw},
    log::{Level, Line},
    vu::{Vu, context},
};

/// What extensions reach.
pub(super) struct World {
    /// The extension's name, for its log lines.
    name: Rc<str>,
    /// Memory of the instance on the account of the VU that has it.
    charges: Vec<Charge>,
    charged: usize,
}

impl Host for World {
    fn log(&mut self, level: LogLevel, text: &str) {
        let level = match level {
            LogLevel::Debug => Level::Debug,
            LogLevel::Info => Level::Info,
            LogLevel::Warn => Level::Warn,
            LogLevel::Error => Level::Error,
        };
        let fields = vec![("source".into(), self.name.to_string())];
        context::vu().script().log.line(Line { level, message: text.to_owned(), fields });
    }

    fn now_ms(&mut self) -> f64 {
        Clock::unix_ms(Clock::now())
    }

    fn random(&mut self, into: &mut [u8]) -> bool {
        random_bytes(into).is_ok()
    }
}

/// A VU's own instances, by the extensions' place in the program.
#[derive(Default)]
struct Own(RefCell<Vec<Slot>>);

#[derive(Default)]
enum Slot {
    #[default]
    Empty,
    Idle(Box<Instance<World>>),
    /// A call is under way in it.
    Lent,
}

/// A thread's idle instances of extensions that keep no state.
#[derive(Default)]
#[expect(clippy::vec_box, reason = "leases take the boxes as they are")]
struct Pool(RefCell<Vec<Vec<Box<Instance<World>>>>>);

/// As many idle instances are kept of each extension.
const IDLE_MAX: usize = 8;

/// One that has grown larger is not kept: nobody would pay for it.
const IDLE_BYTES_MAX: usize = 4 << 20;

/// An instance for the time of a call. Dropped before it is given back, the instance goes as well.
pub(super) struct Lease<'a> {
    instance: Option<Box<Instance<World>>>,
    vu: &'a Vu,
    place: usize,
    keeps_state: bool,
}

impl<'a> Lease<'a> {
    pub(super) fn take(vu: &'a Vu, place: usize, extension: &Arc<Extension>, callee: &Callee<'_>) -> JsResult<Self> {
        let keeps_state = extension.keeps_state();
        let idle = if keeps_state {
            let mut own = vu.slots.of::<Own>().0.borrow_mut();
            if own.len() <= place {
                own.resize_with(place + 1, Slot::default);
            }
            match std::mem::replace(&mut own[place], Slot::Lent) {
                Slot::Empty => None,
                Slot::Idle(instance) => Some(instance),
                Slot::Lent => return Err(callee.error("another call of this VU is under way in it")),
            }
        } else {
            let mut pool = vu.thread.slots.of::<Pool>().0.borrow_mut();
            if pool.len() <= place {
                pool.resize_with(place + 1, Vec::new);
            }
            pool[place].pop()
        };
        let mut lease = Self { instance: idle, vu, place, keeps_state };
        match &mut lease.instance {
            Some(instance) => charge(instance, callee)?,
            None => {
                let world = World { name: callee.extension.into(), charges: Vec::new(), charged: 0 };
                let mut instance = Instance::new(extension, world).map_err(|reason| callee.error(&reason))?;
                charge(&mut instance, callee)?;
                let ready = instance.initialize(&mut context::pause);
                lease.instance = Some(Box::new(instance));
                ready.map_err(|error: CallError<Throw>| callee.thrown(error))?;
            }
        }
        Ok(lease)
    }

    pub(super) fn instance(&mut self) -> &mut Instance<World> {
        self.instance.as_mut().expect("a lease has its instance until it is given back")
    }

    /// The call has ended, and others may follow in the instance.
    pub(super) fn give_back(mut self, callee: &Callee<'_>) -> JsResult<()> {
        // What it has grown by.
        charge(self.instance(), callee)?;
        let Some(mut instance) = self.instance.take() else { return Ok(()) };
        if self.keeps_state {
            self.vu.slots.of::<Own>().0.borrow_mut()[self.place] = Slot::Idle(instance);
        } else {
            let world = instance.host();
            world.charges.clear();
            world.charged = 0;
            let mut pool = self.vu.thread.slots.of::<Pool>().0.borrow_mut();
            if pool[self.place].len() < IDLE_MAX && instance.memory_bytes() <= IDLE_BYTES_MAX {
                pool[self.place].push(instance);
            }
        }
        Ok(())
    }
}

impl Drop for Lease<'_> {
    fn drop(&mut self) {
        if self.keeps_state {
            let mut own = self.vu.slots.of::<Own>().0.borrow_mut();
            if matches!(own[self.place], Slot::Lent) {
                own[self.place] = Slot::Empty;
            }
        }
    }
}

/// Puts what an instance has grown by on the account of the running VU.
fn charge(instance: &mut Instance<World>, callee: &Callee<'_>) -> JsResult<()> {
    let bytes = instance.memory_bytes() + INSTANCE_BYTES;
    let world = instance.host();
    let more = bytes.saturating_sub(world.charged);
    if more > 0 {
        let charge = Charge::take(more)
            .map_err(|_| callee.error(&format!("its memory of {bytes} bytes does not fit the VU's limit")))?;
        world.charges.push(charge);
        world.charged = bytes;
    }
    Ok(())
}

/// About what an instance needs besides its memory.
const INSTANCE_BYTES: usize = 4 << 10;
