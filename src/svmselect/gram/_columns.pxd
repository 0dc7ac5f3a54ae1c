cdef class Columns:
    cdef readonly Py_ssize_t m
    cdef readonly Py_ssize_t ld
    cdef readonly Py_ssize_t capacity
    cdef readonly bint full
    cdef readonly bint single
    cdef readonly object arena
    cdef Columns _first
    cdef object _lock
    cdef object _load
    cdef object _memory
    cdef object _counter
    cdef object __weakref__
    cdef long long *_requested
    cdef char *_data
    cdef Py_ssize_t _stride
    cdef Py_ssize_t[::1] _slot
    cdef Py_ssize_t[::1] _row
    cdef long long[::1] _used
    cdef long long _clock

    cdef const void *get(self, Py_ssize_t i) except NULL nogil
    cdef const void *again(self, Py_ssize_t i) except NULL nogil
    cdef bint has(self, Py_ssize_t i) noexcept nogil
    cdef Py_ssize_t _miss(self, Py_ssize_t i) except -1
    cdef object _absent(self, requested)
    cdef int _store(self, indices, slots) except -1
