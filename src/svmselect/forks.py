"""Locks and values that a fork leaves usable.

A forked process has one thread, the one that called ``os.fork``. A lock that another thread held at that
moment would stay locked for good.
"""

import functools
import os
import threading
import weakref
from typing import Any

__all__ = ["cached_property", "renew_after_fork", "renewed"]

_holders: set[weakref.ref] = set()


def renew_after_fork(holder: Any) -> None:
    """Register ``holder.renew()`` to be called in every process that is forked while the holder exists."""
    # Not a WeakSet, which forgets by a callback in Python: an interrupt (Ctrl-C) that arrives there is lost.
    _holders.add(weakref.ref(holder, _holders.discard))


def renewed(lock: Any) -> Any:
    """Return the lock if it is free or the calling thread's, else a new `RLock`: for use after a fork."""
    if lock.acquire(blocking=False):
        lock.release()
        return lock
    return threading.RLock()


def _renew_all() -> None:
    for holder in [reference() for reference in list(_holders)]:
        if holder is not None:
            holder.renew()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew_all)


class cached_property(functools.cached_property):
    """An attribute that is computed on first access, without a lock.

    Until Python 3.12 the base class holds a lock meanwhile, one for all instances. Here several threads may
    compute the value at the same time; they all get the first one that is stored.
    """

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        if instance is None:
            return self
        values = instance.__dict__
        if self.attrname not in values:
            values.setdefault(self.attrname, self.func(instance))
        return values[self.attrname]
