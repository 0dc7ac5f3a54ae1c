/* Eight doubles at a time: the vocabulary of _vec_simd.h for AVX-512. */
#define ISA(name) name##_avx512
#define TARGET __attribute__((target("avx512f,avx512dq")))
#define LANES 8
typedef __m512d ISA(vd);
typedef __m512 ISA(vf);      /* 2 * LANES floats */
typedef uint64_t ISA(bits);  /* one word of a bit mask */

INLINE TARGET __m512d ISA(set)(double x) { return _mm512_set1_pd(x); }
INLINE TARGET __m512d ISA(load_f64)(const double *x) { return _mm512_loadu_pd(x); }
INLINE TARGET __m512d ISA(load_f32)(const float *x) { return _mm512_cvtps_pd(_mm256_loadu_ps(x)); }
INLINE TARGET void ISA(store)(double *x, __m512d v) { _mm512_storeu_pd(x, v); }
INLINE TARGET __m512d ISA(fma)(__m512d a, __m512d b, __m512d c) { return _mm512_fmadd_pd(a, b, c); }
INLINE TARGET __m512d ISA(min)(__m512d a, __m512d b) { return _mm512_min_pd(a, b); }
INLINE TARGET __m512d ISA(max)(__m512d a, __m512d b) { return _mm512_max_pd(a, b); }
INLINE TARGET int ISA(any_less)(__m512d a, __m512d b) { return _mm512_cmp_pd_mask(a, b, _CMP_LT_OQ); }
INLINE TARGET double ISA(least)(__m512d x) { return _mm512_reduce_min_pd(x); }
INLINE TARGET double ISA(most)(__m512d x) { return _mm512_reduce_max_pd(x); }
INLINE TARGET uint64_t ISA(mask_of)(uint64_t word) { return word; }
/* a at the points of group g whose bit is set, b elsewhere */
INLINE TARGET __m512d ISA(pick)(uint64_t bits, int g, __m512d a, __m512d b)
{
    return _mm512_mask_blend_pd((__mmask8)(bits >> (8 * g)), b, a);
}
INLINE TARGET __m512 ISA(narrow)(__m512d a, __m512d b)
{
    return _mm512_insertf32x8(_mm512_castps256_ps512(_mm512_cvtpd_ps(a)), _mm512_cvtpd_ps(b), 1);
}
INLINE TARGET __m512 ISA(setf)(float x) { return _mm512_set1_ps(x); }
INLINE TARGET void ISA(storef)(float *x, __m512 v) { _mm512_storeu_ps(x, v); }
/* (num, den, at) of the larger fraction, lane by lane; dens are positive */
INLINE TARGET void ISA(keep_larger)(__m512 *num, __m512 *den, __m512 *at, __m512 n, __m512 d, __m512 a)
{
    __mmask16 larger = _mm512_cmp_ps_mask(_mm512_mul_ps(n, *den), _mm512_mul_ps(*num, d), _CMP_GT_OQ);
    *num = _mm512_mask_blend_ps(larger, *num, n);
    *den = _mm512_mask_blend_ps(larger, *den, d);
    *at = _mm512_mask_blend_ps(larger, *at, a);
}
