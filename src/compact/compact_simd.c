// Compaction's inner loops: items as large as a real in vector registers, a quarter of it eight bytes at a time.
#include "base/assert.h"
#include "compact/compact.h"
#include "math/simd.h"

#if SAP_REAL_BITS == 32
typedef uint8_t quarter;
#else
typedef uint16_t quarter;
#endif

// A 1 in each byte that is not 0.
INLINE uint64_t set_bytes(uint64_t flags) {
    const uint64_t low = UINT64_C(0x7f7f7f7f7f7f7f7f);
    return (((flags & low) + low) | flags) >> 7 & UINT64_C(0x0101010101010101);
}

static int64_t count_flags(const uint8_t* keep, int64_t count) {
    enum { WORDS = 248 }; // whose bytes can be summed without a carry
    int64_t sum = 0, i = 0;
    while (i + 8 <= count) {
        int64_t words = (count - i) / 8 < WORDS ? (count - i) / 8 : WORDS;
        uint64_t sums = 0;
        for (int64_t w = 0; w < words; w++) {
            uint64_t flags;
            memcpy(&flags, keep + i + 8 * w, 8);
            sums += set_bytes(flags);
        }
        SAP_ASSERT(words <= WORDS);
        for (int b = 0; b < 64; b += 8) sum += (int64_t)(sums >> b & 255);
        i += 8 * words;
    }
    for (; i < count; i++) sum += keep[i] != 0;
    return sum;
}

// One item at a time: written where the next kept one belongs, and staying there if it is kept. There is no branch,
// because it could not be predicted.
INLINE void compact_rest(const unsigned char* items, const uint8_t* keep, unsigned char* out, int64_t kept,
                         const int64_t size) {
    for (int64_t i = 0, moved = 0; moved < kept; moved += keep[i] != 0, i++) {
        unsigned char item[sizeof(real)];
        memcpy(item, items + i * size, (size_t)size);
        memcpy(out + moved * size, item, (size_t)size);
    }
}

#if SAP_SIMD == 1

static void compact_reals(const void* items, const uint8_t* keep, int64_t count, void* out, int64_t kept) {
    (void)count;
    compact_rest(items, keep, out, kept, sizeof(real));
}

#else

INLINE uint64_t load_flags(const uint8_t* keep, int count) {
    uint64_t flags = 0;
    memcpy(&flags, keep, (size_t)count);
    return set_bytes(flags);
}

INLINE uint32_t flag_mask(const uint8_t* keep) {
#if SAP_SIMD == 3 && SAP_REAL_BITS == 32
    __m128i flags = _mm_loadu_si128((const __m128i*)(const void*)keep);
    return _mm_test_epi8_mask(flags, flags);
#else
    // The product brings bit 8i to bit 56 + i.
    return (uint32_t)(load_flags(keep, LANES) * UINT64_C(0x0102040810204080) >> 56);
#endif
}

static void compact_reals(const void* items, const uint8_t* keep, int64_t count, void* out, int64_t kept) {
    const real* from = items;
    real *to = out, *end = to + kept;
    const uint8_t* last = keep + count;
    for (; end - to >= LANES && last - keep >= LANES; from += LANES, keep += LANES) {
        uint32_t mask = flag_mask(keep);
        v_store_kept(to, mask, v_load(from));
        to += count_bits(mask);
    }
    for (; to < end && last - keep >= LANES; from += LANES, keep += LANES) { // a whole register is too much by now
        uint32_t mask = flag_mask(keep);
        v_store_part(to, v_compress(mask, v_load(from)), count_bits(mask));
        to += count_bits(mask);
    }
    SAP_ASSERT(to <= end && keep <= last);
    compact_rest((const unsigned char*)from, keep, (unsigned char*)to, end - to, sizeof(real));
}

#endif

static void compact_quarters(const void* items, const uint8_t* keep, int64_t count, void* out, int64_t kept) {
    const unsigned char* from = items;
    unsigned char *to = out, *end = to + (size_t)kept * sizeof(quarter);
#if SAP_SIMD > 1
    enum { QUARTERS = 8 / sizeof(quarter) };
    const uint8_t* last = keep + count;
    for (; end - to >= 8 && last - keep >= QUARTERS; from += 8, keep += QUARTERS) {
        uint64_t flags = load_flags(keep, QUARTERS), eight;
        memcpy(&eight, from, sizeof eight);
        uint64_t mask = QUARTERS == 8 ? flags * 255 : _pdep_u64(flags, UINT64_C(0x00ff00ff00ff00ff)) * 65535;
        eight = _pext_u64(eight, mask);
        memcpy(to, &eight, sizeof eight);
        to += (size_t)__builtin_popcountll(flags) * sizeof(quarter);
    }
#else
    (void)count;
#endif
    SAP_ASSERT(to <= end);
    compact_rest(from, keep, to, (end - to) / (int64_t)sizeof(quarter), sizeof(quarter));
}

#define FLAG_CHANGES(name, type)                                                                                       \
    static void name(const void* items, int64_t count, uint8_t* flags) {                                               \
        const unsigned char* at = items;                                                                               \
        for (int64_t i = 1; i < count; i++) {                                                                          \
            type before, self;                                                                                         \
            memcpy(&before, at + (i - 1) * (int64_t)sizeof before, sizeof before);                                     \
            memcpy(&self, at + i * (int64_t)sizeof self, sizeof self);                                                 \
            flags[i] = before != self;                                                                                 \
        }                                                                                                              \
    }
FLAG_CHANGES(flag_reals, real_word)
FLAG_CHANGES(flag_quarters, quarter)

const sap_compact_kernels SAP_KERNEL(compact_kernels) = {count_flags, compact_reals, compact_quarters, flag_reals,
                                                         flag_quarters};
