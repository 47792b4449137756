//! Listens to the keyboard on a thread of its own, for as long as the view is there.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
        mpsc::{Receiver, TrySendError, sync_channel},
    },
    time::Duration,
};

use crossterm::event::{self, Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};

use super::controls::Key;

/// Keys that were pressed. The thread ends when this is dropped.
pub(super) struct Keys {
    pressed: Receiver<Key>,
    is_over: Arc<AtomicBool>,
}

/// Keys that wait for the loop of the run; what somebody types faster is dropped.
const WAITING_MAX: usize = 64;
/// How soon the thread ends when nobody listens any more.
const LOOK_INTERVAL: Duration = Duration::from_millis(100);

impl Keys {
    /// Begins to listen.
    ///
    /// # Errors
    /// When no thread can be made.
    pub(super) fn listen(wake: impl Fn() + Send + 'static) -> std::io::Result<Self> {
        let (sender, pressed) = sync_channel(WAITING_MAX);
        let is_over = Arc::new(AtomicBool::new(false));
        let own = Arc::clone(&is_over);
        std::thread::Builder::new().name("keys".to_owned()).spawn(move || {
            while !own.load(Ordering::Acquire) {
                // A terminal that is gone has no keys: the view goes on without.
                let Ok(is_there) = event::poll(LOOK_INTERVAL) else { return };
                if !is_there {
                    continue;
                }
                let Ok(event) = event::read() else { return };
                match key(&event).map(|key| sender.try_send(key)) {
                    Some(Ok(())) => wake(),
                    Some(Err(TrySendError::Disconnected(_))) => return,
                    Some(Err(TrySendError::Full(_))) | None => {}
                }
            }
        })?;
        Ok(Self { pressed, is_over })
    }

    /// What was pressed since the last time.
    pub(super) fn pressed(&self) -> Vec<Key> {
        self.pressed.try_iter().collect()
    }
}

impl Drop for Keys {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Release);
    }
}

fn key(event: &Event) -> Option<Key> {
    let KeyEvent { code, modifiers, kind, .. } = match event {
        Event::Key(key) => *key,
        Event::Resize(..) => return Some(Key::Resized),
        _ => return None,
    };
    if kind == KeyEventKind::Release {
        return None;
    }
    Some(match code {
        KeyCode::Char('z') if modifiers.contains(KeyModifiers::CONTROL) => Key::Suspend,
        // Line feed, where the terminal is not entirely raw.
        KeyCode::Char('j') if modifiers.contains(KeyModifiers::CONTROL) => Key::Enter,
        KeyCode::Char(_) if modifiers.intersects(KeyModifiers::CONTROL | KeyModifiers::ALT) => return None,
        KeyCode::Char(char) => Key::Char(char),
        KeyCode::Enter => Key::Enter,
        KeyCode::Esc => Key::Escape,
        KeyCode::Backspace => Key::Backspace,
        KeyCode::Tab => Key::Tab,
        KeyCode::Up => Key::Up,
        KeyCode::Down => Key::Down,
        KeyCode::PageUp => Key::PageUp,
        KeyCode::PageDown => Key::PageDown,
        KeyCode::Home => Key::Home,
        KeyCode::End => Key::End,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_of_terminals() {
        let check = |code: KeyCode, modifiers: KeyModifiers, expect: Option<Key>| {
            assert_eq!(key(&Event::Key(KeyEvent::new(code, modifiers))), expect, "{code:?}");
        };
        check(KeyCode::Char('p'), KeyModifiers::NONE, Some(Key::Char('p')));
        check(KeyCode::Char('+'), KeyModifiers::SHIFT, Some(Key::Char('+')));
        check(KeyCode::Char('z'), KeyModifiers::CONTROL, Some(Key::Suspend));
        check(KeyCode::Char('j'), KeyModifiers::CONTROL, Some(Key::Enter));
        check(KeyCode::Char('x'), KeyModifiers::ALT, None);
        check(KeyCode::F(5), KeyModifiers::NONE, None);
        assert_eq!(key(&Event::Resize(1, 1)), Some(Key::Resized));
        assert_eq!(key(&Event::FocusLost), None);
    }
}
