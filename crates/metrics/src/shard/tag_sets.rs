//! Interned tag sets of one shard, and what happens when there are too many.
//!
//! A set is a [`TagNode`]; adding a tag to a set is one lookup once seen. When the limit is reached, the tags with many
//! values give them up first: their new values become [`OTHER`], while tags with few values stay apart.

use std::{mem, sync::Arc};

use rustc_hash::{FxHashMap, FxHashSet};

use crate::{
    census::Census,
    delta::{CardinalityWarning, TagPairs},
    subscriptions::Subscriptions,
    tag::{KeySet, TagKey},
};

/// The value that stands for all values beyond the limit.
pub const OTHER: &str = "(other)";

/// A set of tags in one shard.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TagNode(pub u32);

impl TagNode {
    /// The empty set.
    pub const ROOT: Self = Self(0);
}

/// The interner. Key names of the subscriptions come first, the shard's own after them.
#[derive(Debug)]
pub(super) struct TagSets {
    names: Vec<Arc<str>>,
    own_keys: FxHashMap<Arc<str>, TagKey>,
    values: Vec<Arc<str>>,
    by_value: FxHashMap<Arc<str>, ValueId>,
    nodes: Vec<Tags>,
    by_tags: FxHashMap<Tags, TagNode>,
    children: FxHashMap<(TagNode, TagKey, ValueId), TagNode>,
    /// Which values each key has had, and how many.
    seen: FxHashSet<(TagKey, ValueId)>,
    seen_by_key: Vec<usize>,
    nodes_max: usize,
    value_bytes_max: usize,
    /// Bytes of all values.
    value_bytes: usize,
    /// Values up to here are asked for by name and stay apart as long as anything does.
    named_values: u32,
    census: Arc<Census>,
    /// Sets are wanted as they are although too many series would come of them.
    is_exact: bool,
    warned: FxHashSet<TagKey>,
    warnings: Vec<(TagKey, Vec<String>)>,
    values_cut: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct ValueId(u32);

/// Sorted by key, each key once.
type Tags = Arc<[(TagKey, ValueId)]>;

/// How much of a tag set is given up.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Folding {
    /// The tag with most values, and every other with many.
    Largest,
    /// All tags.
    All,
}

impl TagSets {
    pub(super) fn new(subscriptions: &Subscriptions, value_bytes_max: usize, census: Arc<Census>) -> Self {
        let names: Vec<Arc<str>> = (0..subscriptions.keys_len())
            .map(|key| Arc::from(subscriptions.name(TagKey(key as u16)).unwrap_or_default()))
            .collect();
        let root: Tags = Arc::from([]);
        let other: Arc<str> = Arc::from(OTHER);
        let mut sets = Self {
            seen_by_key: vec![0; names.len()],
            names,
            own_keys: FxHashMap::default(),
            values: vec![Arc::clone(&other)],
            by_value: FxHashMap::from_iter([(other, ValueId::OTHER)]),
            nodes: vec![Arc::clone(&root)],
            by_tags: FxHashMap::from_iter([(root, TagNode::ROOT)]),
            children: FxHashMap::default(),
            seen: FxHashSet::default(),
            nodes_max: census.limit().saturating_mul(NODES_PER_SERIES).min(NODES_MAX),
            value_bytes_max,
            value_bytes: 0,
            named_values: 0,
            census,
            is_exact: false,
            warned: FxHashSet::default(),
            warnings: Vec::new(),
            values_cut: 0,
        };
        for value in subscriptions.named_values() {
            if !sets.by_value.contains_key(value) {
                sets.named_values = sets.intern_value(value).0;
            }
        }
        sets
    }

    /// Folds sets only at their own limits, no longer because there are too many series.
    pub(super) fn keep_exact(&mut self) {
        self.is_exact = true;
    }

    /// The key of a name no subscription knows, if there is room for one more.
    pub(super) fn own_key(&mut self, name: &str) -> Option<TagKey> {
        if let Some(key) = self.own_keys.get(name) {
            return Some(*key);
        }
        // The subscriptions know this name, but nobody reads it: under "keep all" it is still kept.
        let known = self.names.iter().position(|known| **known == *name);
        let position = match known {
            Some(position) => position,
            None if self.names.len() >= Subscriptions::KEYS_MAX => return None,
            None => {
                self.names.push(Arc::from(name));
                self.seen_by_key.push(0);
                self.names.len() - 1
            }
        };
        // The cast cannot truncate: KEYS_MAX bounds the length.
        let key = TagKey(position as u16);
        self.own_keys.insert(Arc::clone(&self.names[position]), key);
        Some(key)
    }

