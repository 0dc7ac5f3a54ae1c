/* A function with CLONES is compiled for AVX-512, AVX2 and the baseline of x86-64, and the loader chooses one (no
 * -march=native).  That needs GCC, and glibc, whose loader runs the resolvers.  Other compilers and libraries, and
 * -DSVMSELECT_NO_CLONES, compile each function once.  (clang 14 knows clones, too, but renames those with external linkage.)
 * Include this header after one of libc, which defines __GLIBC__. */
#ifndef SVMSELECT_CLONES_H
#define SVMSELECT_CLONES_H
#if defined(__x86_64__) && defined(__GLIBC__) && defined(__GNUC__) && !defined(__clang__) && __GNUC__ >= 11 \
    && !defined(SVMSELECT_NO_CLONES)
#define CLONES __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define CLONES
#endif
#endif
