//! What keys do: a state machine from keys to wishes. It knows the screen's panels and nothing of the terminal.

use super::glance::Glance;

/// A key, as far as it matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Key {
    Char(char),
    Enter,
    Escape,
    Backspace,
    Tab,
    Up,
    Down,
    PageUp,
    PageDown,
    Home,
    End,
    /// Ctrl+Z.
    Suspend,
    /// The terminal has another size.
    Resized,
}

/// What the user wants of the run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Wish {
    /// Pause or go on.
    Pause,
    /// Another target of a scenario, by its place.
    Target {
        scenario: usize,
        to: i64,
    },
    /// The ordinary progress instead of the view; the run goes on.
    Leave,
    Abort,
    /// Stop the process, as Ctrl+Z does.
    Suspend,
}

/// Where the keys go, and what of long panels is shown.
#[derive(Debug, Clone, Default)]
pub(crate) struct Controls {
    pub(crate) dialog: Option<Dialog>,
    pub(crate) focus: Panel,
    /// The scenario that keys change.
    pub(crate) scenario: usize,
    /// The first error that is shown.
    pub(crate) error: usize,
    pub(crate) sort: Sort,
    /// Log lines below the last one shown.
    pub(crate) log_back: usize,
    /// What became of the last wish.
    pub(crate) said: Option<String>,
}

/// What is over the view.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Dialog {
    Help,
    ConfirmAbort,
    /// A target is being typed.
    Target(String),
}

/// A panel that can be moved in.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Panel {
    #[default]
    Scenarios,
    Errors,
    Log,
}

/// The order of errors.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Sort {
    #[default]
    Count,
    Latest,
    First,
    Text,
}

impl Sort {
    /// What it is by.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Count => "most frequent first",
            Self::Latest => "latest first",
            Self::First => "oldest first",
            Self::Text => "by text",
        }
    }

    fn next(self) -> Self {
        match self {
            Self::Count => Self::Latest,
            Self::Latest => Self::First,
            Self::First => Self::Text,
            Self::Text => Self::Count,
        }
    }
}

/// Digits of a target: more than any limit has.
const DIGITS_MAX: usize = 12;
/// Rows that Page Up and Page Down move by.
const PAGE: isize = 10;

impl Controls {
    /// Takes a key.
    pub(crate) fn press(&mut self, key: Key, glance: &Glance) -> Option<Wish> {
        if key != Key::Resized {
            self.said = None;
        }
        if key == Key::Suspend {
            return Some(Wish::Suspend);
        }
        match self.dialog.take() {
            Some(Dialog::Help) => None,
            Some(Dialog::ConfirmAbort) => match key {
                Key::Char('y' | 'Y') => Some(Wish::Abort),
                Key::Resized => self.keep(Dialog::ConfirmAbort),
                _ => None,
            },
            Some(Dialog::Target(text)) => self.typed(text, key),
            None => self.command(key, glance),
        }
    }

    fn keep(&mut self, dialog: Dialog) -> Option<Wish> {
        self.dialog = Some(dialog);
        None
    }

    fn typed(&mut self, mut text: String, key: Key) -> Option<Wish> {
        match key {
            Key::Char(digit) if digit.is_ascii_digit() && text.len() < DIGITS_MAX => text.push(digit),
            Key::Backspace => {
                text.pop();
            }
            Key::Escape => return None,
            Key::Enter => return Some(Wish::Target { scenario: self.scenario, to: text.parse().ok()? }),
            _ => {}
        }
        self.keep(Dialog::Target(text))
    }

    fn command(&mut self, key: Key, glance: &Glance) -> Option<Wish> {
        match key {
            Key::Char('q') => return Some(Wish::Leave),
            Key::Char('p' | ' ') => return Some(Wish::Pause),
            Key::Char('a') => self.dialog = Some(Dialog::ConfirmAbort),
            Key::Char('?' | 'h') => self.dialog = Some(Dialog::Help),
            Key::Char('s') => (self.sort, self.error) = (self.sort.next(), 0),
            Key::Char('t') => match glance.target(self.scenario) {
                Some(_) => self.dialog = Some(Dialog::Target(String::new())),
                None => self.said = Some("this scenario has no target that can be changed now".to_owned()),
            },
            Key::Char(sign @ ('+' | '=' | '-')) => {
                let Some(target) = glance.target(self.scenario) else {
                    self.said = Some("this scenario has no target that can be changed now".to_owned());
                    return None;
                };
                // A tenth, one at least.
                let step = (target / 10).max(1);
                let to = if sign == '-' { target.saturating_sub(step) } else { target.saturating_add(step) };
                let to = i64::try_from(to).unwrap_or(i64::MAX);
                return Some(Wish::Target { scenario: self.scenario, to });
            }
            Key::Tab => {
                self.focus = match self.focus {
                    Panel::Scenarios => Panel::Errors,
                    Panel::Errors => Panel::Log,
                    Panel::Log => Panel::Scenarios,
                }
            }
            Key::Up | Key::Char('k') => self.move_by(-1, glance),
            Key::Down | Key::Char('j') => self.move_by(1, glance),
            Key::PageUp => self.move_by(-PAGE, glance),
            Key::PageDown => self.move_by(PAGE, glance),
            Key::Home => self.move_by(isize::MIN, glance),
            Key::End => self.move_by(isize::MAX, glance),
            Key::Char(_) | Key::Enter | Key::Escape | Key::Backspace | Key::Suspend | Key::Resized => {}
        }
        None
    }

