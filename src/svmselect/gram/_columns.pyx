"""Storage of columns of a Gram matrix, which replaces the least recently used ones once it is full.

Design. A solver requests column ``i`` with ``get`` and receives a pointer that stays valid for the next seven
requests (the store has at least eight slots). It takes the GIL only if the column has to be computed.
``fetch`` computes many absent columns together, by one matrix product, and does not replace the eight most
recently used ones. Slots fill in the order of requests, so a store that is little used touches little memory.
In a store of the whole matrix nothing is ever replaced or moved, and use is not recorded. The ``load``
callback computes the values.

Threads. A store of the whole matrix serves any number of threads, each through its own `Columns` (`handle`),
which counts its requests. Columns are written under the store's lock. A column's slot is stored after its
values, with release semantics; requests read the slot with acquire semantics and take no lock, so a thread
that reads a slot reads the values. A store that replaces columns is for one thread.

Forks. A fork may leave a thread behind while it writes columns. Columns that it had published are whole;
`renew` frees the lock and every slot without a published column.
"""

import threading

import numpy as np

from svmselect.forks import renewed

cdef extern from *:
    """
    static inline Py_ssize_t slot_acquire(const Py_ssize_t *slot)
    { return __atomic_load_n(slot, __ATOMIC_ACQUIRE); }
    static inline void slot_release(Py_ssize_t *slot, Py_ssize_t value)
    { __atomic_store_n(slot, value, __ATOMIC_RELEASE); }
    """
    Py_ssize_t slot_acquire(const Py_ssize_t *) nogil
    void slot_release(Py_ssize_t *, Py_ssize_t) nogil

cdef extern from *:
    """
    #ifdef __linux__
    #include <sys/mman.h>
    static int request_huge_pages(size_t address, size_t n_bytes)
    { return madvise((void *)address, n_bytes, MADV_HUGEPAGE); }
    #else
    static int request_huge_pages(size_t address, size_t n_bytes) { return -1; }
    #endif
    """
    int request_huge_pages(size_t, size_t) nogil

cdef extern from "kernels/_panels.h" nogil:
    void panels_gather(int, Py_ssize_t, const Py_ssize_t *, const void *, void *)
    void panels_add(int, Py_ssize_t, const Py_ssize_t *, double, const void *, double *)

MIN_COLUMNS = 8
PAD = 64  # VEC_BLOCK of solver/_vec.h
ALIGNMENT = 64
HUGE_PAGE = 2**21
# sizes for which huge pages are requested here, in bytes
LEAST_HUGE, MOST_HUGE = 2**21, 2**22

cdef enum:
    ABSENT = -1


