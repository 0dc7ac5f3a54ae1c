/* The passes of _panels.c for one type of value T. */

/* One value of the RBF kernel.  For exponents out of range exp returns an arbitrary number, which is not used. */
INLINE T NAME(rbf_value)(T sum, T product, T gamma, T clip)
{
    T distance = sum - 2 * product;
    distance = distance > clip * sum ? distance : 0;
    T exponent = -gamma * distance;
    T value = NAME(exp)(exponent);
    return exponent > LEAST_EXPONENT ? value : 0;
}

CLONES static void NAME(rbf)(ptrdiff_t n, T *restrict out, const T *restrict products, const T *restrict norms, double norm,
                             double gamma, double clip)
{
    const T norm_T = norm, gamma_T = gamma < MOST ? gamma : MOST, clip_T = clip;
    for (ptrdiff_t t = 0; t < n; t++) out[t] = NAME(rbf_value)(norms[t] + norm_T, products[t], gamma_T, clip_T);
}

CLONES static void NAME(rbf_add)(ptrdiff_t n, double *restrict sum, double weight, const T *restrict products,
                                 const T *restrict norms, double norm, double gamma, double clip)
{
    const T norm_T = norm, gamma_T = gamma < MOST ? gamma : MOST, clip_T = clip;
    for (ptrdiff_t t = 0; t < n; t++)
        sum[t] += weight * NAME(rbf_value)(norms[t] + norm_T, products[t], gamma_T, clip_T);
}

/* out = exp(-gamma * out) */
INLINE void NAME(decay)(ptrdiff_t n, T *restrict out, double gamma)
{
    const T gamma_T = gamma < MOST ? gamma : MOST;
    for (ptrdiff_t t = 0; t < n; t++) {
        T exponent = -gamma_T * out[t];
        T value = NAME(exp)(exponent);   /* as in rbf */
        out[t] = exponent > LEAST_EXPONENT ? value : 0;
    }
}

CLONES static void NAME(laplacian)(ptrdiff_t d, ptrdiff_t n, const T *restrict row, const T *restrict turned, T *restrict out,
                                   double gamma)
{
    for (ptrdiff_t t = 0; t < n; t++) out[t] = 0;
    for (ptrdiff_t k = 0; k < d; k++) {
        const T value = row[k], *other = turned + k * n;
        for (ptrdiff_t t = 0; t < n; t++) {
            T difference = value - other[t];
            out[t] += difference < 0 ? -difference : difference;
        }
    }
    NAME(decay)(n, out, gamma);
}

CLONES static void NAME(chi_squared)(ptrdiff_t d, ptrdiff_t n, const T *restrict row, const T *restrict turned,
                                     T *restrict out, double gamma)
{
    for (ptrdiff_t t = 0; t < n; t++) out[t] = 0;
    for (ptrdiff_t k = 0; k < d; k++) {
        const T value = row[k], *other = turned + k * n;
        for (ptrdiff_t t = 0; t < n; t++) {
            T difference = value - other[t], sum = value + other[t];
            T share = difference * (difference / (sum > 0 ? sum : 1));
            out[t] += share;
        }
    }
    NAME(decay)(n, out, gamma);
}

/* A tile is 16 values wide, a cache line of floats, so that whole lines are read and written on both sides. */
CLONES static void NAME(transpose)(ptrdiff_t rows, ptrdiff_t columns, const T *restrict from, ptrdiff_t from_ld,
                                   T *restrict to, ptrdiff_t to_ld)
{
    enum { TILE = 16 };
    ptrdiff_t r = 0;
    for (; r + TILE <= rows; r += TILE) {
        ptrdiff_t c = 0;
        for (; c + TILE <= columns; c += TILE) {
            T tile[TILE][TILE];
            for (int i = 0; i < TILE; i++)
                for (int j = 0; j < TILE; j++) tile[i][j] = from[(r + i) * from_ld + c + j];
            for (int j = 0; j < TILE; j++)
                for (int i = 0; i < TILE; i++) to[(c + j) * to_ld + r + i] = tile[i][j];
        }
        for (; c < columns; c++)
            for (int i = 0; i < TILE; i++) to[c * to_ld + r + i] = from[(r + i) * from_ld + c];
    }
    for (; r < rows; r++)
        for (ptrdiff_t c = 0; c < columns; c++) to[c * to_ld + r] = from[r * from_ld + c];
}

/* PANELS_WIDTH floats, anywhere in memory. */
typedef T NAME(lanes) __attribute__((vector_size(32), aligned(4), may_alias));

/* `blocks` lanes of one row's product.  They are separate variables, so that GCC keeps them in registers. */
INLINE void NAME(row_product)(ptrdiff_t begin, ptrdiff_t end, const T *values, const int32_t *features, const T *left,
                              ptrdiff_t width, T *out, const int blocks)
{
    NAME(lanes) a = {0}, b = {0}, c = {0}, d = {0};
    for (ptrdiff_t k = begin; k < end; k++) {
        const T value = values[k];
        const NAME(lanes) *row = (const NAME(lanes) *)(left + features[k] * width);
        a += value * row[0];
        if (blocks > 1) b += value * row[1];
        if (blocks > 2) c += value * row[2], d += value * row[3];
    }
    NAME(lanes) *to = (NAME(lanes) *)out;
    to[0] = a;
    if (blocks > 1) to[1] = b;
    if (blocks > 2) to[2] = c, to[3] = d;
}

CLONES static void NAME(sparse_product)(ptrdiff_t rows, const ptrdiff_t *starts, const T *values, const int32_t *features,
                                        const T *left, ptrdiff_t width, T *out)
{
    enum { LANES = sizeof(NAME(lanes)) / sizeof(T) };
    for (ptrdiff_t r = 0; r < rows; r++) {
        const ptrdiff_t begin = starts[r], end = starts[r + 1];
        ptrdiff_t c = 0;
        for (; c + 4 * LANES <= width; c += 4 * LANES)
            NAME(row_product)(begin, end, values, features, left + c, width, out + r * width + c, 4);
        if (c + 2 * LANES <= width) {
            NAME(row_product)(begin, end, values, features, left + c, width, out + r * width + c, 2);
            c += 2 * LANES;
        }
        if (c < width) NAME(row_product)(begin, end, values, features, left + c, width, out + r * width + c, 1);
    }
}

static void NAME(overlaps)(ptrdiff_t rows, const ptrdiff_t *starts, const T *values, const int32_t *features,
                           const ptrdiff_t *column_starts, const int32_t *column_rows, const T *column_values, ptrdiff_t n,
                           T *out)
{
    memset(out, 0, rows * n * sizeof(T));
    for (ptrdiff_t r = 0; r < rows; r++, out += n)
        for (ptrdiff_t k = starts[r]; k < starts[r + 1]; k++) {
            const T value = values[k];
            const ptrdiff_t end = column_starts[features[k] + 1];
            for (ptrdiff_t p = column_starts[features[k]]; p < end; p++) out[column_rows[p]] += value * column_values[p];
        }
}

static void NAME(gather)(ptrdiff_t n, const ptrdiff_t *restrict index, const T *restrict column, T *restrict out)
{
    for (ptrdiff_t t = 0; t < n; t++) out[t] = column[index[t]];
}

CLONES static void NAME(add)(ptrdiff_t n, const ptrdiff_t *restrict index, double weight, const T *restrict column,
                             double *restrict sum)
{
    if (!index) {
        for (ptrdiff_t t = 0; t < n; t++) sum[t] += weight * column[t];
        return;
    }
    for (ptrdiff_t t = 0; t < n; t++) sum[t] += weight * column[index[t]];
}
