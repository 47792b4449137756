//! What the machine, or the network namespace, has done so far: counters that the generator shares with everything else
//! there. Files of /proc and /sys, each read once a second; what one of them does not say is 0.

use std::fs;

use super::ticks_per_sec;

/// Counters since the machine started.
#[derive(Debug, Clone, Default)]
pub(super) struct Machine {
    /// CPU used, in seconds over all cores.
    pub(super) busy_secs: f64,
    /// CPU taken by the hypervisor, in seconds over all cores.
    pub(super) steal_secs: f64,
    /// Pages that came back from swap.
    pub(super) swapped_in: u64,
    /// TCP segments sent, those sent again included.
    pub(super) segments: u64,
    /// TCP segments sent again.
    pub(super) retransmitted: u64,
    /// Packets that the kernel dropped for want of time before it looked at them.
    backlog_dropped: u64,
    /// Interfaces but loopback.
    interfaces: Vec<Interface>,
}

/// What went through a network interface.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Interface {
    name: String,
    received_bytes: u64,
    sent_bytes: u64,
    /// Packets that it had no room for.
    dropped: u64,
}

/// What interfaces did between two looks.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Traffic {
    pub(super) received_bytes: u64,
    pub(super) sent_bytes: u64,
    /// Packets dropped by interfaces and for want of CPU.
    pub(super) dropped: u64,
    /// Of the interface used most, as a fraction of its speed, where that is known.
    pub(super) used: f64,
}

impl Machine {
    pub(super) fn look() -> Self {
        let read = |path: &str| fs::read_to_string(path).unwrap_or_default();
        let (busy_secs, steal_secs) = cpu(&read("/proc/stat"));
        let (segments, retransmitted) = tcp(&read("/proc/net/snmp"));
        Self {
            busy_secs,
            steal_secs,
            swapped_in: named(&read("/proc/vmstat"), "pswpin"),
            segments,
            retransmitted,
            backlog_dropped: backlog_dropped(&read("/proc/net/softnet_stat")),
            interfaces: read("/proc/net/dev").lines().filter_map(Interface::parse).collect(),
        }
    }

    /// What interfaces did since an earlier look, so many seconds ago.
    pub(super) fn traffic_since(&self, earlier: &Self, secs: f64) -> Traffic {
        let dropped = self.backlog_dropped.saturating_sub(earlier.backlog_dropped);
        let mut traffic = Traffic { dropped, ..Traffic::default() };
        for now in &self.interfaces {
            // One that came up since then counts from the next look on.
            let Some(before) = earlier.interfaces.iter().find(|before| before.name == now.name) else { continue };
            let received = now.received_bytes.saturating_sub(before.received_bytes);
            let sent = now.sent_bytes.saturating_sub(before.sent_bytes);
            traffic.received_bytes += received;
            traffic.sent_bytes += sent;
            traffic.dropped += now.dropped.saturating_sub(before.dropped);
            if let Some(bytes_per_sec) = speed(&now.name) {
                traffic.used = traffic.used.max(received.max(sent) as f64 / secs / bytes_per_sec);
            }
        }
        traffic
    }
}

/// How full the firewall's table of connections is, as a fraction; 0 without one.
pub(super) fn tracked_used() -> f64 {
    let number = |name: &str| -> Option<f64> {
        fs::read_to_string(format!("/proc/sys/net/netfilter/{name}")).ok()?.trim().parse().ok()
    };
    match (number("nf_conntrack_count"), number("nf_conntrack_max")) {
        (Some(count), Some(max)) if max > 0.0 => count / max,
        _ => 0.0,
    }
}

/// Bytes a second of an interface in each direction, where it says so: virtual ones do not.
fn speed(interface: &str) -> Option<f64> {
    let megabits: f64 = fs::read_to_string(format!("/sys/class/net/{interface}/speed")).ok()?.trim().parse().ok()?;
    (megabits > 0.0).then_some(megabits * 1e6 / 8.0)
}

/// CPU used and stolen, in seconds: the first line of /proc/stat (`proc_stat(5)`).
fn cpu(text: &str) -> (f64, f64) {
    let fields = text.lines().next().unwrap_or_default().split_ascii_whitespace().skip(1);
    let ticks: Vec<f64> = fields.map(|field| field.parse().unwrap_or_default()).collect();
    let tick = |index: usize| ticks.get(index).copied().unwrap_or_default();
    // User, nice, system, interrupts; not idle and not waiting for disks.
    let busy = tick(0) + tick(1) + tick(2) + tick(5) + tick(6);
    (busy / ticks_per_sec(), tick(7) / ticks_per_sec())
}

