/* The passes of _vec.h.  Those of the inner loops exist as plain loops and, by hand (_vec_simd.h), for AVX2 and AVX-512,
 * chosen at run time, and for NEON.  The other passes are plain loops, compiled once for each processor of clones.h. */
#include "_vec.h"
#include "clones.h"

#define INLINE static inline __attribute__((always_inline))

/* The first point of a block that is in a set and has this value of f. */
INLINE ptrdiff_t first_of(const double *f, const uint64_t *set, ptrdiff_t block, double value)
{
    for (uint64_t word = set[block / VEC_BLOCK]; word; word &= word - 1) {
        ptrdiff_t t = block + __builtin_ctzll(word);
        if (f[t] == value) return t;
    }
    return -1;
}

/* The point with the largest num / den, the first one of equals; -1 if all are 0.  Lane l holds point group * LANES + l. */
INLINE ptrdiff_t best_of(int lanes, const float *num, const float *den, const float *group, int width)
{
    ptrdiff_t best = -1;
    float most = 0;
    for (int lane = 0; lane < lanes; lane++) {
        float gain = num[lane] / den[lane];
        ptrdiff_t t = (ptrdiff_t)group[lane] * width + lane;
        if (gain > most || (gain == most && most > 0 && t < best)) {
            most = gain;
            best = t;
        }
    }
    return best;
}

#define T float
#define NAME(name) name##_f32
#include "_vec_plain.h"
#undef T
#undef NAME
#define T double
#define NAME(name) name##_f64
#include "_vec_plain.h"
#undef T
#undef NAME

#if defined(__x86_64__) && defined(__GNUC__) && !defined(SVMSELECT_NO_SIMD)
#include <immintrin.h>
#include "_vec_avx2.h"
#include "_vec_both.h"
#include "_vec_avx512.h"
#include "_vec_both.h"
/* the widest instruction set of this machine, or of the build (the tests build each) */
#ifndef SVMSELECT_NO_AVX512
#define HAS_AVX512 (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq"))
#else
#define HAS_AVX512 0
#endif
#define HAS_AVX2 (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
#define DISPATCH(name, ...)                                                                              \
    if (HAS_AVX512) return single ? name##_f32_avx512(__VA_ARGS__) : name##_f64_avx512(__VA_ARGS__);     \
    if (HAS_AVX2) return single ? name##_f32_avx2(__VA_ARGS__) : name##_f64_avx2(__VA_ARGS__);           \
    return single ? name##_f32(__VA_ARGS__) : name##_f64(__VA_ARGS__)
#elif defined(__aarch64__) && defined(__ARM_NEON) && !defined(SVMSELECT_NO_SIMD)
#include <arm_neon.h>
#include "_vec_neon.h"
#include "_vec_both.h"
#define DISPATCH(name, ...) return single ? name##_f32_neon(__VA_ARGS__) : name##_f64_neon(__VA_ARGS__)
#else
#define DISPATCH(name, ...) return single ? name##_f32(__VA_ARGS__) : name##_f64(__VA_ARGS__)
#endif

vec_pair vec_update_pair(int single, ptrdiff_t n, double *f, double di, const void *Ki, double dj, const void *Kj,
                         const uint64_t *up, const uint64_t *low)
{
    DISPATCH(update_pair, n, f, di, Ki, dj, Kj, up, low);
}

ptrdiff_t vec_second_order(int single, ptrdiff_t n, const double *f, double f_i, double f_j, double K_ii,
                           const void *Ki, const double *diagonal, double floor, const uint64_t *low)
{
    DISPATCH(second_order, n, f, f_i, f_j, K_ii, Ki, diagonal, floor, low);
}

ptrdiff_t vec_update_gain(int single, ptrdiff_t n, double *f, double d, const void *Ki, const void *Kr, double level,
                          const double *weight, const uint64_t *up, const uint64_t *low)
{
    DISPATCH(update_gain, n, f, d, Ki, Kr, level, weight, up, low);
}

void vec_axpy(int single, ptrdiff_t n, double *f, double d, const void *K)
{
    if (single) axpy_f32(n, f, d, K);
    else axpy_f64(n, f, d, K);
}

void vec_pair_curvature(int single, ptrdiff_t n, double *weight, double K_rr, const void *Kr, const double *diagonal,
                        double floor)
{
    if (single) pair_curvature_f32(n, weight, K_rr, Kr, diagonal, floor);
    else pair_curvature_f64(n, weight, K_rr, Kr, diagonal, floor);
}

CLONES double vec_hinge(ptrdiff_t n, const double *f, const double *lo, const double *hi, double b, double *slope)
{
    double value = 0, derivative = 0;
    for (ptrdiff_t t = 0; t < n; t++) {
        double u = f[t] + b, above = -lo[t], below = -hi[t];
        double s = u < 0 ? below : above;
        value += s * u;
        derivative += s;
    }
    *slope = derivative;
    return value;
}

/* the distance of z_t from the bound to which it moves, and its speed */
#define DISTANCE(t) (rate[t] > 0 ? most[t] - z[t] : z[t] - least[t])
#define SPEED(t) (rate[t] > 0 ? rate[t] : -rate[t])

CLONES ptrdiff_t vec_first_hit(ptrdiff_t n, const double *restrict z, const double *restrict rate,
                               const double *restrict least, const double *restrict most, const double *restrict slack,
                               double *step)
{
    /* 1) limit = min((distance + slack) / speed), when the first coordinate is `slack` beyond its bound */
    double limit = *step;
    for (ptrdiff_t t = 0; t < n; t++) {
        double speed = SPEED(t), ratio = speed > 0 ? (DISTANCE(t) + slack[t]) / speed : VEC_OUT;
        limit = ratio < limit ? ratio : limit;
    }
    if (limit == *step) return -1;
    /* 2) among those that reach their bound before, the largest speed / slack */
    ptrdiff_t hit = -1;
    double most_weight = 0;
    for (ptrdiff_t block = 0; block < n; block += VEC_BLOCK) {
        ptrdiff_t end = block + VEC_BLOCK < n ? block + VEC_BLOCK : n;
        int any = 0;
        for (ptrdiff_t t = block; t < end; t++) any |= DISTANCE(t) <= limit * SPEED(t);
        if (!any) continue;
        for (ptrdiff_t t = block; t < end; t++) {
            double speed = SPEED(t), weight = speed / slack[t];
            if (DISTANCE(t) <= limit * speed && weight > most_weight) {
                most_weight = weight;
                hit = t;
            }
        }
    }
    *step = hit < 0 || DISTANCE(hit) < 0 ? 0 : DISTANCE(hit) / SPEED(hit);
    return hit;
}

CLONES double vec_dot(ptrdiff_t n, const double *x, const double *y)
{
    double sum = 0;
    for (ptrdiff_t t = 0; t < n; t++) sum += x[t] * y[t];
    return sum;
}

double vec_at(int single, const void *K, ptrdiff_t t)
{
    return single ? (double)((const float *)K)[t] : ((const double *)K)[t];
}
