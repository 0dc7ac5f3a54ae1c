/* The passes of _panels.h: plain loops that the compiler vectorises with strict arithmetic, once for each processor of
 * clones.h. */
#include "_panels.h"
#include "clones.h"
#include <float.h>
#include <stdint.h>
#include <string.h>

#define INLINE static inline __attribute__((always_inline))

/* exp(x) = 2^k exp(r) with x = k log 2 + r and |r| <= log(2)/2, for x whose exponential is a normal number.
 * Adding 1.5 * 2^23 (2^52) to x / log 2 rounds it to the integer k and leaves k in the low bits of the sum.  log 2 is the
 * sum of two numbers, the first with so few bits that its product with k is exact.  exp(r) is the polynomial of least
 * relative error (2e-9 in float, 3e-18 in double) with exp(0) = 1.  2^k is put together from its exponent bits. */
INLINE float exp_f32(float x)
{
    float t = x * 0x1.715476p+0f + 0x1.8p23f, k = t - 0x1.8p23f;
    float r = x - k * 0x1.62e4p-1f;
    r = r - k * 0x1.7f7d1cp-20f;
    float p = 0x1.6ab96ep-10f;
    p = p * r + 0x1.126d1ep-7f;
    p = p * r + 0x1.555898p-5f;
    p = p * r + 0x1.55540ap-3f;
    p = p * r + 0x1.fffffap-2f;
    p = p * r + 1.0f;
    p = p * r + 1.0f;
    uint32_t bits;
    float power;
    memcpy(&bits, &t, sizeof bits);
    bits = (bits << 23) + 0x3f800000u;
    memcpy(&power, &bits, sizeof power);
    return p * power;
}

INLINE double exp_f64(double x)
{
    double t = x * 0x1.71547652b82fep+0 + 0x1.8p52, k = t - 0x1.8p52;
    double r = x - k * 0x1.62e42feep-1;
    r = r - k * 0x1.a39ef35793c76p-33;
    double p = 0x1.ad66108cafa56p-26;
    p = p * r + 0x1.28b31c48ebd6dp-22;
    p = p * r + 0x1.71df453b57fd7p-19;
    p = p * r + 0x1.a01992c5b57bfp-16;
    p = p * r + 0x1.a01a011041631p-13;
    p = p * r + 0x1.6c16c18785410p-10;
    p = p * r + 0x1.1111111130e3dp-7;
    p = p * r + 0x1.555555554f35cp-5;
    p = p * r + 0x1.55555555554a2p-3;
    p = p * r + 0x1.000000000001p-1;
    p = p * r + 1.0;
    p = p * r + 1.0;
    uint64_t bits;
    double power;
    memcpy(&bits, &t, sizeof bits);
    bits = (bits << 52) + 0x3ff0000000000000u;
    memcpy(&power, &bits, sizeof power);
    return p * power;
}

#define T float
#define NAME(name) name##_f32
#define LEAST_EXPONENT -87
#define MOST FLT_MAX
#include "_panels_typed.h"
#undef T
#undef NAME
#undef LEAST_EXPONENT
#undef MOST
#define T double
#define NAME(name) name##_f64
#define LEAST_EXPONENT -708
#define MOST DBL_MAX
#include "_panels_typed.h"

#define BY_TYPE(name, ...) (single ? name##_f32(__VA_ARGS__) : name##_f64(__VA_ARGS__))

void panels_rbf(int single, ptrdiff_t n, void *out, const void *products, const void *norms, double norm, double gamma,
                double clip)
{
    BY_TYPE(rbf, n, out, products, norms, norm, gamma, clip);
}

void panels_laplacian(int single, ptrdiff_t d, ptrdiff_t n, const void *row, const void *turned, void *out, double gamma)
{
    BY_TYPE(laplacian, d, n, row, turned, out, gamma);
}

void panels_chi_squared(int single, ptrdiff_t d, ptrdiff_t n, const void *row, const void *turned, void *out, double gamma)
{
    BY_TYPE(chi_squared, d, n, row, turned, out, gamma);
}

void panels_rbf_add(int single, ptrdiff_t n, double *sum, double weight, const void *products, const void *norms, double norm,
                    double gamma, double clip)
{
    BY_TYPE(rbf_add, n, sum, weight, products, norms, norm, gamma, clip);
}

void panels_transpose(int single, ptrdiff_t rows, ptrdiff_t columns, const void *from, ptrdiff_t from_ld, void *to,
                      ptrdiff_t to_ld)
{
    BY_TYPE(transpose, rows, columns, from, from_ld, to, to_ld);
}

void panels_sparse_product(int single, ptrdiff_t rows, const ptrdiff_t *starts, const void *values, const int32_t *features,
                           const void *left, ptrdiff_t width, void *out)
{
    BY_TYPE(sparse_product, rows, starts, values, features, left, width, out);
}

void panels_overlaps(int single, ptrdiff_t rows, const ptrdiff_t *starts, const void *values, const int32_t *features,
                     const ptrdiff_t *column_starts, const int32_t *column_rows, const void *column_values, ptrdiff_t n,
                     void *out)
{
    BY_TYPE(overlaps, rows, starts, values, features, column_starts, column_rows, column_values, n, out);
}

void panels_gather(int single, ptrdiff_t n, const ptrdiff_t *index, const void *column, void *out)
{
    BY_TYPE(gather, n, index, column, out);
}

void panels_add(int single, ptrdiff_t n, const ptrdiff_t *index, double weight, const void *column, double *sum)
{
    BY_TYPE(add, n, index, weight, column, sum);
}