    /// `node` with one tag added or replaced.
    #[inline]
    pub(super) fn with(&mut self, node: TagNode, key: TagKey, value: &str) -> TagNode {
        let value = if value.len() <= self.value_bytes_max { value } else { self.cut(value) };
        if let Some(id) = self.by_value.get(value).copied()
            && let Some(child) = self.children.get(&(node, key, id))
        {
            return *child;
        }
        self.make_child(node, key, value)
    }

    /// The part of `node` whose keys are in `kept`.
    pub(super) fn reduce(&mut self, node: TagNode, kept: &KeySet) -> TagNode {
        let tags = self.tags(node);
        if tags.iter().all(|(key, _)| kept.contains(*key)) {
            return node;
        }
        let reduced: Vec<_> = tags.iter().copied().filter(|(key, _)| kept.contains(*key)).collect();
        self.intern(reduced)
    }

    /// `node` with its many-valued tags folded; `all` folds every tag.
    pub(super) fn fold(&mut self, node: TagNode, all: bool) -> TagNode {
        let mut tags = self.tags(node).to_vec();
        self.fold_tags(&mut tags, if all { Folding::All } else { Folding::Largest });
        self.intern(tags)
    }

    /// The tags of a node by name, sorted.
    pub(super) fn pairs(&self, node: TagNode) -> TagPairs {
        let mut pairs: Vec<_> = self
            .tags(node)
            .iter()
            .map(|(key, value)| {
                (Arc::clone(&self.names[usize::from(key.0)]), Arc::clone(&self.values[value.0 as usize]))
            })
            .collect();
        pairs.sort_unstable();
        pairs.into()
    }

    pub(super) fn take_warnings(&mut self) -> Vec<CardinalityWarning> {
        mem::take(&mut self.warnings)
            .into_iter()
            .map(|(key, examples)| CardinalityWarning { tag: Arc::clone(&self.names[usize::from(key.0)]), examples })
            .collect()
    }

    pub(super) fn take_values_cut(&mut self) -> u64 {
        mem::take(&mut self.values_cut)
    }

    /// Sets, values and remembered ways between sets.
    #[cfg(test)]
    pub(super) fn sizes(&self) -> (usize, usize, usize) {
        (self.nodes.len(), self.values.len(), self.children.len())
    }

    #[cold]
    fn make_child(&mut self, node: TagNode, key: TagKey, value: &str) -> TagNode {
        if usize::from(key.0) >= self.names.len() || node.0 as usize >= self.nodes.len() {
            // A key or a node of another shard.
            return node;
        }
        let id = match self.by_value.get(value) {
            Some(id) => *id,
            // A tag with few values may have more: the set is then made smaller by folding another tag.
            None if !self.is_full() || !self.has_many_values(key) => self.intern_value(value),
            None => {
                self.warn(key, value);
                if let Some(child) = self.children.get(&(node, key, ValueId::OTHER)) {
                    return *child;
                }
                ValueId::OTHER
            }
        };
        self.note_value(key, id);
        let mut tags = self.nodes[node.0 as usize].to_vec();
        match tags.binary_search_by_key(&key, |(key, _)| *key) {
            Ok(position) => tags[position].1 = id,
            Err(position) => tags.insert(position, (key, id)),
        }
        let child = self.intern(tags);
        if self.children.len() < self.nodes_max.saturating_mul(CHILDREN_PER_NODE) {
            self.children.insert((node, key, id), child);
        }
        child
    }

    /// The node of a set, folded as far as the limits demand.
    fn intern(&mut self, mut tags: Vec<(TagKey, ValueId)>) -> TagNode {
        let reserve = RESERVE_MIN + self.nodes_max / 4;
        for (limit, folding) in [
            (self.nodes_max, Some(Folding::Largest)),
            (self.nodes_max + reserve, Some(Folding::All)),
            (self.nodes_max + 2 * reserve, None),
        ] {
            if let Some(node) = self.by_tags.get(&tags[..]) {
                return *node;
            }
            if self.nodes.len() < limit {
                return self.insert(tags);
            }
            if let Some(folding) = folding {
                self.fold_tags(&mut tags, folding);
            }
        }
        TagNode::ROOT
    }

