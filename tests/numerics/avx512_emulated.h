/* The AVX-512 instructions of _vec_avx512.h in plain C, so that its passes can be tested on any x86-64 machine. */
#include <immintrin.h>
#include <math.h>
#include <string.h>

#define EACH(n) for (int k = 0; k < n; k++)
#define EMULATED static inline __attribute__((always_inline, target("avx2,fma")))

EMULATED __m512d e_set1_pd(double x) { __m512d v; EACH(8) v[k] = x; return v; }
EMULATED __m512 e_set1_ps(float x) { __m512 v; EACH(16) v[k] = x; return v; }
EMULATED __m512d e_loadu_pd(const double *x) { __m512d v; memcpy(&v, x, 64); return v; }
EMULATED void e_storeu_pd(double *x, __m512d v) { memcpy(x, &v, 64); }
EMULATED void e_storeu_ps(float *x, __m512 v) { memcpy(x, &v, 64); }
EMULATED __m512d e_cvtps_pd(__m256 x) { __m512d v; EACH(8) v[k] = x[k]; return v; }
EMULATED __m256 e_cvtpd_ps(__m512d x) { __m256 v; EACH(8) v[k] = x[k]; return v; }
EMULATED __m512d e_fmadd_pd(__m512d a, __m512d b, __m512d c) { EACH(8) c[k] = fma(a[k], b[k], c[k]); return c; }
EMULATED __m512 e_mul_ps(__m512 a, __m512 b) { EACH(16) a[k] *= b[k]; return a; }
/* the second operand where they are equal */
EMULATED __m512d e_min_pd(__m512d a, __m512d b) { EACH(8) b[k] = a[k] < b[k] ? a[k] : b[k]; return b; }
EMULATED __m512d e_max_pd(__m512d a, __m512d b) { EACH(8) b[k] = a[k] > b[k] ? a[k] : b[k]; return b; }
EMULATED double e_reduce_min_pd(__m512d v) { double x = v[0]; EACH(8) x = v[k] < x ? v[k] : x; return x; }
EMULATED double e_reduce_max_pd(__m512d v) { double x = v[0]; EACH(8) x = v[k] > x ? v[k] : x; return x; }
/* only these two comparisons are used */
EMULATED __mmask8 e_cmp_pd_mask(__m512d a, __m512d b, int how)
{
    unsigned mask = 0;
    EACH(8) mask |= (unsigned)(how == _CMP_LT_OQ ? a[k] < b[k] : a[k] > b[k]) << k;
    return mask;
}
EMULATED __mmask16 e_cmp_ps_mask(__m512 a, __m512 b, int how)
{
    unsigned mask = 0;
    EACH(16) mask |= (unsigned)(how == _CMP_LT_OQ ? a[k] < b[k] : a[k] > b[k]) << k;
    return mask;
}
/* b where the mask is set */
EMULATED __m512d e_mask_blend_pd(__mmask8 mask, __m512d a, __m512d b)
{
    EACH(8) b[k] = mask >> k & 1 ? b[k] : a[k];
    return b;
}
EMULATED __m512 e_mask_blend_ps(__mmask16 mask, __m512 a, __m512 b)
{
    EACH(16) b[k] = mask >> k & 1 ? b[k] : a[k];
    return b;
}
EMULATED __m512 e_castps256_ps512(__m256 x) { __m512 v = e_set1_ps(0); EACH(8) v[k] = x[k]; return v; }
EMULATED __m512 e_insertf32x8(__m512 v, __m256 x, int half) { EACH(8) v[8 * half + k] = x[k]; return v; }

#define _mm512_set1_pd e_set1_pd
#define _mm512_set1_ps e_set1_ps
#define _mm512_loadu_pd e_loadu_pd
#define _mm512_storeu_pd e_storeu_pd
#define _mm512_storeu_ps e_storeu_ps
#define _mm512_cvtps_pd e_cvtps_pd
#define _mm512_cvtpd_ps e_cvtpd_ps
#define _mm512_fmadd_pd e_fmadd_pd
#define _mm512_mul_ps e_mul_ps
#define _mm512_min_pd e_min_pd
#define _mm512_max_pd e_max_pd
#define _mm512_reduce_min_pd e_reduce_min_pd
#define _mm512_reduce_max_pd e_reduce_max_pd
#undef _mm512_cmp_pd_mask
#define _mm512_cmp_pd_mask e_cmp_pd_mask
#undef _mm512_cmp_ps_mask
#define _mm512_cmp_ps_mask e_cmp_ps_mask
#define _mm512_mask_blend_pd e_mask_blend_pd
#define _mm512_mask_blend_ps e_mask_blend_ps
#define _mm512_castps256_ps512 e_castps256_ps512
#undef _mm512_insertf32x8
#define _mm512_insertf32x8 e_insertf32x8
