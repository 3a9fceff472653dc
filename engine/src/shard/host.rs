//! The groups that a replica hosts, shared by its pump, the tasks that boot groups, and those who look
//! at them. Must never know what a group does.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;

use crate::ids::GroupId;
use crate::shard::bus::MessageBus;
use crate::shard::group::GroupHandle;

/// The groups of one life of a replica. A crash takes it along.
pub struct Host<B: MessageBus> {
    groups: RefCell<BTreeMap<GroupId, Rc<GroupHandle<B>>>>,
    changes: Cell<u64>,
}

impl<B: MessageBus> Default for Host<B> {
    fn default() -> Self {
        Self {
            groups: RefCell::default(),
            changes: Cell::new(0),
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