/// Segments sent and sent again: two lines `Tcp:`, the names and the numbers.
fn tcp(text: &str) -> (u64, u64) {
    let mut lines = text.lines().filter_map(|line| line.strip_prefix("Tcp:"));
    let (Some(names), Some(numbers)) = (lines.next(), lines.next()) else { return (0, 0) };
    let number = |wanted: &str| {
        let mut pairs = names.split_ascii_whitespace().zip(numbers.split_ascii_whitespace());
        pairs.find(|(name, _)| *name == wanted).and_then(|(_, number)| number.parse().ok()).unwrap_or(0)
    };
    let (segments, retransmitted): (u64, u64) = (number("OutSegs"), number("RetransSegs"));
    // OutSegs leaves out what is sent again.
    (segments + retransmitted, retransmitted)
}

/// The number on the line of a name.
fn named(text: &str, name: &str) -> u64 {
    let mut lines = text.lines().filter_map(|line| line.split_once(' '));
    lines.find(|(key, _)| *key == name).and_then(|(_, number)| number.trim().parse().ok()).unwrap_or(0)
}

/// The second hexadecimal number of each core's line.
fn backlog_dropped(text: &str) -> u64 {
    let dropped = |line: &str| u64::from_str_radix(line.split_ascii_whitespace().nth(1)?, 16).ok();
    text.lines().filter_map(dropped).sum()
}

impl Interface {
    /// A line of /proc/net/dev; `None` for the heading and for loopback, which has no wire.
    fn parse(line: &str) -> Option<Self> {
        let (name, numbers) = line.split_once(':')?;
        let name = name.trim();
        let numbers: Vec<u64> = numbers.split_ascii_whitespace().map(|number| number.parse().unwrap_or(0)).collect();
        let number = |index: usize| numbers.get(index).copied().unwrap_or(0);
        // Of what was received, `fifo` alone: `drop` also counts packets that nobody here wanted.
        (name != "lo" && numbers.len() >= 16).then(|| Self {
            name: name.to_owned(),
            received_bytes: number(0),
            sent_bytes: number(8),
            dropped: number(4) + number(11),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cpu_in_use_leaves_out_idling_and_disks() {
        let text = "cpu  100 10 50 1000 200 5 7 30 0 0\ncpu0 1 1 1 1 1 1 1 1 1 1\n";
        let hz = ticks_per_sec();
        assert_eq!(cpu(text), (172.0 / hz, 30.0 / hz));
        assert_eq!(cpu(""), (0.0, 0.0));
    }

    #[test]
    fn segments_sent_again_are_found_by_name() {
        let text = "Ip: a b\nIp: 1 2\nTcp: InSegs OutSegs RetransSegs\nTcp: 7 90 10\n";
        assert_eq!(tcp(text), (100, 10));
        assert_eq!(tcp("Tcp: OutSegs\n"), (0, 0));
    }

    #[test]
    fn lines_are_found_by_their_whole_name() {
        assert_eq!(named("pswpinx 3\npswpin 12\npswpout 4\n", "pswpin"), 12);
        assert_eq!(named("pswpout 4\n", "pswpin"), 0);
    }

    #[test]
    fn dropped_packets_are_added_up_over_cores() {
        assert_eq!(backlog_dropped("0000a 00000002 0\n00001 0000001f 0\n"), 33);
    }

    #[test]
    fn traffic_is_that_of_interfaces_there_were_before() {
        let dev = |received: u64, sent: u64, fifo: u64, dropped: u64| {
            format!(
                "Inter-| Receive\n face |bytes\n    lo: 5 5 0 0 0 0 0 0 5 5 0 0 0 0 0 0\n  none7: {received} 1 0 9 {fifo} 0 0 0 {sent} 1 0 {dropped} 0 0 0 0\n"
            )
        };
        let machine = |text: &str| Machine {
            interfaces: text.lines().filter_map(Interface::parse).collect(),
            ..Machine::default()
        };
        let (before, mut after) = (machine(&dev(100, 50, 1, 2)), machine(&dev(1_100, 70, 2, 5)));
        after.backlog_dropped = 4;
        let traffic = after.traffic_since(&before, 1.0);
        assert_eq!(traffic, Traffic { received_bytes: 1_000, sent_bytes: 20, dropped: 8, used: 0.0 });
        assert_eq!(after.traffic_since(&Machine::default(), 1.0).received_bytes, 0);
    }

    #[test]
    fn a_look_sees_this_machine() {
        let machine = Machine::look();
        assert!(machine.busy_secs > 0.0);
    }
}
