//! The groups that a replica hosts, and those that it is to host as shard 0 last read them from the
//! metadata group. Shared by its shards, the tasks that boot groups, and those who look at them. Each
//! shard's pump works on its own groups alone. Must never know what a group does.
//!
//! The catalogue is shared rather than sent: shard 0 puts a new one in place of the old, whole, and
//! wakes nobody. Every other shard compares it with what it last saw after each thing it does, so it
//! learns of a change when the scheduler next lets it do something: with a frame, the end of a write,
//! or its tick at the latest. Until then it parks frames for a group that shard 0 knows of, and
//! serves one that shard 0 knows deleted. A message would be handled at such a moment, too.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use crate::ids::{GROUP_METADATA, GroupId, Op};
use crate::shard::bus::MessageBus;
use crate::shard::group::GroupHandle;
use crate::vsr::io::Durability;

/// The groups of one life of a replica. A crash takes it along.
pub struct Host<B: MessageBus> {
    groups: RefCell<BTreeMap<GroupId, Rc<GroupHandle<B>>>>,
    /// Groups whose disks are being read or formatted.
    coming: RefCell<BTreeSet<GroupId>>,
    changes: Cell<u64>,
    catalogue: RefCell<Option<Rc<Catalogue>>>,
}

/// The partitions that there are once an op of the metadata group is executed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Catalogue {
    /// The op.
    pub op: Op,
    /// The partitions.
    pub alive: BTreeMap<GroupId, Durability>,
}

impl Catalogue {
    /// Whether a group once was there and is no more.
    #[must_use]
    pub fn is_gone(&self, id: GroupId) -> bool {
        id != GROUP_METADATA && !self.alive.contains_key(&id) && id.made_by() <= self.op
    }
}

/// A task holds the group: it cannot be taken away under it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StillHeld;

impl<B: MessageBus> Default for Host<B> {
    fn default() -> Self {
        Self {
            groups: RefCell::default(),
            coming: RefCell::default(),
            changes: Cell::new(0),
            catalogue: RefCell::default(),
        }
    }
}

impl<B: MessageBus> Host<B> {
    /// Takes a group in.
    pub fn add(&self, group: GroupHandle<B>) {
        let mut groups = self.groups.borrow_mut();
        groups.insert(group.id(), Rc::new(group));
        self.changes.set(self.changes.get() + 1);
    }

    /// Says that a task brings a group up; false where it is hosted or another task is at it.
    pub fn begin(&self, id: GroupId) -> bool {
        !self.hosts(id) && self.coming.borrow_mut().insert(id)
    }

    /// Says that the task is done.
    pub fn end(&self, id: GroupId) {
        self.coming.borrow_mut().remove(&id);
    }

    /// Takes a group away.
    ///
    /// # Errors
    /// Where a task holds it across an await: who removes must have waited for that.
    pub fn remove(&self, id: GroupId) -> Result<(), StillHeld> {
        let mut groups = self.groups.borrow_mut();
        if groups.get(&id).is_some_and(|group| group.is_held()) {
            return Err(StillHeld);
        }
        if groups.remove(&id).is_some() {
            self.changes.set(self.changes.get() + 1);
        }
        Ok(())
    }

    /// What shard 0 last read, if it has.
    #[must_use]
    pub fn catalogue(&self) -> Option<Rc<Catalogue>> {
        self.catalogue.borrow().clone()
    }

    /// Puts what shard 0 reads now in place of what it read before.
    pub fn publish(&self, catalogue: Catalogue) {
        *self.catalogue.borrow_mut() = Some(Rc::new(catalogue));
    }

    /// A group, where it is hosted.
    #[must_use]
    pub fn get(&self, id: GroupId) -> Option<Rc<GroupHandle<B>>> {
        self.groups.borrow().get(&id).cloned()
    }

    /// Whether a group is hosted.
    #[must_use]
    pub fn hosts(&self, id: GroupId) -> bool {
        self.groups.borrow().contains_key(&id)
    }

    /// The groups hosted, ascending: metadata first.
    #[must_use]
    pub fn all(&self) -> Vec<Rc<GroupHandle<B>>> {
        self.groups.borrow().values().cloned().collect()
    }

    /// How often the groups changed: who keeps a list of them asks again when this has moved.
    #[must_use]
    pub fn changes(&self) -> u64 {
        self.changes.get()
    }
}
