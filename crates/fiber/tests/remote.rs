//! Other threads: posts, wake-ups, holds, stop, futures woken from elsewhere.

use std::{
    cell::{Cell, RefCell},
    future::{pending, poll_fn},
    rc::Rc,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
        mpsc,
    },
    task::{Poll, Waker},
    thread,
    time::Duration,
};

use onrush_fiber::{
    Clock, FiberId, Reactor, ReactorConfig, Woke, block_on, cancel, clear_cancel, current, park, remote, spawn, unpark,
};

fn reactor() -> Reactor {
    Reactor::new(ReactorConfig::default()).expect("a reactor")
}

thread_local! {
    static SEEN: RefCell<Vec<(usize, usize)>> = const { RefCell::new(Vec::new()) };
}

#[test]
fn posts_of_one_thread_keep_their_order_and_none_is_lost() {
    const THREADS: usize = 4;
    const POSTS: usize = 5000;
    let reactor = reactor();
    let threads: Vec<_> = (0..THREADS)
        .map(|t| {
            let (remote, hold) = (reactor.remote(), reactor.remote().hold());
            thread::spawn(move || {
                for i in 0..POSTS {
                    remote.post(Box::new(move || SEEN.with_borrow_mut(|s| s.push((t, i)))));
                }
                drop(hold);
            })
        })
        .collect();
    reactor.run();
    for thread in threads {
        thread.join().expect("no panic");
    }
    SEEN.with_borrow(|seen| {
        assert_eq!(seen.len(), THREADS * POSTS);
        for t in 0..THREADS {
            let of_thread = seen.iter().filter(|s| s.0 == t).map(|s| s.1);
            assert!(of_thread.eq(0..POSTS));
        }
    });
}

#[test]
fn a_hold_keeps_an_idle_reactor_running() {
    let reactor = reactor();
    let hold = reactor.remote().hold();
    let second = reactor.remote();
    let (sender, receiver) = mpsc::channel();
    let thread = thread::spawn(move || {
        second.post(Box::new(move || {
            // Posted functions may spawn.
            spawn(None, move || sender.send(current().is_some()).expect("received below"));
        }));
        let on_fiber = receiver.recv().expect("sent above");
        drop(hold);
        on_fiber
    });
    reactor.run();
    assert!(thread.join().expect("no panic"));
}

#[test]
fn posting_from_the_reactors_own_thread_wakes_nobody_but_runs() {
    let reactor = reactor();
    let ran = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&ran);
    spawn(None, move || {
        let remote = remote().expect("on a fiber");
        for _ in 0..10 {
            let counter = Arc::clone(&counter);
            let id = current().expect("on a fiber");
            let own = remote.clone();
            remote.post(Box::new(move || {
                counter.fetch_add(1, Ordering::Relaxed);
                own.unpark(id);
            }));
            assert_eq!(park(None), Woke::Ready);
        }
    });
    reactor.run();
    assert_eq!(ran.load(Ordering::Relaxed), 10);
}

#[test]
fn a_panic_in_a_posted_function_stops_there() {
    let reactor = reactor();
    let reports = Rc::new(RefCell::new(Vec::new()));
    let sink = Rc::clone(&reports);
    reactor.on_panic(move |panic| sink.borrow_mut().push(panic.clone()));
    let ran = Arc::new(AtomicUsize::new(0));
    for i in 0..3 {
        let ran = Arc::clone(&ran);
        reactor.remote().post(Box::new(move || {
            assert_ne!(i, 1, "the second one");
            ran.fetch_add(1, Ordering::Relaxed);
        }));
    }
    reactor.run();
    assert_eq!(ran.load(Ordering::Relaxed), 2);
    let reports = reports.borrow();
    assert_eq!(reports.len(), 1);
    assert_eq!(reports[0].fiber, None);
    assert!(reports[0].message.contains("the second one"));
}

#[test]
fn what_a_gone_reactor_would_have_run_is_dropped() {
    let shared = Arc::new(());
    let first = reactor();
    let remote = first.remote();
    let (early, late) = (Arc::clone(&shared), Arc::clone(&shared));
    remote.post(Box::new(move || drop(early)));
    drop(first);
    remote.post(Box::new(move || drop(late)));
    assert_eq!(Arc::strong_count(&shared), 1);
}

#[test]
fn stop_returns_and_run_goes_on() {
    let reactor = reactor();
    let id = spawn(None, || assert_eq!(park(None), Woke::Ready));
    let remote = reactor.remote();
    let thread = thread::spawn(move || remote.stop());
    reactor.run();
    thread.join().expect("no panic");
    assert_eq!(reactor.stats().fibers, 1);
    unpark(id);
    reactor.run();
    assert_eq!(reactor.stats().fibers, 0);
}

