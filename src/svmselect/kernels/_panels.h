/* Passes over panels of the Gram matrix, beside the products of BLAS.  `single` says whether values are float (1) or double
 * (0); leading dimensions count values. */
#ifndef SVMSELECT_PANELS_H
#define SVMSELECT_PANELS_H
#include <stddef.h>
#include <stdint.h>

/* out[t] = exp(-gamma D_t), D_t = norm + norms[t] - 2 products[t], taken as 0 up to clip (norm + norms[t]).  Within 2
 * round-off units from the exact exponential of the rounded -gamma D_t; 0 where that is below -87 (float) or -708
 * (double), so that no value is denormal. */
void panels_rbf(int single, ptrdiff_t n, void *out, const void *products, const void *norms, double norm, double gamma,
                double clip);

/* out[t] = exp(-gamma D_t) for the distances D_t of one row of d values from n other rows, whose transpose is `turned`: the
 * sum of |row[k] - turned[k][t]|, or of (row[k] - turned[k][t])^2 / (row[k] + turned[k][t]) where that is not 0 / 0.  The
 * exponential has the accuracy of panels_rbf. */
void panels_laplacian(int single, ptrdiff_t d, ptrdiff_t n, const void *row, const void *turned, void *out, double gamma);
void panels_chi_squared(int single, ptrdiff_t d, ptrdiff_t n, const void *row, const void *turned, void *out, double gamma);

/* sum[t] += weight * exp(-gamma D_t), with the values of panels_rbf */
void panels_rbf_add(int single, ptrdiff_t n, double *sum, double weight, const void *products, const void *norms, double norm,
                    double gamma, double clip);

/* to[c][r] = from[r][c] */
void panels_transpose(int single, ptrdiff_t rows, ptrdiff_t columns, const void *from, ptrdiff_t from_ld, void *to,
                      ptrdiff_t to_ld);

/* out[r][c] = sum over k of values[k] * left[features[k]][c], k from starts[r] to starts[r + 1]: sparse rows times a dense
 * matrix whose rows, and out's, have `width` values, a multiple of PANELS_WIDTH. */
#define PANELS_WIDTH 8
void panels_sparse_product(int single, ptrdiff_t rows, const ptrdiff_t *starts, const void *values, const int32_t *features,
                           const void *left, ptrdiff_t width, void *out);

/* out[r][c] = inner product of the sparse row r and the sparse row c of a matrix with n rows, whose values are given by
 * columns: the work is that of the columns in which both rows have a value. */
void panels_overlaps(int single, ptrdiff_t rows, const ptrdiff_t *starts, const void *values, const int32_t *features,
                     const ptrdiff_t *column_starts, const int32_t *column_rows, const void *column_values, ptrdiff_t n,
                     void *out);

/* out[t] = column[index[t]] */
void panels_gather(int single, ptrdiff_t n, const ptrdiff_t *index, const void *column, void *out);

/* sum[t] += weight * column[index[t]], or column[t] without an index */
void panels_add(int single, ptrdiff_t n, const ptrdiff_t *index, double weight, const void *column, double *sum);

#endif
