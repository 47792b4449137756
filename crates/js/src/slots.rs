//! State that modules keep in a VU, a thread or a realm, by its type.
//!
//! A module declares a type of its own and asks for it; it is made when it is first asked for, so that a VU pays only
//! for the modules its code uses, and nobody has a list of them. States are never removed one by one: a reference is
//! good as long as the slots are.

use std::{
    any::{Any, TypeId},
    cell::OnceCell,
};

/// A list of states, one of each type. There are few: it is searched from its start.
#[derive(Default)]
pub(crate) struct Slots(OnceCell<Box<Slot<dyn Any>>>);

struct Slot<T: ?Sized> {
    key: TypeId,
    next: Slots,
    state: T,
}

impl Slots {
    /// The state of that type, made now if there is none.
    pub(crate) fn of<T: Default + 'static>(&self) -> &T {
        self.find().unwrap_or_else(|| self.keep(T::default()))
    }

    /// The state of that type, made by `make` if there is none.
    pub(crate) fn of_or_try<T: 'static, E>(&self, make: impl FnOnce() -> Result<T, E>) -> Result<&T, E> {
        match self.find() {
            Some(state) => Ok(state),
            None => Ok(self.keep(make()?)),
        }
    }

    /// The state of that type, if there is one.
    #[inline]
    pub(crate) fn find<T: 'static>(&self) -> Option<&T> {
        let mut slots = self;
        loop {
            let slot = slots.0.get()?;
            if slot.key == TypeId::of::<T>() {
                return slot.state.downcast_ref();
            }
            slots = &slot.next;
        }
    }

    /// Keeps a state, unless making it has led to another of its type.
    #[cold]
    fn keep<T: 'static>(&self, state: T) -> &T {
        let mut state = Some(state);
        let mut slots = self;
        loop {
            let slot = slots.0.get_or_init(|| {
                let state = state.take().expect("it goes into one slot");
                Box::new(Slot { key: TypeId::of::<T>(), next: Self::default(), state })
            });
            match slot.state.downcast_ref() {
                Some(state) => return state,
                None => slots = &slot.next,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_of_each_type() {
        let slots = Slots::default();
        assert!(slots.find::<u32>().is_none());
        let number: &u32 = slots.of();
        let text = slots.of_or_try(|| Ok::<_, ()>("first".to_owned())).expect("made");
        assert_eq!((*number, text.as_str()), (0, "first"));
        assert_eq!(slots.of_or_try(|| Err::<String, _>(())).map(String::as_str), Ok("first"));
        assert_eq!(slots.find::<u32>(), Some(&0));
        assert_eq!(slots.of_or_try(|| Err::<u8, _>("no")), Err("no"));
        assert!(slots.find::<u8>().is_none());
    }

    #[test]
    fn making_one_may_make_it() {
        let slots = Slots::default();
        let outer = slots.of_or_try(|| {
            slots.of::<u32>();
            Ok::<u32, ()>(7)
        });
        assert_eq!(outer, Ok(&0));
    }
}
