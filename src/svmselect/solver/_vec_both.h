/* The passes of one instruction set for both column types; undefines the macros of the instruction set at the end. */
#define T float
#define NAME(name) ISA(name##_f32)
#define LOAD ISA(load_f32)
#include "_vec_simd.h"
#undef T
#undef NAME
#undef LOAD
#define T double
#define NAME(name) ISA(name##_f64)
#define LOAD ISA(load_f64)
#include "_vec_simd.h"
#undef T
#undef NAME
#undef LOAD
#undef ISA
#undef TARGET
#undef LANES
