/* Two doubles at a time: the vocabulary of _vec_simd.h for NEON, which every 64-bit Arm processor has. */
#define ISA(name) name##_neon
#define TARGET
#define LANES 2
typedef float64x2_t ISA(vd);
typedef float32x4_t ISA(vf);   /* 2 * LANES floats */
typedef int64x2_t ISA(bits);   /* one word of a bit mask */

INLINE float64x2_t ISA(set)(double x) { return vdupq_n_f64(x); }
INLINE float64x2_t ISA(load_f64)(const double *x) { return vld1q_f64(x); }
INLINE float64x2_t ISA(load_f32)(const float *x) { return vcvt_f64_f32(vld1_f32(x)); }
INLINE void ISA(store)(double *x, float64x2_t v) { vst1q_f64(x, v); }
INLINE float64x2_t ISA(fma)(float64x2_t a, float64x2_t b, float64x2_t c) { return vfmaq_f64(c, a, b); }
INLINE float64x2_t ISA(min)(float64x2_t a, float64x2_t b) { return vminq_f64(a, b); }
INLINE float64x2_t ISA(max)(float64x2_t a, float64x2_t b) { return vmaxq_f64(a, b); }
INLINE int ISA(any_less)(float64x2_t a, float64x2_t b) { return vmaxvq_u32(vreinterpretq_u32_u64(vcltq_f64(a, b))) != 0; }
INLINE double ISA(least)(float64x2_t x) { return vminvq_f64(x); }
INLINE double ISA(most)(float64x2_t x) { return vmaxvq_f64(x); }
/* Lane l of group g needs bit 2 g + l of the word shifted to bit 63. */
INLINE int64x2_t ISA(mask_of)(uint64_t word)
{
    return vcombine_s64(vcreate_s64(word << 1), vcreate_s64(word));
}
/* a at the points of group g whose bit is set, b elsewhere */
INLINE float64x2_t ISA(pick)(int64x2_t bits, int g, float64x2_t a, float64x2_t b)
{
    return vbslq_f64(vcltzq_s64(vshlq_s64(bits, vdupq_n_s64(62 - 2 * g))), a, b);
}
INLINE float32x4_t ISA(narrow)(float64x2_t a, float64x2_t b) { return vcvt_high_f32_f64(vcvt_f32_f64(a), b); }
INLINE float32x4_t ISA(setf)(float x) { return vdupq_n_f32(x); }
INLINE void ISA(storef)(float *x, float32x4_t v) { vst1q_f32(x, v); }
/* (num, den, at) of the larger fraction, lane by lane; dens are positive */
INLINE void ISA(keep_larger)(float32x4_t *num, float32x4_t *den, float32x4_t *at, float32x4_t n, float32x4_t d,
                             float32x4_t a)
{
    uint32x4_t larger = vcgtq_f32(vmulq_f32(n, *den), vmulq_f32(*num, d));
    *num = vbslq_f32(larger, n, *num);
    *den = vbslq_f32(larger, d, *den);
    *at = vbslq_f32(larger, a, *at);
}
