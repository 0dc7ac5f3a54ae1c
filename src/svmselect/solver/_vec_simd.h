/* The passes of the inner loops by hand.  A running extreme per lane, and one comparison per block, take a third of the
 * time of the compiler's code for the plain loops.  Included once per instruction set and column type T. */

/* Columns lie anywhere in memory, and the processor prefetches only within a page.  Lines of longer columns are prefetched
 * 2,048 bytes ahead. */
#ifndef FETCH_AHEAD
#define PAGE 4096
#define FETCH_AHEAD(K, block, n) \
    for (size_t line = 0; (n) * sizeof(T) > PAGE && line < VEC_BLOCK * sizeof(T); line += 64) \
        __builtin_prefetch((const char *)((K) + (block)) + 2048 + line)
#endif

static TARGET vec_pair NAME(update_pair)(ptrdiff_t n, double *restrict f, double di, const T *restrict Ki, double dj,
                                         const T *restrict Kj, const uint64_t *restrict up,
                                         const uint64_t *restrict low)
{
    const ISA(vd) Di = ISA(set)(di), Dj = ISA(set)(dj), over = ISA(set)(VEC_OUT), under = ISA(set)(-VEC_OUT);
    ISA(vd) least = over, most = under;
    ptrdiff_t least_block = 0, most_block = 0;
    for (ptrdiff_t block = 0; block < n; block += VEC_BLOCK) {
        const ISA(bits) up_bits = ISA(mask_of)(up[block / VEC_BLOCK]), low_bits = ISA(mask_of)(low[block / VEC_BLOCK]);
        FETCH_AHEAD(Kj, block, n);
        ISA(vd) lo = least, hi = most;
#pragma GCC unroll 16
        for (int g = 0; g < VEC_BLOCK / LANES; g++) {
            ptrdiff_t t = block + g * LANES;
            ISA(vd) v = ISA(fma)(Di, LOAD(Ki + t), ISA(load_f64)(f + t));
            v = ISA(fma)(Dj, LOAD(Kj + t), v);
            ISA(store)(f + t, v);
            lo = ISA(min)(lo, ISA(pick)(up_bits, g, v, over));
            hi = ISA(max)(hi, ISA(pick)(low_bits, g, v, under));
        }
        if (ISA(any_less)(lo, least)) {
            least = ISA(set)(ISA(least)(lo));
            least_block = block;
        }
        if (ISA(any_less)(most, hi)) {
            most = ISA(set)(ISA(most)(hi));
            most_block = block;
        }
    }
    vec_pair pair = {-1, -1, ISA(least)(least), ISA(most)(most)};
    if (pair.f_i < VEC_OUT) pair.i = first_of(f, up, least_block, pair.f_i);
    if (pair.f_j > -VEC_OUT) pair.j = first_of(f, low, most_block, pair.f_j);
    return pair;
}

static TARGET ptrdiff_t NAME(second_order)(ptrdiff_t n, const double *restrict f, double f_i, double f_j, double K_ii,
                                           const T *restrict Ki, const double *restrict diagonal, double floor,
                                           const uint64_t *restrict low)
{
    const ISA(vd) F_i = ISA(set)(f_i), scale = ISA(set)(1 / (f_j - f_i)), zero = ISA(set)(0);
    const ISA(vd) two = ISA(set)(2), Floor = ISA(set)(floor), K = ISA(set)(K_ii);
    const ISA(vd) unit = ISA(set)(VEC_MIN_CURVATURE / floor);
    ISA(vf) num = ISA(setf)(0), den = ISA(setf)(1), at = ISA(setf)(0);
    for (ptrdiff_t block = 0; block < n; block += VEC_BLOCK) {
        const uint64_t word = low[block / VEC_BLOCK];
        FETCH_AHEAD(Ki, block, n);
        if (word == 0) continue;
        const ISA(bits) bits = ISA(mask_of)(word);
#pragma GCC unroll 8
        for (int g = 0; g < VEC_BLOCK / LANES; g += 2) {
            ptrdiff_t t = block + g * LANES, u = t + LANES;
            ISA(vd) a = ISA(pick)(bits, g, ISA(load_f64)(f + t) - F_i, zero);
            ISA(vd) b = ISA(pick)(bits, g + 1, ISA(load_f64)(f + u) - F_i, zero);
            if (!ISA(any_less)(zero, ISA(max)(a, b))) continue;
            a = ISA(max)(a, zero) * scale;
            b = ISA(max)(b, zero) * scale;
            ISA(vd) eta = ISA(max)(K + ISA(load_f64)(diagonal + t) - two * LOAD(Ki + t), Floor) * unit;
            ISA(vd) mu = ISA(max)(K + ISA(load_f64)(diagonal + u) - two * LOAD(Ki + u), Floor) * unit;
            ISA(vf) d = ISA(narrow)(a, b);
            ISA(keep_larger)(&num, &den, &at, d * d, ISA(narrow)(eta, mu), ISA(setf)((float)(t / LANES)));
        }
    }
    float nums[2 * LANES], dens[2 * LANES], ats[2 * LANES];
    ISA(storef)(nums, num);
    ISA(storef)(dens, den);
    ISA(storef)(ats, at);
    return best_of(2 * LANES, nums, dens, ats, LANES);
}

static TARGET ptrdiff_t NAME(update_gain)(ptrdiff_t n, double *restrict f, double d, const T *restrict Ki,
                                          const T *restrict Kr, double level, const double *restrict weight,
                                          const uint64_t *restrict up, const uint64_t *restrict low)
{
    const ISA(vd) D = ISA(set)(d), Level = ISA(set)(level), zero = ISA(set)(0);
    ISA(vd) most = zero;
    ptrdiff_t most_block = -1;
    for (ptrdiff_t block = 0; block < n; block += VEC_BLOCK) {
        const ISA(bits) up_bits = ISA(mask_of)(up[block / VEC_BLOCK]), low_bits = ISA(mask_of)(low[block / VEC_BLOCK]);
        ISA(vd) hi = most;
#pragma GCC unroll 16
        for (int g = 0; g < VEC_BLOCK / LANES; g++) {
            ptrdiff_t t = block + g * LANES;
            ISA(vd) v = ISA(fma)(D, LOAD(Ki + t) - LOAD(Kr + t), ISA(load_f64)(f + t));
            ISA(store)(f + t, v);
            ISA(vd) away = Level - v;
            ISA(vd) grow = ISA(pick)(up_bits, g, ISA(max)(away, zero), zero);
            ISA(vd) shrink = ISA(pick)(low_bits, g, ISA(min)(away, zero), zero);
            away = grow + shrink;
            hi = ISA(max)(hi, away * away * ISA(load_f64)(weight + t));
        }
        if (ISA(any_less)(most, hi)) {
            most = ISA(set)(ISA(most)(hi));
            most_block = block;
        }
    }
    if (most_block < 0) return -1;
    double best = 0;
    ptrdiff_t at = -1;
    for (ptrdiff_t t = most_block; t < most_block + VEC_BLOCK; t++) {
        double away = level - f[t];
        double gain = (away > 0 ? up : low)[t / VEC_BLOCK] >> (t % VEC_BLOCK) & 1 ? away * away * weight[t] : 0;
        if (gain > best) {
            best = gain;
            at = t;
        }
    }
    return at;
}
