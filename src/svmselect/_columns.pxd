cdef class Columns:
    cdef readonly Py_ssize_t m
    cdef readonly Py_ssize_t ld
    cdef readonly Py_ssize_t capacity
    cdef readonly bint single
    cdef public long long requested
    cdef readonly object arena
    cdef object _load
    cdef char *_data
    cdef Py_ssize_t _stride
    cdef Py_ssize_t[::1] _slot
    cdef Py_ssize_t[::1] _row
    cdef long long[::1] _used
    cdef long long _clock

    cdef const void *get(self, Py_ssize_t i) except NULL nogil
    cdef const void *again(self, Py_ssize_t i) except NULL nogil
    cdef const void *_miss(self, Py_ssize_t i) except NULL
    cdef bint has(self, Py_ssize_t i) noexcept nogil
