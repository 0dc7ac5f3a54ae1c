/* The passes that read Gram columns, once per column type T (included twice by _vec.c). */

static CLONES vec_pair NAME(update_pair)(ptrdiff_t n, double *restrict f, double di, const T *restrict Ki, double dj,
                                         const T *restrict Kj, const double *restrict up, const double *restrict low)
{
    double least = VEC_OUT, most = -VEC_OUT;
    ptrdiff_t least_block = -1, most_block = -1;
    for (ptrdiff_t block = 0; block < n; block += VEC_BLOCK) {
        double lo = VEC_OUT, hi = -VEC_OUT;
        for (ptrdiff_t t = block; t < block + VEC_BLOCK; t++) {
            double v = f[t] + (di * Ki[t] + dj * Kj[t]);
            double a = v + up[t], c = v + low[t];
            f[t] = v;
            lo = a < lo ? a : lo;
            hi = c > hi ? c : hi;
        }
        if (lo < least) { least = lo; least_block = block; }
        if (hi > most) { most = hi; most_block = block; }
    }
    vec_pair pair = {-1, -1, VEC_OUT, -VEC_OUT};
    if (IN_SET(least)) {
        pair.i = find_sum(f, up, least_block, least);
        pair.f_i = least;
    }
    if (IN_SET(most)) {
        pair.j = find_sum(f, low, most_block, most);
        pair.f_j = most;
    }
    return pair;
}

#if HAVE_AVX2
static AVX2 vec_pair NAME(update_pair_avx2)(ptrdiff_t n, double *restrict f, double di, const T *restrict Ki, double dj,
                                            const T *restrict Kj, const double *restrict up,
                                            const double *restrict low)
{
    __m256d Di = _mm256_set1_pd(di), Dj = _mm256_set1_pd(dj);
    __m256d least = _mm256_set1_pd(VEC_OUT), most = _mm256_set1_pd(-VEC_OUT);
    ptrdiff_t least_block = 0, most_block = 0;
    for (ptrdiff_t block = 0; block < n; block += VEC_BLOCK) {
        __m256d lo = least, hi = most;
        for (ptrdiff_t t = block; t < block + VEC_BLOCK; t += 4) {
            __m256d v = _mm256_fmadd_pd(Di, NAME(load4)(Ki + t), _mm256_loadu_pd(f + t));
            v = _mm256_fmadd_pd(Dj, NAME(load4)(Kj + t), v);
            _mm256_storeu_pd(f + t, v);
            lo = _mm256_min_pd(lo, _mm256_add_pd(v, _mm256_loadu_pd(up + t)));
            hi = _mm256_max_pd(hi, _mm256_add_pd(v, _mm256_loadu_pd(low + t)));
        }
        if (_mm256_movemask_pd(_mm256_cmp_pd(lo, least, _CMP_LT_OQ))) {
            least = _mm256_set1_pd(least4(lo));
            least_block = block;
        }
        if (_mm256_movemask_pd(_mm256_cmp_pd(hi, most, _CMP_GT_OQ))) {
            most = _mm256_set1_pd(most4(hi));
            most_block = block;
        }
    }
    vec_pair pair = {-1, -1, VEC_OUT, -VEC_OUT};
    double f_i = _mm256_cvtsd_f64(least), f_j = _mm256_cvtsd_f64(most);
    if (IN_SET(f_i)) {
        pair.i = find_sum4(f, up, least_block, f_i);
        pair.f_i = f_i;
    }
    if (IN_SET(f_j)) {
        pair.j = find_sum4(f, low, most_block, f_j);
        pair.f_j = f_j;
    }
    return pair;
}
#endif

static CLONES void NAME(axpy)(ptrdiff_t n, double *restrict f, double d, const T *restrict K)
{
    for (ptrdiff_t t = 0; t < n; t++) f[t] += d * K[t];
}

