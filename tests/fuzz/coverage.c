/* Coverage feedback beside gcc's address sanitizer.
 *
 * libFuzzer, inside atheris, and libasan both define these functions, and the preloaded libasan's, which do nothing, would
 * be found first. Loaded before it, this library sends the calls on to libFuzzer (FUZZ_CORE names its file).
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

static void *in_libfuzzer(const char *name)
{
    const char *file = getenv("FUZZ_CORE");
    void *core = file ? dlopen(file, RTLD_NOW | RTLD_NOLOAD) : NULL;
    return core ? dlsym(core, name) : NULL;
}

/* Before libFuzzer is loaded there is nothing to count. */
#define SEND_ON(name, parameters, arguments)          \
    void name parameters                              \
    {                                                 \
        static void (*next) parameters;               \
        if (!next)                                    \
            next = (void (*) parameters)in_libfuzzer(#name); \
        if (next)                                     \
            next arguments;                           \
    }

SEND_ON(__sanitizer_cov_8bit_counters_init, (uint8_t *begin, uint8_t *end), (begin, end))
SEND_ON(__sanitizer_cov_pcs_init, (const uintptr_t *begin, const uintptr_t *end), (begin, end))
SEND_ON(__sanitizer_cov_trace_cmp4, (uint32_t a, uint32_t b), (a, b))
SEND_ON(__sanitizer_cov_trace_cmp8, (uint64_t a, uint64_t b), (a, b))
SEND_ON(__sanitizer_cov_trace_const_cmp4, (uint32_t a, uint32_t b), (a, b))
SEND_ON(__sanitizer_cov_trace_const_cmp8, (uint64_t a, uint64_t b), (a, b))
SEND_ON(__sanitizer_weak_hook_memcmp, (void *caller, const void *a, const void *b, size_t n, int result),
        (caller, a, b, n, result))
