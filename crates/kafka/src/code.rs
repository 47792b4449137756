//! Numbers that brokers answer with, and what they mean: Kafka's table of error codes.

pub(crate) const NONE: i16 = 0;
pub(crate) const OFFSET_OUT_OF_RANGE: i16 = 1;
pub(crate) const UNKNOWN_TOPIC_OR_PARTITION: i16 = 3;
pub(crate) const LEADER_NOT_AVAILABLE: i16 = 5;
pub(crate) const MESSAGE_TOO_LARGE: i16 = 10;
pub(crate) const COORDINATOR_NOT_AVAILABLE: i16 = 15;
pub(crate) const NOT_COORDINATOR: i16 = 16;
pub(crate) const ILLEGAL_GENERATION: i16 = 22;
pub(crate) const UNKNOWN_MEMBER_ID: i16 = 25;
pub(crate) const REBALANCE_IN_PROGRESS: i16 = 27;
pub(crate) const TOPIC_ALREADY_EXISTS: i16 = 36;

/// A number with its title, and whether the same request may succeed later.
struct Known {
    code: i16,
    title: &'static str,
    text: &'static str,
    is_passing: bool,
}

const fn known(code: i16, title: &'static str, text: &'static str) -> Known {
    Known { code, title, text, is_passing: false }
}

const fn passing(code: i16, title: &'static str, text: &'static str) -> Known {
    Known { code, title, text, is_passing: true }
}

/// What is shown: `[3] Unknown Topic Or Partition: …`.
pub(crate) fn text(code: i16) -> String {
    match find(code) {
        Some(known) => format!("[{code}] {}: {}", known.title, known.text),
        None => title(code),
    }
}

/// The number and its title.
pub(crate) fn title(code: i16) -> String {
    let title = find(code).map_or("Unknown Error", |known| known.title);
    format!("[{code}] {title}")
}

pub(crate) fn is_passing(code: i16) -> bool {
    find(code).is_some_and(|known| known.is_passing)
}

fn find(code: i16) -> Option<&'static Known> {
    TABLE.iter().find(|known| known.code == code)
}

const TABLE: [Known; 53] = [
    known(-1, "Unknown", "the broker had an unexpected error"),
    known(1, "Offset Out Of Range", "the partition does not have the offset"),
    passing(2, "Invalid Message", "the records do not match their checksum, or are of the wrong size"),
    passing(3, "Unknown Topic Or Partition", "the broker does not have the topic or partition"),
    known(4, "Invalid Message Size", "the size of the records is negative"),
    passing(5, "Leader Not Available", "the partition has no leader at the moment: one is being elected"),
    passing(6, "Not Leader For Partition", "the broker does not lead the partition: the metadata is out of date"),
    passing(7, "Request Timed Out", "the request took longer than the time it named"),
    passing(8, "Broker Not Available", "the broker is not available"),
    passing(9, "Replica Not Available", "the replica is not available"),
    known(10, "Message Size Too Large", "the message is larger than the broker accepts, or than batchBytes"),
    known(12, "Offset Metadata Too Large", "the text that comes with an offset is too long"),
    passing(13, "Network Exception", "the broker lost a connection before it could answer"),
    passing(14, "Group Load In Progress", "the coordinator is still loading the group's offsets"),
    passing(15, "Group Coordinator Not Available", "the group has no coordinator yet"),
    passing(16, "Not Coordinator For Group", "the broker does not coordinate the group"),
    known(17, "Invalid Topic", "the topic's name is not allowed, or it is an internal topic"),
    known(18, "Record List Too Large", "the batch of messages is larger than a segment of the log"),
    passing(19, "Not Enough Replicas", "fewer replicas are in sync than the topic requires"),
    passing(
        20,
        "Not Enough Replicas After Append",
        "the message was written to fewer replicas than the topic requires",
    ),
    known(21, "Invalid Required Acks", "requiredAcks must be -1, 0 or 1"),
    known(22, "Illegal Generation", "the group has moved on to another generation"),
    known(23, "Inconsistent Group Protocol", "the members of the group share no way to assign partitions"),
    known(24, "Invalid Group ID", "the group's name is empty or not allowed"),
    known(25, "Unknown Member ID", "the group does not have the member in its present generation"),
    known(26, "Invalid Session Timeout", "sessionTimeout is outside the range that the broker allows"),
    known(27, "Rebalance In Progress", "the group is assigning its partitions anew"),
    known(28, "Invalid Commit Offset Size", "the offsets to be committed are too large"),
    known(29, "Topic Authorization Failed", "the user may not use the topic"),
    known(30, "Group Authorization Failed", "the user may not use the group"),
    known(31, "Cluster Authorization Failed", "the user may not do this to the cluster"),
    known(32, "Invalid Timestamp", "the message's time is out of the range that the topic accepts"),
    known(33, "Unsupported SASL Mechanism", "the broker does not offer the SASL mechanism"),
    known(34, "Illegal SASL State", "the request does not fit the state of the login"),
    known(35, "Unsupported Version", "the broker does not support the version of the request"),
    known(36, "Topic Already Exists", "a topic of that name exists"),
    known(37, "Invalid Number Of Partitions", "the number of partitions is not allowed"),
    known(38, "Invalid Replication Factor", "the replication factor is below 1 or larger than the number of brokers"),
    known(39, "Invalid Replica Assignment", "the replica assignment is not valid"),
    known(40, "Invalid Configuration", "the topic's configuration is not valid"),
    passing(41, "Not Controller", "the broker is not the cluster's controller"),
    known(42, "Invalid Request", "the broker could not make sense of the request"),
    known(43, "Unsupported For Message Format", "the topic's message format does not support this"),
    known(44, "Policy Violation", "a policy of the cluster forbids it"),
    passing(56, "Kafka Storage Error", "the broker had an error of its disk"),
    known(58, "SASL Authentication Failed", "the login failed"),
    known(68, "Non Empty Group", "the group has members"),
    known(69, "Group ID Not Found", "the group does not exist"),
    known(73, "Topic Deletion Disabled", "the cluster does not allow topics to be deleted"),
    passing(74, "Fenced Leader Epoch", "the leader's epoch is older than the broker's"),
    passing(75, "Unknown Leader Epoch", "the leader's epoch is newer than the broker's"),
    known(76, "Unsupported Compression Type", "the broker does not support the compression"),
    known(87, "Invalid Record", "the broker refuses the records"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_shown_with_their_meaning() {
        assert_eq!(text(3), "[3] Unknown Topic Or Partition: the broker does not have the topic or partition");
        assert_eq!(text(9_999), "[9999] Unknown Error");
        assert!(is_passing(6) && !is_passing(29) && !is_passing(9_999));
        assert!(TABLE.windows(2).all(|pair| pair[0].code < pair[1].code));
    }
}