#[test]
fn unparks_from_other_threads_all_arrive() {
    const ROUNDS: usize = 2000;
    let reactor = reactor();
    let remote = reactor.remote();
    let (ask, asked) = mpsc::channel::<Option<FiberId>>();
    let answered = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&answered);
    let thread = thread::spawn(move || {
        while let Ok(Some(id)) = asked.recv() {
            counter.fetch_add(1, Ordering::Release);
            remote.unpark(id);
        }
    });
    let done = Rc::new(Cell::new(false));
    let flag = Rc::clone(&done);
    spawn(None, move || {
        for round in 1..=ROUNDS {
            ask.send(current()).expect("the thread listens");
            while answered.load(Ordering::Acquire) < round {
                assert_eq!(park(None), Woke::Ready);
            }
        }
        ask.send(None).expect("the thread listens");
        flag.set(true);
    });
    reactor.run();
    thread.join().expect("no panic");
    assert!(done.get());
}

/// A value another thread will fill in.
#[derive(Default)]
struct Promise {
    value: Option<u32>,
    waker: Option<Waker>,
}

fn future_of(promise: Arc<Mutex<Promise>>) -> std::pin::Pin<Box<dyn Future<Output = u32>>> {
    Box::pin(poll_fn(move |context| {
        let mut promise = promise.lock().expect("not poisoned");
        match promise.value {
            Some(value) => Poll::Ready(value),
            None => {
                promise.waker = Some(context.waker().clone());
                Poll::Pending
            }
        }
    }))
}

fn fulfil(promise: &Mutex<Promise>, value: u32) {
    let waker = {
        let mut promise = promise.lock().expect("not poisoned");
        promise.value = Some(value);
        promise.waker.take()
    };
    if let Some(waker) = waker {
        waker.wake();
    }
}

#[test]
fn futures_are_woken_from_other_threads() {
    const FIBERS: u32 = 200;
    let reactor = reactor();
    let promises: Vec<_> = (0..FIBERS).map(|_| Arc::<Mutex<Promise>>::default()).collect();
    let sum = Rc::new(Cell::new(0));
    for promise in &promises {
        let (promise, sum) = (Arc::clone(promise), Rc::clone(&sum));
        spawn(None, move || {
            let value = block_on(future_of(promise), None).expect("fulfilled");
            sum.set(sum.get() + value);
        });
    }
    let thread = thread::spawn(move || {
        for (i, promise) in promises.iter().enumerate() {
            fulfil(promise, i as u32);
            if i % 10 == 0 {
                thread::yield_now();
            }
        }
    });
    reactor.run();
    thread.join().expect("no panic");
    assert_eq!(sum.get(), FIBERS * (FIBERS - 1) / 2);
}

#[test]
fn futures_are_woken_on_their_own_thread() {
    let reactor = reactor();
    let promise = Arc::<Mutex<Promise>>::default();
    let other = Arc::clone(&promise);
    spawn(None, move || assert_eq!(block_on(future_of(promise), None), Ok(5)));
    spawn(None, move || fulfil(&other, 5));
    reactor.run();
    assert_eq!(reactor.stats().panics, 0);
}

#[test]
fn block_on_ends_with_the_deadline_or_a_cancel_and_drops_the_future() {
    struct Dropped(Rc<Cell<u32>>);
    impl Drop for Dropped {
        fn drop(&mut self) {
            self.0.set(self.0.get() + 1);
        }
    }
    let reactor = reactor();
    let dropped = Rc::new(Cell::new(0));
    let count = Rc::clone(&dropped);
    let endless = move || {
        let guard = Dropped(Rc::clone(&count));
        Box::pin(async move {
            let _guard = guard;
            pending::<()>().await;
        })
    };
    spawn(None, move || {
        let soon = Clock::now() + Duration::from_millis(1);
        assert_eq!(block_on(endless(), Some(soon)), Err(Woke::Timeout));
        cancel(current().expect("on a fiber"));
        assert_eq!(block_on(endless(), None), Err(Woke::Cancelled));
        // A future that is done at once needs no wait.
        assert_eq!(block_on(Box::pin(async { 1 }), None), Ok(1));
        clear_cancel();
    });
    reactor.run();
    assert_eq!(reactor.stats().panics, 0);
    assert_eq!(dropped.get(), 2);
}

#[test]
fn wakers_and_remotes_may_outlive_fiber_and_reactor() {
    let kept = Rc::new(RefCell::new(None));
    let slot = Rc::clone(&kept);
    let first = reactor();
    let remote = first.remote();
    spawn(None, move || {
        let future = poll_fn(move |context| {
            *slot.borrow_mut() = Some(context.waker().clone());
            Poll::Ready(())
        });
        block_on(Box::pin(future), None).expect("ready at once");
    });
    first.run();
    kept.borrow().as_ref().expect("polled").wake_by_ref();
    drop(first);
    kept.borrow().as_ref().expect("polled").wake_by_ref();
    remote.post(Box::new(|| {}));
    remote.stop();
    drop(remote.hold());
    // And they do not disturb the thread's next reactor.
    let second = reactor();
    spawn(None, || {});
    second.run();
    assert_eq!(second.stats().fibers, 0);
}
