/* Vector passes of the solvers over one column of the Gram matrix.
 *
 * Every array has a padded length `n`, a multiple of VEC_BLOCK; columns are padded with zeros, and padding is in no
 * index set.  `single` says whether the columns hold float (1) or double (0); everything else is double.
 *
 * Index sets are bit masks, bit t % 64 of word t / 64: `up` holds the points whose theta may grow, `low` those whose
 * theta may shrink.
 */
#ifndef SVMSELECT_VEC_H
#define SVMSELECT_VEC_H
#include <stddef.h>
#include <stdint.h>

#define VEC_BLOCK 64
#define VEC_OUT 1e300   /* stands for infinity: the passes may assume finite arithmetic */
#define VEC_MIN_CURVATURE 1e-12   /* of a pair, K_ii + K_jj - 2 K_ij, relative to the largest K_tt */

typedef struct {
    ptrdiff_t i, j;      /* argmin of f over up, argmax of f over low; -1 for an empty set */
    double f_i, f_j;     /* their values; +VEC_OUT and -VEC_OUT for an empty set */
} vec_pair;

/* f += di * Ki + dj * Kj, and the maximal violating pair of the result. */
vec_pair vec_update_pair(int single, ptrdiff_t n, double *f, double di, const void *Ki, double dj, const void *Kj,
                         const uint64_t *up, const uint64_t *low);

/* f += d * K */
void vec_axpy(int single, ptrdiff_t n, double *f, double d, const void *K);

/* Second-order choice of j in low for a given i: argmax of (f_j - f_i)^2 / (K_ii + K_jj - 2 K_ij) over f_j > f_i; f_j is the
 * largest f over low, and a curvature is at least `floor`.  Gains are compared in float, in units of VEC_MIN_CURVATURE / floor,
 * so that the scale of the kernel does not matter.  -1 if no gain is a positive float. */
ptrdiff_t vec_second_order(int single, ptrdiff_t n, const double *f, double f_i, double f_j, double K_ii,
                           const void *Ki, const double *diagonal, double floor, const uint64_t *low);

/* f += d * (Ki - Kr), and the coordinate with the largest gain (f_t - level)^2 * weight_t among those that may move
 * towards level; -1 if all are optimal. */
ptrdiff_t vec_update_gain(int single, ptrdiff_t n, double *f, double d, const void *Ki, const void *Kr, double level,
                          const double *weight, const uint64_t *up, const uint64_t *low);

/* weight_t = 1 / max(K_tt + K_rr - 2 K_rt, floor) */
void vec_pair_curvature(int single, ptrdiff_t n, double *weight, double K_rr, const void *Kr, const double *diagonal,
                        double floor);

/* sum_t max(-hi_t (f_t + b), -lo_t (f_t + b)) and its slope in b */
double vec_hinge(ptrdiff_t n, const double *f, const double *lo, const double *hi, double b, double *slope);

/* The coordinate of z that first reaches a bound of [least, most] while z moves at constant rates, and the time in *step;
 * -1 if none does before *step.  By Harris's ratio test: among the coordinates that reach their bound before any is `slack`
 * beyond its bound, the fastest in units of slack. */
ptrdiff_t vec_first_hit(ptrdiff_t n, const double *z, const double *rate, const double *least, const double *most,
                        const double *slack, double *step);

double vec_dot(ptrdiff_t n, const double *x, const double *y);

double vec_at(int single, const void *K, ptrdiff_t t);
#endif
