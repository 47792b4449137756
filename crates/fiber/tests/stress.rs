//! Thousands of fibers suspended at random depths, waking, cancelling and spawning each other in random (seeded) order,
//! each watching over its own stack.

use std::{
    cell::{Cell, RefCell},
    hint::black_box,
    rc::Rc,
    time::Duration,
};

use onrush_fiber::{
    Clock, FiberId, Reactor, ReactorConfig, Woke, cancel, clear_cancel, current, is_alive, is_cancelled, park,
    sleep_until, spawn, stats, unpark, yield_now,
};

/// A small generator of our own: the same numbers on every machine.
#[derive(Clone)]
struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % limit
    }
}

/// What all fibers of a run share.
struct World {
    ids: RefCell<Vec<FiberId>>,
    /// Unparks sent to each fiber, and returns of `park` with `Ready`.
    unparks: RefCell<Vec<u64>>,
    readies: RefCell<Vec<u64>>,
    ended: Cell<usize>,
    wakes: Cell<u64>,
}

const STEPS: u64 = 30;

/// Recurses to a random depth, waiting on the way down, at the bottom and on the way up. Every frame keeps a pattern
/// and its own address and checks both after each wait.
fn descend(world: &World, me: usize, depth: u64, random: &mut Random) {
    let pattern = (me as u64) << 32 | depth;
    let mut canary = [pattern; 12];
    let address = black_box(&mut canary).as_ptr();
    step(world, me, random);
    if depth > 0 {
        descend(world, me, depth - 1, random);
    }
    if random.below(4) == 0 {
        step(world, me, random);
    }
    assert_eq!(black_box(&canary).as_ptr(), address, "a stack came back elsewhere");
    assert!(canary.iter().all(|&word| word == pattern), "a stack came back changed");
}

fn step(world: &World, me: usize, random: &mut Random) {
    let count = world.ids.borrow().len() as u64;
    let other = random.below(count) as usize;
    let other_id = world.ids.borrow()[other];
    match random.below(10) {
        0 | 1 => {
            world.unparks.borrow_mut()[other] += 1;
            unpark(other_id);
        }
        2 => cancel(other_id),
        3 => {
            let world_wakes = world.wakes.get();
            spawn(None, move || {
                black_box(world_wakes);
                let _ = yield_now();
            });
        }
        _ => {}
    }
    let now = Clock::now();
    let deadline = now + Duration::from_micros(random.below(3000));
    let woke = match random.below(6) {
        0 => yield_now(),
        1 => {
            let woke = sleep_until(deadline);
            assert_ne!(woke, Woke::Ready, "unpark does not end a sleep");
            woke
        }
        2 => parked(world, me, None),
        _ => parked(world, me, Some(deadline)),
    };
    world.wakes.set(world.wakes.get() + 1);
    match woke {
        Woke::Ready => {}
        Woke::Timeout => assert!(Clock::now() >= deadline, "too early"),
        Woke::Cancelled => {
            assert!(is_cancelled());
            assert_eq!(park(None), Woke::Cancelled, "cancelled until cleared");
            clear_cancel();
            assert!(!is_cancelled());
        }
    }
    assert_eq!(current(), Some(world.ids.borrow()[me]));
}

fn parked(world: &World, me: usize, deadline: Option<onrush_fiber::Nanos>) -> Woke {
    let woke = park(deadline);
    if woke == Woke::Ready {
        let mut readies = world.readies.borrow_mut();
        readies[me] += 1;
        assert!(readies[me] <= world.unparks.borrow()[me], "woke without an unpark");
    }
    woke
}

fn run(seed: u64, fibers: usize, depth_max: u64) {
    // A third of the fibers have stacks of their own, the others share one.
    let config = ReactorConfig { own_stacks: fibers / 3, ..ReactorConfig::default() };
    let reactor = Reactor::new(config).expect("a reactor");
    let world = Rc::new(World {
        ids: RefCell::new(Vec::new()),
        unparks: RefCell::new(vec![0; fibers]),
        readies: RefCell::new(vec![0; fibers]),
        ended: Cell::new(0),
        wakes: Cell::new(0),
    });
    for me in 0..fibers {
        let shared = Rc::clone(&world);
        let mut random = Random(seed ^ (me as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15));
        let id = spawn(None, move || {
            for _ in 0..STEPS / 10 {
                let depth = random.below(depth_max);
                descend(&shared, me, depth, &mut random);
            }
            shared.ended.set(shared.ended.get() + 1);
        });
        world.ids.borrow_mut().push(id);
    }
    // Somebody has to wake those that wait for nothing.
    let shared = Rc::clone(&world);
    spawn(None, move || {
        while shared.ended.get() < fibers {
            for (i, &id) in shared.ids.borrow().iter().enumerate() {
                shared.unparks.borrow_mut()[i] += 1;
                unpark(id);
            }
            let _ = sleep_until(Clock::now() + Duration::from_millis(1));
        }
        let saved = stats().expect("on a fiber").saved_bytes_total;
        assert_eq!(saved % 256, 0);
    });
    reactor.run();
    assert_eq!(world.ended.get(), fibers);
    let stats = reactor.stats();
    assert_eq!(stats.fibers, 0);
    assert_eq!(stats.saved_bytes_total, 0);
    // (A wait that finds a permit or a cancel switches nowhere, so there is no tighter bound.)
    assert!(stats.switches > fibers as u64);
    assert!(world.wakes.get() > fibers as u64);
    assert!(world.ids.borrow().iter().all(|&id| !is_alive(id)));
}

#[test]
fn shallow_fibers_survive_random_interleavings() {
    run(1, 3000, 4);
}

#[test]
fn deep_fibers_survive_random_interleavings() {
    run(2, 300, 60);
}

#[test]
fn a_few_fibers_survive_many_seeds() {
    for seed in 10..30 {
        run(seed, 20, 10);
    }
}
