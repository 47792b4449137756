//! What generators used and met while scenarios ran: what one would else watch `htop` and `iftop` for.

use serde::{Deserialize, Serialize};

use crate::protocol::Health;

/// Of one agent, or of all of them together: CPU, memory and traffic add up.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct GeneratorRecord {
    /// Seconds that were looked at, of the agent with the most.
    pub seconds: u64,
    /// CPU it used, in cores: on average, and in the busiest second.
    pub cpu_cores: f64,
    /// See [`GeneratorRecord::cpu_cores`].
    pub cpu_cores_max: f64,
    /// Cores it might use.
    pub cpu_cores_available: f64,
    /// CPU of the busiest thread in the busiest second, in cores.
    pub busiest_thread_cores_max: f64,
    /// CPU that everything on the machine used on average, in cores.
    pub machine_cores: f64,
    /// Most memory it had, bytes.
    pub memory_bytes_max: u64,
    /// Most files it had open.
    pub open_files_max: u64,
    /// Worst delay of a timer, milliseconds.
    pub timer_lag_max_ms: f64,
    /// Longest share of a second that a thread waited for a core.
    pub run_queue_max: f64,
    /// Pages that came back from swap on the machine.
    pub swapped_in_pages: u64,
    /// TCP segments sent in the network namespace, and those of them sent again.
    pub tcp_segments: u64,
    /// See [`GeneratorRecord::tcp_segments`].
    pub tcp_segments_retransmitted: u64,
    /// Packets dropped on the machine.
    pub packets_dropped: u64,
    /// Bytes received by its network interfaces but loopback.
    pub received_bytes: u64,
    /// Bytes sent by them.
    pub sent_bytes: u64,
}

impl GeneratorRecord {
    /// Adds a second.
    pub(super) fn note(&mut self, health: &Health) {
        let before = self.seconds as f64;
        self.seconds += 1;
        let mean = |mean: f64, value: f64| (mean * before + value) / (before + 1.0);
        self.cpu_cores = mean(self.cpu_cores, health.process_cores);
        self.cpu_cores_available = mean(self.cpu_cores_available, health.available_cores);
        self.machine_cores = mean(self.machine_cores, health.machine_cores);
        self.cpu_cores_max = self.cpu_cores_max.max(health.process_cores);
        self.busiest_thread_cores_max = self.busiest_thread_cores_max.max(health.busiest_thread_cores);
        self.memory_bytes_max = self.memory_bytes_max.max(health.rss_bytes);
        self.open_files_max = self.open_files_max.max(health.fds);
        self.timer_lag_max_ms = self.timer_lag_max_ms.max(health.timer_lag_max_ms);
        self.run_queue_max = self.run_queue_max.max(health.waiting);
        for (sum, more) in [
            (&mut self.swapped_in_pages, health.swapped_in),
            (&mut self.tcp_segments, health.segments),
            (&mut self.tcp_segments_retransmitted, health.retransmitted),
            (&mut self.packets_dropped, health.packets_dropped),
            (&mut self.received_bytes, health.received_bytes),
            (&mut self.sent_bytes, health.sent_bytes),
        ] {
            *sum = sum.saturating_add(more);
        }
    }

    /// Adds another agent. What machines have done counts twice where two agents share one.
    pub(super) fn merge(&mut self, other: &Self) {
        self.seconds = self.seconds.max(other.seconds);
        for (sum, more) in [
            (&mut self.cpu_cores, other.cpu_cores),
            (&mut self.cpu_cores_max, other.cpu_cores_max),
            (&mut self.cpu_cores_available, other.cpu_cores_available),
            (&mut self.machine_cores, other.machine_cores),
        ] {
            *sum += more;
        }
        for (most, other) in [
            (&mut self.busiest_thread_cores_max, other.busiest_thread_cores_max),
            (&mut self.timer_lag_max_ms, other.timer_lag_max_ms),
            (&mut self.run_queue_max, other.run_queue_max),
        ] {
            *most = most.max(other);
        }
        for (sum, more) in [
            (&mut self.memory_bytes_max, other.memory_bytes_max),
            (&mut self.open_files_max, other.open_files_max),
            (&mut self.swapped_in_pages, other.swapped_in_pages),
            (&mut self.tcp_segments, other.tcp_segments),
            (&mut self.tcp_segments_retransmitted, other.tcp_segments_retransmitted),
            (&mut self.packets_dropped, other.packets_dropped),
            (&mut self.received_bytes, other.received_bytes),
            (&mut self.sent_bytes, other.sent_bytes),
        ] {
            *sum = sum.saturating_add(more);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn means_peaks_and_sums() {
        let second = |cores: f64, rss_bytes: u64| Health {
            process_cores: cores,
            available_cores: 2.0,
            rss_bytes,
            segments: 10,
            waiting: cores / 10.0,
            ..Health::default()
        };
        let mut one = GeneratorRecord::default();
        one.note(&second(0.5, 100));
        one.note(&second(1.5, 80));
        assert_eq!((one.seconds, one.cpu_cores, one.cpu_cores_max, one.memory_bytes_max), (2, 1.0, 1.5, 100));
        let mut both = one;
        both.merge(&one);
        assert_eq!((both.seconds, both.cpu_cores, both.cpu_cores_available), (2, 2.0, 4.0));
        assert_eq!((both.tcp_segments, both.memory_bytes_max, both.run_queue_max), (40, 200, 0.15));
    }
}
