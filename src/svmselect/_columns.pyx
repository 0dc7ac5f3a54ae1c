"""Storage of Gram-matrix columns: a slot per column while they fit, least recently used ones replaced beyond.

Design. A solver asks for column ``i`` with ``get`` and receives a pointer that stays valid for the next seven
requests (the store holds at least eight columns), without taking the GIL unless the column must be computed.
What a column contains is the business of the ``load`` callback.
"""

import numpy as np

MIN_COLUMNS = 8
_PAD = 64  # VEC_BLOCK of _vec.h


def padded_length(m):
    """Length of a stored column of ``m`` rows: padded with zeros to whole blocks of the vector passes."""
    return -(-m // _PAD) * _PAD


cdef class Columns:
    """Columns of an ``m x m`` symmetric matrix in at most ``capacity`` slots.

    Parameters
    ----------
    m : int
        Rows of the matrix.
    capacity : int
        Columns kept; ``m`` holds the whole matrix.
    dtype : numpy dtype
        float32 or float64.
    load : callable
        ``load(i, out)`` writes column ``i`` into ``out``, an array of shape (m,). With ``capacity == m`` it
        is called once, as ``load(None, arena[:, :m])``, and writes the whole matrix.
    """

    def __cinit__(self, Py_ssize_t m, Py_ssize_t capacity, dtype, load):
        self.m = m
        self.ld = padded_length(m)
        self.capacity = min(capacity, m)
        self.single = np.dtype(dtype) == np.float32
        self.requested = 0
        # np.zeros maps pages only when they are written: an unused store costs no memory
        self.arena = np.zeros((self.capacity, self.ld), dtype=np.float32 if self.single else np.float64)
        cdef size_t address = self.arena.ctypes.data
        self._data = <char *> address
        self._stride = self.ld * self.arena.itemsize
        self._load = load
        self._slot = np.full(m, -1, dtype=np.intp)
        self._row = np.full(self.capacity, -1, dtype=np.intp)
        self._used = np.zeros(self.capacity, dtype=np.int64)
        self._clock = 0

    @property
    def full(self):
        """Whether the whole matrix has a slot."""
        return self.capacity == self.m

    def load_all(self):
        """Compute the whole matrix, unless it is there or does not fit."""
        cdef Py_ssize_t i
        if self.full and self.m > 0 and self._slot[0] < 0:
            self._load(None, self.arena[:, :self.m])
            for i in range(self.m):
                self._slot[i] = i

    def column(self, Py_ssize_t i):
        """Column ``i`` as a read-only view of shape (m,); counted as requested."""
        self.get(i)
        view = self.arena[self._slot[i], :self.m]
        view.flags.writeable = False
        return view

    cdef const void *get(self, Py_ssize_t i) except NULL nogil:
        """Column i, counted as requested."""
        self.requested += 1
        return self.again(i)

    cdef const void *again(self, Py_ssize_t i) except NULL nogil:
        """Column i for a caller that has requested it before and holds it: not counted."""
        cdef Py_ssize_t slot = self._slot[i]
        if slot < 0:
            with gil:
                return self._miss(i)
        self._clock += 1
        self._used[slot] = self._clock
        return self._data + slot * self._stride

    cdef bint has(self, Py_ssize_t i) noexcept nogil:
        return True

    cdef const void *_miss(self, Py_ssize_t i) except NULL:
        cdef Py_ssize_t slot
        if self.full:
            self.load_all()
            return self._data + i * self._stride
        slot = np.argmin(self._used)
        if self._row[slot] >= 0:
            self._slot[self._row[slot]] = -1
            self._row[slot] = -1
        self._load(i, self.arena[slot, :self.m])
        self._row[slot] = i
        self._slot[i] = slot
        self._clock += 1
        self._used[slot] = self._clock
        return self._data + slot * self._stride