    fn move_by(&mut self, rows: isize, glance: &Glance) {
        let moved = |at: usize, by: isize, count: usize| at.saturating_add_signed(by).min(count.saturating_sub(1));
        match self.focus {
            Panel::Scenarios => self.scenario = moved(self.scenario, rows, glance.scenarios.len()),
            Panel::Errors => self.error = moved(self.error, rows, glance.errors.len()),
            // Up is back in time.
            Panel::Log => self.log_back = moved(self.log_back, rows.saturating_neg(), glance.log.len()),
        }
    }
}

impl Glance {
    /// What a scenario is steered to now.
    pub(crate) fn target(&self, scenario: usize) -> Option<u64> {
        let targets = self.scenarios.get(scenario)?.targets.as_ref().filter(|targets| !targets.is_over)?;
        targets.targets.rate.or(targets.targets.vus)
    }
}

#[cfg(test)]
mod tests {
    use super::{super::tests::glance, *};

    fn press(controls: &mut Controls, keys: &[Key]) -> Vec<Wish> {
        let glance = glance();
        keys.iter().filter_map(|key| controls.press(*key, &glance)).collect()
    }

    #[test]
    fn the_end_wants_to_be_confirmed() {
        let mut controls = Controls::default();
        assert_eq!(press(&mut controls, &[Key::Char('a'), Key::Char('n')]), []);
        assert_eq!(press(&mut controls, &[Key::Char('a'), Key::Resized, Key::Char('y')]), [Wish::Abort]);
        assert_eq!(press(&mut controls, &[Key::Char('y')]), []);
    }

    #[test]
    fn targets_are_stepped_and_typed() {
        let mut controls = Controls::default();
        let to = |scenario, to| Wish::Target { scenario, to };
        // The first scenario of the example has 50 VUs, the second 200 iterations a second.
        assert_eq!(press(&mut controls, &[Key::Char('+'), Key::Char('-')]), [to(0, 55), to(0, 45)]);
        let typed = [Key::Down, Key::Char('t'), Key::Char('7'), Key::Char('x'), Key::Char('5'), Key::Backspace];
        assert_eq!(press(&mut controls, &typed), []);
        assert_eq!(press(&mut controls, &[Key::Char('0'), Key::Enter]), [to(1, 70)]);
        // Nothing typed is no number.
        assert_eq!(press(&mut controls, &[Key::Char('t'), Key::Enter]), []);
        let digits = [Key::Char('9'); 40];
        press(&mut controls, &[Key::Char('t')]);
        press(&mut controls, &digits);
        assert_eq!(press(&mut controls, &[Key::Enter]), [to(1, 999_999_999_999)]);
        // The third is over.
        press(&mut controls, &[Key::Down, Key::Down, Key::Down]);
        assert_eq!((press(&mut controls, &[Key::Char('+')]), controls.scenario), (Vec::new(), 2));
        assert!(controls.said.is_some());
    }

    #[test]
    fn lists_end_where_they_end() {
        let mut controls = Controls::default();
        press(&mut controls, &[Key::Tab, Key::End, Key::Down]);
        assert_eq!(controls.error, 2);
        press(&mut controls, &[Key::PageUp, Key::Up]);
        assert_eq!(controls.error, 0);
        press(&mut controls, &[Key::Tab, Key::Home, Key::PageDown]);
        assert_eq!((controls.focus, controls.log_back), (Panel::Log, 0));
        press(&mut controls, &[Key::Up, Key::Char('s')]);
        assert_eq!((controls.log_back, controls.sort), (1, Sort::Latest));
    }
}