static CLONES ptrdiff_t NAME(second_order)(ptrdiff_t n, const double *restrict f, double f_i, double K_ii,
                                           const T *restrict Ki, const double *restrict diagonal,
                                           const double *restrict low)
{
    double best = 0;
    ptrdiff_t best_block = -1;
    double gain[VEC_BLOCK], best_gain[VEC_BLOCK];
    for (ptrdiff_t block = 0; block < n; block += VEC_BLOCK) {
        double most = 0;
        for (ptrdiff_t u = 0; u < VEC_BLOCK; u++) {
            ptrdiff_t t = block + u;
            double d = f[t] - f_i + low[t];
            double eta = K_ii + diagonal[t] - 2.0 * Ki[t];
            d = d > 0 ? d : 0;
            eta = eta > 1e-12 ? eta : 1e-12;
            gain[u] = d * d / eta;
            most = gain[u] > most ? gain[u] : most;
        }
        if (most > best) {
            best = most;
            best_block = block;
            for (ptrdiff_t u = 0; u < VEC_BLOCK; u++) best_gain[u] = gain[u];
        }
    }
    if (best_block < 0) return -1;
    for (ptrdiff_t u = 0; u < VEC_BLOCK; u++)
        if (best_gain[u] == best) return best_block + u;
    return best_block;
}

static CLONES ptrdiff_t NAME(update_gain)(ptrdiff_t n, double *restrict f, double d, const T *restrict Ki,
                                          const T *restrict Kr, double level, const double *restrict weight,
                                          const double *restrict up, const double *restrict low)
{
    double best = 0;
    ptrdiff_t best_block = -1;
    double gain[VEC_BLOCK], best_gain[VEC_BLOCK];
    for (ptrdiff_t block = 0; block < n; block += VEC_BLOCK) {
        double most = 0;
        for (ptrdiff_t u = 0; u < VEC_BLOCK; u++) {
            ptrdiff_t t = block + u;
            double v = f[t] + d * ((double)Ki[t] - (double)Kr[t]);
            double grow = level - v - up[t], shrink = v - level + low[t];
            double g = grow > shrink ? grow : shrink;
            f[t] = v;
            g = g > 0 ? g : 0;
            gain[u] = g * g * weight[t];
            most = gain[u] > most ? gain[u] : most;
        }
        if (most > best) {
            best = most;
            best_block = block;
            for (ptrdiff_t u = 0; u < VEC_BLOCK; u++) best_gain[u] = gain[u];
        }
    }
    if (best_block < 0) return -1;
    for (ptrdiff_t u = 0; u < VEC_BLOCK; u++)
        if (best_gain[u] == best) return best_block + u;
    return best_block;
}

#if HAVE_AVX2
static AVX2 ptrdiff_t NAME(update_gain_avx2)(ptrdiff_t n, double *restrict f, double d, const T *restrict Ki,
                                             const T *restrict Kr, double level, const double *restrict weight,
                                             const double *restrict up, const double *restrict low)
{
    __m256d D = _mm256_set1_pd(d), Level = _mm256_set1_pd(level), most = _mm256_setzero_pd();
    ptrdiff_t most_block = -1;
    for (ptrdiff_t block = 0; block < n; block += VEC_BLOCK) {
        __m256d hi = most;
        for (ptrdiff_t t = block; t < block + VEC_BLOCK; t += 4) {
            __m256d v = _mm256_fmadd_pd(D, _mm256_sub_pd(NAME(load4)(Ki + t), NAME(load4)(Kr + t)),
                                        _mm256_loadu_pd(f + t));
            _mm256_storeu_pd(f + t, v);
            hi = _mm256_max_pd(hi, gain4(v, Level, weight + t, up + t, low + t));
        }
        if (_mm256_movemask_pd(_mm256_cmp_pd(hi, most, _CMP_GT_OQ))) {
            most = _mm256_set1_pd(most4(hi));
            most_block = block;
        }
    }
    if (most_block < 0) return -1;
    for (ptrdiff_t t = most_block; t < most_block + VEC_BLOCK; t += 4) {
        __m256d gain = gain4(_mm256_loadu_pd(f + t), Level, weight + t, up + t, low + t);
        int hit = _mm256_movemask_pd(_mm256_cmp_pd(gain, most, _CMP_EQ_OQ));
        if (hit) return t + __builtin_ctz(hit);
    }
    return most_block;
}
#endif

static CLONES void NAME(pair_curvature)(ptrdiff_t n, double *restrict weight, double K_rr, const T *restrict Kr,
                                        const double *restrict diagonal, double floor)
{
    for (ptrdiff_t t = 0; t < n; t++) {
        double eta = K_rr + diagonal[t] - 2.0 * Kr[t];
        weight[t] = 1.0 / (eta > floor ? eta : floor);
    }
}
