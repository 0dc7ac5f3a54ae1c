/* The passes over Gram columns as plain loops, included by _vec.c once per column type T.  Some are unused where every
 * processor has the vectors of _vec_simd.h. */
#define PLAIN static __attribute__((unused))

PLAIN vec_pair NAME(update_pair)(ptrdiff_t n, double *restrict f, double di, const T *restrict Ki, double dj,
                                 const T *restrict Kj, const uint64_t *restrict up, const uint64_t *restrict low)
{
    vec_pair pair = {-1, -1, VEC_OUT, -VEC_OUT};
    for (ptrdiff_t block = 0; block < n; block += VEC_BLOCK) {
        const uint64_t up_word = up[block / VEC_BLOCK], low_word = low[block / VEC_BLOCK];
        double least = VEC_OUT, most = -VEC_OUT;
        for (int u = 0; u < VEC_BLOCK; u++) {
            ptrdiff_t t = block + u;
            double v = f[t] + di * Ki[t] + dj * Kj[t];
            double a = up_word >> u & 1 ? v : VEC_OUT, c = low_word >> u & 1 ? v : -VEC_OUT;
            f[t] = v;
            least = a < least ? a : least;
            most = c > most ? c : most;
        }
        if (least < pair.f_i) { pair.f_i = least; pair.i = block; }
        if (most > pair.f_j) { pair.f_j = most; pair.j = block; }
    }
    if (pair.i >= 0) pair.i = first_of(f, up, pair.i, pair.f_i);
    if (pair.j >= 0) pair.j = first_of(f, low, pair.j, pair.f_j);
    return pair;
}

PLAIN ptrdiff_t NAME(second_order)(ptrdiff_t n, const double *restrict f, double f_i, double f_j, double K_ii,
                                   const T *restrict Ki, const double *restrict diagonal, double floor,
                                   const uint64_t *restrict low)
{
    const double scale = 1 / (f_j - f_i);
    double num = 0, den = 1;
    ptrdiff_t best = -1;
    for (ptrdiff_t block = 0; block < n; block += VEC_BLOCK) {
        for (uint64_t word = low[block / VEC_BLOCK]; word; word &= word - 1) {
            ptrdiff_t t = block + __builtin_ctzll(word);
            double d = (f[t] - f_i) * scale, eta = K_ii + diagonal[t] - 2.0 * Ki[t];
            if (d <= 0) continue;
            eta = eta > floor ? eta : floor;
            if (d * d * den > num * eta) { num = d * d; den = eta; best = t; }
        }
    }
    return best;
}

PLAIN ptrdiff_t NAME(update_gain)(ptrdiff_t n, double *restrict f, double d, const T *restrict Ki,
                                  const T *restrict Kr, double level, const double *restrict weight,
                                  const uint64_t *restrict up, const uint64_t *restrict low)
{
    double most = 0;
    ptrdiff_t best = -1;
    for (ptrdiff_t block = 0; block < n; block += VEC_BLOCK) {
        const uint64_t up_word = up[block / VEC_BLOCK], low_word = low[block / VEC_BLOCK];
        for (int u = 0; u < VEC_BLOCK; u++) {
            ptrdiff_t t = block + u;
            double v = f[t] + d * ((double)Ki[t] - (double)Kr[t]), away = level - v;
            double gain = (away > 0 ? up_word : low_word) >> u & 1 ? away * away * weight[t] : 0;
            f[t] = v;
            if (gain > most) { most = gain; best = t; }
        }
    }
    return best;
}

static CLONES void NAME(axpy)(ptrdiff_t n, double *restrict f, double d, const T *restrict K)
{
    for (ptrdiff_t t = 0; t < n; t++) f[t] += d * K[t];
}

static CLONES void NAME(pair_curvature)(ptrdiff_t n, double *restrict weight, double K_rr, const T *restrict Kr,
                                        const double *restrict diagonal, double floor)
{
    for (ptrdiff_t t = 0; t < n; t++) {
        double eta = K_rr + diagonal[t] - 2.0 * Kr[t];
        weight[t] = 1.0 / (eta > floor ? eta : floor);
    }
}
#undef PLAIN