    fn insert(&mut self, tags: Vec<(TagKey, ValueId)>) -> TagNode {
        // The cast cannot truncate: NODES_MAX bounds the length.
        let node = TagNode(self.nodes.len() as u32);
        let tags: Tags = tags.into();
        self.nodes.push(Arc::clone(&tags));
        self.by_tags.insert(tags, node);
        node
    }

    /// Counts how many values a key has had; exactly, until it has many and the sets are full.
    fn note_value(&mut self, key: TagKey, value: ValueId) {
        let full = self.is_full() && self.has_many_values(key);
        if !full && self.seen.insert((key, value)) {
            self.seen_by_key[usize::from(key.0)] += 1;
        }
    }

    fn fold_tags(&mut self, tags: &mut [(TagKey, ValueId)], folding: Folding) {
        // A set that has a folded tag is one of few; it must not lose another for it.
        let is_folded = tags.iter().any(|(_, value)| *value == ValueId::OTHER);
        let is_named = |value: ValueId| folding != Folding::All && (1..=self.named_values).contains(&value.0);
        let named: Vec<bool> = tags.iter().map(|(_, value)| is_named(*value)).collect();
        let largest = tags
            .iter()
            .enumerate()
            .filter(|(at, _)| !named[*at])
            .max_by_key(|(_, (key, _))| self.seen_by_key[usize::from(key.0)]);
        let largest = largest.map(|(position, _)| position).filter(|_| !is_folded);
        for (position, (key, value)) in tags.iter_mut().enumerate() {
            let folded = folding == Folding::All || Some(position) == largest || self.has_many_values(*key);
            if folded && !named[position] && *value != ValueId::OTHER {
                let text = Arc::clone(&self.values[value.0 as usize]);
                self.warn(*key, &text);
                *value = ValueId::OTHER;
            }
        }
    }

    fn warn(&mut self, key: TagKey, example: &str) {
        let example = cut_at(example, EXAMPLE_BYTES_MAX);
        if self.warned.insert(key) {
            self.warnings.push((key, vec![example.to_owned()]));
        } else if let Some((_, examples)) = self.warnings.iter_mut().find(|(warned, _)| *warned == key)
            && examples.len() < EXAMPLES_MAX
            && examples.iter().all(|known| known != example)
        {
            examples.push(example.to_owned());
        }
    }

    fn intern_value(&mut self, value: &str) -> ValueId {
        // The cast cannot truncate: a new value comes with a new node, or while its key has few values.
        let id = ValueId(self.values.len() as u32);
        self.value_bytes += value.len();
        let value: Arc<str> = Arc::from(value);
        self.values.push(Arc::clone(&value));
        self.by_value.insert(value, id);
        id
    }

    #[cold]
    fn cut<'a>(&mut self, value: &'a str) -> &'a str {
        self.values_cut += 1;
        cut_at(value, self.value_bytes_max)
    }

    fn tags(&self, node: TagNode) -> &[(TagKey, ValueId)] {
        self.nodes.get(node.0 as usize).map_or(&[], |tags| &**tags)
    }

    /// No further value of a tag that has many is kept.
    fn is_full(&self) -> bool {
        self.nodes.len() >= self.nodes_max
            || self.value_bytes >= VALUES_BYTES_MAX
            || (self.census.is_full() && !self.is_exact)
    }

    fn has_many_values(&self, key: TagKey) -> bool {
        self.seen_by_key.get(usize::from(key.0)).is_some_and(|count| *count > FEW_VALUES)
    }
}

impl ValueId {
    const OTHER: Self = Self(0);
}

fn cut_at(text: &str, bytes_max: usize) -> &str {
    &text[..text.floor_char_boundary(bytes_max)]
}

/// A series' tags are added one by one, so there are more sets than series.
const NODES_PER_SERIES: usize = 8;
/// Bytes of tag values of one shard: 100,000 URLs of 640 bytes.
const VALUES_BYTES_MAX: usize = 64 << 20;
/// Keeps ids, with the reserve, below 2^32.
const NODES_MAX: usize = 1 << 30;
/// Remembered ways from one set to another; a set is usually reached in one or two.
const CHILDREN_PER_NODE: usize = 4;
/// A tag with no more values than this is not what made the sets too many.
const FEW_VALUES: usize = 64;
/// Sets kept free for folded ones.
const RESERVE_MIN: usize = 1_024;
const EXAMPLES_MAX: usize = 5;
const EXAMPLE_BYTES_MAX: usize = 200;
