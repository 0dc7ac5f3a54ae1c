/* The passes of _panels.c for one type of value T. */

CLONES static void NAME(rbf)(ptrdiff_t n, T *restrict out, const T *restrict products, const T *restrict norms, double norm,
                             double gamma, double clip)
{
    const T norm_T = norm, gamma_T = gamma < MOST ? gamma : MOST, clip_T = clip;
    for (ptrdiff_t t = 0; t < n; t++) {
        T sum = norms[t] + norm_T, distance = sum - 2 * products[t];
        distance = distance > clip_T * sum ? distance : 0;
        T exponent = -gamma_T * distance;
        T value = NAME(exp)(exponent);   /* rubbish, but harmless, for exponents out of range */
        out[t] = exponent > LEAST_EXPONENT ? value : 0;
    }
}

/* A tile is 16 values wide, a cache line of floats: the lines of both sides are read and written whole. */
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