def padded_length(m):
    """Return the length of a stored column of ``m`` rows, padded to whole blocks of the vector passes."""
    return -(-m // PAD) * PAD


def allocate(n_bytes):
    """Return untouched memory on a cache-line boundary, as bytes, in huge pages where it is large.

    The first use of a megabyte in pages of 4 kB takes as long as a small fit. NumPy requests huge pages for
    more than 4 MB.
    """
    huge = LEAST_HUGE <= n_bytes < MOST_HUGE
    unit = HUGE_PAGE if huge else ALIGNMENT
    whole = -(-n_bytes // unit) * unit
    memory = np.empty(whole + unit, dtype=np.uint8)
    start = -memory.ctypes.data % unit
    if huge:
        request_huge_pages(memory.ctypes.data + start, whole)
    return memory[start:start + n_bytes]


def closed(indices, out, slots):
    """Raise the error of a request to a store whose memory has another use; replaces its load callback."""
    raise RuntimeError("these columns belong to a kernel that Gram.set_kernel has replaced")


cdef class Columns:
    """Columns of an ``m x m`` symmetric matrix in at most ``capacity`` slots.

    ``load(indices, out, slots)`` writes column ``indices[k]`` into ``out[slots[k], :m]``. `counter`, int64 of
    shape (1,), counts the requests; several stores of one thread may share one. `memory` is from `allocate`,
    new by default. `first` is another thread's object on the same whole matrix, see `handle`. `lock` is held
    while columns are written.
    """

    def __cinit__(self, Py_ssize_t m, Py_ssize_t capacity, dtype, load, counter, memory=None,
                  Columns first=None):
        cdef long long[::1] requested = counter
        cdef size_t address
        self.m = m
        self.ld = padded_length(m)
        self.capacity = min(capacity, m)
        self.full = self.capacity == m
        self.single = np.dtype(dtype) == np.float32
        self._stride = self.ld * (sizeof(float) if self.single else sizeof(double))
        self._load = load
        self._counter = counter
        self._requested = &requested[0]
        self._clock = 1
        self._first = first
        if first is not None:
            self.arena, self._memory = first.arena, first._memory
            self._slot, self._row, self._used = first._slot, first._row, first._used
            self._data = first._data
            return
        n_bytes = self.capacity * self._stride
        self._lock = threading.RLock()
        self._memory = allocate(n_bytes) if memory is None else memory[:n_bytes]
        values = self._memory.view(np.float32 if self.single else np.float64)
        self.arena = values.reshape(self.capacity, self.ld)
        address = self.arena.ctypes.data
        self._data = <char *> address
        self._slot = np.full(m, ABSENT, dtype=np.intp)
        # the column in each slot, and the time of its last use, 0 if it is empty; time stops if all fit
        self._row = np.full(self.capacity, ABSENT, dtype=np.intp)
        self._used = np.zeros(self.capacity, dtype=np.int64)

    def handle(self, counter):
        """Return a Columns on the same store of a whole matrix for another thread, with its own counter."""
        if not self.full:
            raise ValueError("a store that replaces columns is for one thread")
        return Columns(self.m, self.capacity, self.arena.dtype, self._load, counter, None,
                       self if self._first is None else self._first)

    @property
    def lock(self):
        """The lock that is held while columns are written."""
        return self._lock if self._first is None else self._first._lock

    def renew(self):
        """Free the lock, and slots without a published column, in a forked process."""
        lock = renewed(self._lock)
        if lock is self._lock:
            return
        self._lock = lock
        slot, row, used = map(np.asarray, (self._slot, self._row, self._used))
        stored = np.flatnonzero(slot >= 0)
        row[:] = ABSENT
        row[slot[stored]] = stored
        used[row < 0] = 0

    @property
    def requested(self):
        """The number of requests so far, of all stores that share the counter."""
        return self._requested[0]

    def holds(self, indices):
        """Return whether each column is stored: bool, shape of `indices` (a slice or array of int)."""
        return np.asarray(self._slot)[indices] >= 0

    def column(self, Py_ssize_t i):
        """Return column ``i`` as a read-only view of shape (m,), counted as requested."""
        if not 0 <= i < self.m:
            raise IndexError(f"there is no column {i} in a matrix of {self.m} rows")
        self.get(i)
        view = self.arena[self._slot[i], :self.m]
        view.flags.writeable = False
        return view

    def clear(self):
        """Make every column absent; the memory stays."""
        self._slot[:] = ABSENT
        self._row[:] = ABSENT
        self._used[:] = 0

    def close(self):
        """Make every column absent for all threads, and every further request an error."""
        self.clear()
        self._load = closed
        if self._first is not None:
            self._first._load = closed

    def places(self, absent=None):
        """Return the slot of every column, shape (m,), -1 for an absent one.

        Columns in `absent` get the first free slots in turn. The caller writes and publishes them under the
        lock.
        """
        places = np.array(self._slot)
        if absent is not None:
            places[absent] = np.flatnonzero(np.asarray(self._row) < 0)[:absent.size]
        return places

    def publish(self, indices, slots):
        """Declare that columns have been written into free slots."""
        cdef Py_ssize_t[::1] columns = indices, places = slots
        cdef Py_ssize_t k
        self.arena[slots, self.m:] = 0
        np.asarray(self._row)[slots] = indices
        np.asarray(self._used)[slots] = self._clock
        for k in range(columns.shape[0]):
            slot_release(&self._slot[columns[k]], places[k])

    def fetch(self, indices):
        """Load the absent ones among some columns together, without counting requests.

        This replaces neither these columns nor the eight most recently used ones. If the remaining slots are
        too few, the first absent columns are loaded.
        """
        requested = np.asarray(indices, dtype=np.intp).reshape(-1)
        outside = requested[(requested < 0) | (requested >= self.m)]
        if outside.size:
            raise IndexError(f"there is no column {outside[0]} in a matrix of {self.m} rows")
        if self.full:
            with self.lock:
                absent = self._absent(requested)
                self._store(absent, np.flatnonzero(np.asarray(self._row) < 0)[:absent.size])
            return
        # 1) slots that stay: of requested columns, and of the most recently used ones
        slots = np.asarray(self._slot)[requested]
        absent = self._absent(requested)
        free = np.flatnonzero(np.asarray(self._row) < 0)
        used = np.array(self._used)
        recent = np.argpartition(used, -MIN_COLUMNS)[-MIN_COLUMNS:]
        recent = recent[np.argsort(used[recent])]
        recent = recent[used[recent] > 0]
        protected = np.unique(np.concatenate([slots[slots >= 0], recent]))
        used[protected] = np.iinfo(np.int64).max
        # 2) the absent columns go to free slots or, if these are too few, to the least recently used ones
        n_new = min(absent.size, self.capacity - protected.size)
        new = free[:n_new] if free.size >= n_new else np.argpartition(used, n_new)[:n_new]
        self._store(absent[:n_new], new)
        # 3) the most recently used ones stay so: their pointers are valid for the next seven requests
        order = np.concatenate([slots[slots >= 0], new, recent])
        np.asarray(self._used)[order] = self._clock + 1 + np.arange(order.size)
        self._clock += order.size

    def gather(self, indices, Py_ssize_t[::1] rows, out, slots):
        """Compute ``out[slots[k], :len(rows)] = K[rows, indices[k]]`` for stored columns."""
        cdef Py_ssize_t[::1] sources = np.asarray(self._slot)[indices], targets = slots
        cdef Py_ssize_t k, stride = out.strides[0]
        cdef size_t address = out.ctypes.data
        cdef char *target = <char *> address
        with nogil:
            for k in range(sources.shape[0]):
                panels_gather(self.single, rows.shape[0], &rows[0], self._data + sources[k] * self._stride,
                              target + targets[k] * stride)

    def add(self, indices, double[::1] weights, Py_ssize_t[::1] rows, double[::1] out):
        """Compute ``out += K[rows, indices] @ weights`` for stored columns, in float64; all rows for None."""
        cdef Py_ssize_t[::1] sources = np.asarray(self._slot)[indices]
        cdef Py_ssize_t k, n = out.shape[0]
        cdef const Py_ssize_t *index = NULL
        if rows is not None and n > 0:
            index = &rows[0]
        if n == 0:
            return
        with nogil:
            for k in range(sources.shape[0]):
                panels_add(self.single, n, index, weights[k],
                           self._data + sources[k] * self._stride, &out[0])

    cdef const void *get(self, Py_ssize_t i) except NULL nogil:
        """Return column i, counted as requested."""
        self._requested[0] += 1
        return self.again(i)

    cdef const void *again(self, Py_ssize_t i) except NULL nogil:
        """Return column i, not counted, for a caller that has requested it before."""
        cdef Py_ssize_t slot = slot_acquire(&self._slot[i])
        if slot < 0:
            with gil:
                slot = self._miss(i)
        if not self.full:
            self._clock += 1
            self._used[slot] = self._clock
        return self._data + slot * self._stride

    cdef bint has(self, Py_ssize_t i) noexcept nogil:
        """Return whether column i is stored."""
        return slot_acquire(&self._slot[i]) >= 0

    cdef Py_ssize_t _miss(self, Py_ssize_t i) except -1:
        """Load the absent column i in place of the least recently used one; return its slot."""
        with self.lock:
            if self._slot[i] < 0:   # another thread may have written it meanwhile
                self._store(np.array([i]), np.array([np.argmin(self._used)]))
            return self._slot[i]

    cdef object _absent(self, requested):
        """Return the absent ones among the requested columns, each once, in their order."""
        absent = requested[np.asarray(self._slot)[requested] < 0]
        return absent[np.sort(np.unique(absent, return_index=True)[1])]

    cdef int _store(self, indices, slots) except -1:
        """Load absent columns into slots, and drop the columns that were there."""
        row = np.asarray(self._row)
        slot = np.asarray(self._slot)
        if indices.size == 0:
            return 0
        old = row[slots]
        slot[old[old >= 0]] = ABSENT
        row[slots] = ABSENT
        np.asarray(self._used)[slots] = 0
        load = self._load if self._first is None else self._first._load
        load(indices, self.arena, slots)
        self.publish(indices, slots)
        return 0
