/* Four doubles at a time: the vocabulary of _vec_simd.h for AVX2. */
#define ISA(name) name##_avx2
#define TARGET __attribute__((target("avx2,fma")))
#define LANES 4
typedef __m256d ISA(vd);
typedef __m256 ISA(vf);      /* 2 * LANES floats */
typedef __m256i ISA(bits);   /* one word of a bit mask */

INLINE TARGET __m256d ISA(set)(double x) { return _mm256_set1_pd(x); }
INLINE TARGET __m256d ISA(load_f64)(const double *x) { return _mm256_loadu_pd(x); }
INLINE TARGET __m256d ISA(load_f32)(const float *x) { return _mm256_cvtps_pd(_mm_loadu_ps(x)); }
INLINE TARGET void ISA(store)(double *x, __m256d v) { _mm256_storeu_pd(x, v); }
INLINE TARGET __m256d ISA(fma)(__m256d a, __m256d b, __m256d c) { return _mm256_fmadd_pd(a, b, c); }
INLINE TARGET __m256d ISA(min)(__m256d a, __m256d b) { return _mm256_min_pd(a, b); }
INLINE TARGET __m256d ISA(max)(__m256d a, __m256d b) { return _mm256_max_pd(a, b); }
INLINE TARGET int ISA(any_less)(__m256d a, __m256d b)
{
    return _mm256_movemask_pd(_mm256_cmp_pd(a, b, _CMP_LT_OQ));
}
INLINE TARGET double ISA(least)(__m256d x)
{
    __m128d y = _mm_min_pd(_mm256_castpd256_pd128(x), _mm256_extractf128_pd(x, 1));
    return _mm_cvtsd_f64(_mm_min_sd(y, _mm_unpackhi_pd(y, y)));
}
INLINE TARGET double ISA(most)(__m256d x)
{
    __m128d y = _mm_max_pd(_mm256_castpd256_pd128(x), _mm256_extractf128_pd(x, 1));
    return _mm_cvtsd_f64(_mm_max_sd(y, _mm_unpackhi_pd(y, y)));
}
/* A blend looks at the sign bits alone: lane l of group g needs bit 4 g + l of the word shifted to bit 63. */
INLINE TARGET __m256i ISA(mask_of)(uint64_t word)
{
    return _mm256_sllv_epi64(_mm256_set1_epi64x((long long)word), _mm256_set_epi64x(0, 1, 2, 3));
}
/* a at the points of group g whose bit is set, b elsewhere */
INLINE TARGET __m256d ISA(pick)(__m256i bits, int g, __m256d a, __m256d b)
{
    return _mm256_blendv_pd(b, a, _mm256_castsi256_pd(_mm256_slli_epi64(bits, 60 - 4 * g)));
}
INLINE TARGET __m256 ISA(narrow)(__m256d a, __m256d b)
{
    return _mm256_set_m128(_mm256_cvtpd_ps(b), _mm256_cvtpd_ps(a));
}
INLINE TARGET __m256 ISA(setf)(float x) { return _mm256_set1_ps(x); }
INLINE TARGET void ISA(storef)(float *x, __m256 v) { _mm256_storeu_ps(x, v); }
/* (num, den, at) of the larger fraction, lane by lane; dens are positive */
INLINE TARGET void ISA(keep_larger)(__m256 *num, __m256 *den, __m256 *at, __m256 n, __m256 d, __m256 a)
{
    __m256 larger = _mm256_cmp_ps(_mm256_mul_ps(n, *den), _mm256_mul_ps(*num, d), _CMP_GT_OQ);
    *num = _mm256_blendv_ps(*num, n, larger);
    *den = _mm256_blendv_ps(*den, d, larger);
    *at = _mm256_blendv_ps(*at, a, larger);
}
