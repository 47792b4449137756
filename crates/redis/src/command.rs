//! Commands as they are sent.

/// A command and its arguments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Command {
    /// `$length`, the bytes and line ends of each argument.
    arguments: Vec<u8>,
    count: usize,
}

impl Command {
    /// One without arguments.
    #[must_use]
    pub fn new(name: &str) -> Self {
        let mut command = Self { arguments: Vec::new(), count: 0 };
        command.push(name.as_bytes());
        command
    }

    /// Adds an argument.
    pub fn push(&mut self, argument: &[u8]) {
        self.arguments.extend_from_slice(format!("${}\r\n", argument.len()).as_bytes());
        self.arguments.extend_from_slice(argument);
        self.arguments.extend_from_slice(b"\r\n");
        self.count += 1;
    }

    /// What is sent.
    #[must_use]
    pub fn bytes(&self) -> Vec<u8> {
        let mut bytes = format!("*{}\r\n", self.count).into_bytes();
        bytes.extend_from_slice(&self.arguments);
        bytes
    }
}
