"""Locks and values that a fork leaves usable.

A forked process has one thread, the one that called ``os.fork``. Whatever lock another thread held at that
moment would stay locked in it for good.
"""

from __future__ import annotations

import functools
import os
import threading
import weakref
from typing import Any

__all__ = ["cached_property", "renew_after_fork", "renewed"]

_holders: weakref.WeakSet = weakref.WeakSet()


def renew_after_fork(holder: Any) -> None:
    """Have ``holder.renew()`` called in every process that is forked while the holder lives."""
    _holders.add(holder)


def renewed(lock: Any) -> Any:
    """Return the lock if it is free or the calling thread's, else a new `RLock`: for use after a fork."""
    if lock.acquire(blocking=False):
        lock.release()
        return lock
    return threading.RLock()


def _renew_all() -> None:
    for holder in list(_holders):
        holder.renew()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew_all)


class cached_property(functools.cached_property):
    """An attribute that is computed when it is first asked for, without a lock.

    Until Python 3.12 the base class holds a lock meanwhile, one for all instances. Threads that ask at once
    may each compute the value here, and then keep the same.
    """

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        if instance is None:
            return self
        values = instance.__dict__
        if self.attrname not in values:
            values.setdefault(self.attrname, self.func(instance))
        return values[self.attrname]
