/* CLONES before a function: it is built for AVX-512, AVX2 and the baseline of x86-64, and the loader picks one (no
 * -march=native).  That takes glibc, whose loader runs their resolvers, and GCC; all others, and -DSVMSELECT_NO_CLONES, build
 * each function once.  (clang 14 knows clones as well, but gives those of functions with external linkage other names.)
 * Include it after a header of libc, which says whether it is glibc. */
#ifndef SVMSELECT_CLONES_H
#define SVMSELECT_CLONES_H
#if defined(__x86_64__) && defined(__GLIBC__) && defined(__GNUC__) && !defined(__clang__) && __GNUC__ >= 11 \
    && !defined(SVMSELECT_NO_CLONES)
#define CLONES __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define CLONES
#endif
#endif
