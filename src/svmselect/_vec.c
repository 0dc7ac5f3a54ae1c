/* See _vec.h.  Plain loops of a constant block length, so that the compiler vectorises them; on x86-64 Linux with GCC each
 * function is built for AVX-512, AVX2 and the baseline, and the loader picks one at run time (no -march=native). */
#include "_vec.h"

#if defined(__x86_64__) && defined(__linux__) && defined(__GLIBC__) && defined(__GNUC__) && !defined(__clang__) \
    && __GNUC__ >= 11 && !defined(SVMSELECT_NO_CLONES)
#define CLONES __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define CLONES
#endif
#define INLINE static inline __attribute__((always_inline))

/* The two passes of the inner loops are written by hand for AVX2: a running extreme per lane and one comparison per block
 * cost a third of what the compiler makes of the plain loops, which find the extreme of every block. */
#if defined(__x86_64__) && defined(__GNUC__) && !defined(SVMSELECT_NO_AVX2)
#include <immintrin.h>
#define HAVE_AVX2 1
#define AVX2 __attribute__((target("avx2,fma")))
#define CAN_USE_AVX2 (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
INLINE AVX2 __m256d load4_f64(const double *x) { return _mm256_loadu_pd(x); }
INLINE AVX2 __m256d load4_f32(const float *x) { return _mm256_cvtps_pd(_mm_loadu_ps(x)); }
INLINE AVX2 double least4(__m256d x)
{
    __m128d y = _mm_min_pd(_mm256_castpd256_pd128(x), _mm256_extractf128_pd(x, 1));
    return _mm_cvtsd_f64(_mm_min_sd(y, _mm_unpackhi_pd(y, y)));
}
INLINE AVX2 double most4(__m256d x)
{
    __m128d y = _mm_max_pd(_mm256_castpd256_pd128(x), _mm256_extractf128_pd(x, 1));
    return _mm_cvtsd_f64(_mm_max_sd(y, _mm_unpackhi_pd(y, y)));
}
/* first t of a block where x + y equals value */
INLINE AVX2 ptrdiff_t find_sum4(const double *x, const double *y, ptrdiff_t block, double value)
{
    __m256d target = _mm256_set1_pd(value);
    for (ptrdiff_t t = block; t < block + VEC_BLOCK; t += 4) {
        __m256d sum = _mm256_add_pd(_mm256_loadu_pd(x + t), _mm256_loadu_pd(y + t));
        int hit = _mm256_movemask_pd(_mm256_cmp_pd(sum, target, _CMP_EQ_OQ));
        if (hit) return t + __builtin_ctz(hit);
    }
    return block;
}
/* clipped gain (max(level - v - up, v - level + low, 0))^2 * weight at four points */
INLINE AVX2 __m256d gain4(__m256d v, __m256d level, const double *weight, const double *up, const double *low)
{
    __m256d d = _mm256_sub_pd(v, level);
    __m256d shrink = _mm256_add_pd(d, _mm256_loadu_pd(low));
    __m256d grow = _mm256_sub_pd(_mm256_sub_pd(level, v), _mm256_loadu_pd(up));
    __m256d g = _mm256_max_pd(_mm256_max_pd(grow, shrink), _mm256_setzero_pd());
    return _mm256_mul_pd(_mm256_mul_pd(g, g), _mm256_loadu_pd(weight));
}
#else
#define HAVE_AVX2 0
#endif

/* a value of f is far below VEC_OUT: a larger one comes from a point outside the set */
#define IN_SET(value) ((value) < 0.5 * VEC_OUT && (value) > -0.5 * VEC_OUT)

/* first t of a block where x + y equals value */
INLINE ptrdiff_t find_sum(const double *x, const double *y, ptrdiff_t block, double value)
{
    for (ptrdiff_t t = block; t < block + VEC_BLOCK; t++)
        if (x[t] + y[t] == value) return t;
    return block;
}

#define T float
#define NAME(name) name##_f32
#include "_vec_columns.h"
#undef T
#undef NAME
#define T double
#define NAME(name) name##_f64
#include "_vec_columns.h"

vec_pair vec_update_pair(int single, ptrdiff_t n, double *f, double di, const void *Ki, double dj, const void *Kj,
                         const double *up, const double *low)
{
#if HAVE_AVX2
    if (CAN_USE_AVX2)
        return single ? update_pair_avx2_f32(n, f, di, Ki, dj, Kj, up, low)
                      : update_pair_avx2_f64(n, f, di, Ki, dj, Kj, up, low);
#endif
    return single ? update_pair_f32(n, f, di, Ki, dj, Kj, up, low) : update_pair_f64(n, f, di, Ki, dj, Kj, up, low);
}

void vec_axpy(int single, ptrdiff_t n, double *f, double d, const void *K)
{
    if (single) axpy_f32(n, f, d, K);
    else axpy_f64(n, f, d, K);
}

ptrdiff_t vec_second_order(int single, ptrdiff_t n, const double *f, double f_i, double K_ii, const void *Ki,
                           const double *diagonal, const double *low)
{
    return single ? second_order_f32(n, f, f_i, K_ii, Ki, diagonal, low)
                  : second_order_f64(n, f, f_i, K_ii, Ki, diagonal, low);
}

ptrdiff_t vec_update_gain(int single, ptrdiff_t n, double *f, double d, const void *Ki, const void *Kr, double level,
                          const double *weight, const double *up, const double *low)
{
#if HAVE_AVX2
    if (CAN_USE_AVX2)
        return single ? update_gain_avx2_f32(n, f, d, Ki, Kr, level, weight, up, low)
                      : update_gain_avx2_f64(n, f, d, Ki, Kr, level, weight, up, low);
#endif
    return single ? update_gain_f32(n, f, d, Ki, Kr, level, weight, up, low)
                  : update_gain_f64(n, f, d, Ki, Kr, level, weight, up, low);
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
