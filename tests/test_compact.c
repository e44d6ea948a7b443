// Compaction and the removal of equal neighbours: every item size, alignment and place, against one loop.
#include "allocator.h"
#include "cases.h"
#include "sapwood/stream.h"
#include "test.h"

enum { GUARD = 64, SHARED_BYTES = CASE_STEP > 1 ? 500000 : 3000000 };

static uint64_t state = 1;

static uint32_t draw(uint32_t below) {
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)((state >> 32) * below >> 32);
}

typedef enum pattern { NONE, ALL, TENTH, HALF, MOST, FIRST, LAST, BLOCKS, PATTERNS } pattern;

static uint8_t flag_of(pattern p, int64_t i, int64_t count) {
    bool is_kept = false;
    switch (p) {
    case NONE: break;
    case ALL: is_kept = true; break;
    case TENTH: is_kept = draw(10) == 0; break;
    case HALF: is_kept = draw(2) == 0; break;
    case MOST: is_kept = draw(10) != 0; break;
    case FIRST: is_kept = i == 0; break;
    case LAST: is_kept = i == count - 1; break;
    case BLOCKS: is_kept = i / 700 % 2 == 0; break;
    case PATTERNS: break;
    }
    return (uint8_t)(is_kept ? 1 + draw(255) : 0); // any number but 0 keeps
}

typedef struct sample {
    size_t item_bytes;
    int64_t count;
    pattern keeps;
    bool unique, in_place;
    int items_shift, keep_shift, out_shift; // from an aligned address
} sample;

// Arrays that end where their memory ends, so that sanitizers see who reads beyond them.
typedef struct arrays {
    unsigned char *items, *keep, *out, *expected, *free_items, *free_keep, *free_out;
    int64_t kept;
} arrays;

static unsigned char* shifted(int shift, size_t bytes, unsigned char** to_free) {
    *to_free = malloc((size_t)shift + bytes + 1);
    return *to_free ? *to_free + shift : NULL;
}

// With flags, random bytes; without, random items in runs, since what is kept then follows from the items.
static void fill(const sample* s, arrays* a) {
    size_t bytes = (size_t)s->count * s->item_bytes;
    for (size_t i = 0; i < bytes; i += 4) {
        uint32_t four = draw(UINT32_MAX);
        memcpy(a->items + i, &four, bytes - i < 4 ? bytes - i : 4);
    }
    for (int64_t i = 0; i < s->count; i++) a->keep[i] = flag_of(s->keeps, i, s->count);
    for (int64_t i = 1; s->unique && i < s->count; i++) {
        unsigned char* item = a->items + (size_t)i * s->item_bytes;
        if (!a->keep[i]) memcpy(item, item - s->item_bytes, s->item_bytes);
    }
}

// The oracle.
static void expect(const sample* s, arrays* a) {
    size_t size = s->item_bytes;
    a->kept = 0;
    for (int64_t i = 0; i < s->count; i++) {
        const unsigned char* item = a->items + (size_t)i * size;
        bool is_kept = s->unique ? i == 0 || memcmp(item - size, item, size) != 0 : a->keep[i] != 0;
        if (is_kept) memcpy(a->expected + (size_t)a->kept++ * size, item, size);
    }
}

static bool make_arrays(const sample* s, arrays* a) {
    size_t bytes = (size_t)s->count * s->item_bytes;
    a->items = shifted(s->items_shift, bytes, &a->free_items);
    a->keep = shifted(s->keep_shift, (size_t)s->count, &a->free_keep);
    a->expected = malloc(bytes + 1);
    a->free_out = NULL;
    if (!CHECK(a->items && a->keep && a->expected)) return false;
    fill(s, a);
    expect(s, a);
    a->out = a->items;
    if (s->in_place) return true;
    size_t room = (size_t)a->kept * s->item_bytes;
    a->out = shifted(s->out_shift, room + GUARD, &a->free_out);
    if (!CHECK(a->out)) return false;
    memset(a->out, 0xa5, room + GUARD);
    return true;
}

static void free_arrays(arrays* a) {
    free(a->free_items);
    free(a->free_keep);
    free(a->free_out);
    free(a->expected);
}

static sap_status call(sap_device* device, const sample* s, const arrays* a, int64_t* out_count) {
    return s->unique ? sap_unique(device, a->items, s->count, s->item_bytes, a->out, out_count)
                     : sap_compact(device, a->items, s->count, s->item_bytes, a->keep, a->out, out_count);
}

static void check_sample(sap_device* device, const sample* s) {
    NOTE("%lld items of %zu bytes, pattern %d, %s%s, shifts %d %d %d", (long long)s->count, s->item_bytes,
         (int)s->keeps, s->unique ? "unique" : "compact", s->in_place ? " in place" : "", s->items_shift, s->keep_shift,
         s->out_shift);
    arrays a;
    int64_t kept = -1;
    if (make_arrays(s, &a)) {
        CHECK_STATUS(call(device, s, &a, &kept), SAP_OK);
        CHECK_EQUAL(kept, a.kept);
        CHECK(!memcmp(a.out, a.expected, (size_t)a.kept * s->item_bytes));
        const unsigned char* guard = a.out + (size_t)a.kept * s->item_bytes;
        for (int i = 0; i < GUARD && !s->in_place; i++) CHECK_EQUAL(guard[i], 0xa5);
    }
    free_arrays(&a);
}

// All patterns, both functions, in place and not, at addresses drawn by lot or at aligned ones.
static void check_size(devices* all, size_t item_bytes, int64_t count, bool aligned) {
    for (int d = 0; d < all->count; d++) {
        for (int kind = 0; kind < 4 * PATTERNS; kind++) {
            sample s = {.item_bytes = item_bytes,
                        .count = count,
                        .keeps = (pattern)(kind / 4),
                        .unique = kind & 1,
                        .in_place = kind & 2};
            if (!aligned) {
                s.items_shift = (int)draw(16);
                s.keep_shift = (int)draw(16);
                s.out_shift = (int)draw(16);
            }
            check_sample(all->open[d], &s);
        }
    }
}

TEST(small_counts) {
    static const int64_t counts[] = {0, 1, 2, 3, 15, 16, 17, 31, 32, 33, 100};
    devices all = devices_open(1);
    for (size_t size = 1; size <= 41; size++)
        for (size_t c = 0; c < sizeof counts / sizeof *counts; c++)
            if (CASE_STEP <= 23 || (size + c) % 7 == 0) check_size(&all, size <= 40 ? size : 100, counts[c], c % 2);
    devices_close(&all);
}

// Around the ends of the parts into which processors divide an array.
TEST(several_parts) {
    static const struct {
        size_t item_bytes;
        int64_t part;
    } sizes[] = {{1, 32768}, {2, 16384}, {4, 8192}, {8, 4096},  {16, 2048}, {3, 7680},
                 {12, 2720}, {20, 1632}, {64, 512}, {100, 320}, {1000, 32}, {40000, 1}};
    devices all = devices_open(1);
    for (size_t i = 0; i<sizeof sizes / sizeof *sizes; i += CASE_STEP> 23 ? 2 : 1) {
        for (int more = -1; more <= 1; more++) check_size(&all, sizes[i].item_bytes, sizes[i].part + more, true);
        check_size(&all, sizes[i].item_bytes, 3 * sizes[i].part + 1, false);
    }
    devices_close(&all);
}

// Enough for several waves of several threads, more than once: what goes wrong among threads does not always.
TEST(threads_share) {
    static const size_t sizes[] = {1, 2, 4, 5, 8, 12, 16, 200, 70000};
    for (int32_t threads = 2; threads <= 5; threads += 3) {
        devices all = devices_open(threads);
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
            for (int kind = 0; kind < 4; kind++) {
                sample s = {.item_bytes = sizes[i],
                            .count = (int64_t)(SHARED_BYTES / (sizes[i] + 1)),
                            .keeps = sizes[i] % 2 ? MOST : HALF,
                            .unique = kind & 1,
                            .in_place = kind & 2};
                for (int d = 0; d < all.count; d++) check_sample(all.open[d], &s);
            }
        }
        devices_close(&all);
    }
}

// Whatever out holds beyond the items it is given stays; so out may lie right ahead of items, and even run into them.
TEST(out_ahead_of_items) {
    enum { COUNT = 300000, AHEAD = 40 };
    devices all = devices_open(3);
    uint32_t* memory = malloc((AHEAD + COUNT) * sizeof *memory);
    uint8_t* keep = malloc(COUNT);
    for (int d = 0; d < all.count && CHECK(memory && keep); d++) {
        int64_t kept = 0, expected = 0;
        for (uint32_t i = 0; i < COUNT; i++) memory[AHEAD + i] = i;
        for (int64_t i = 0; i < COUNT; i++) keep[i] = draw(3) != 0;
        CHECK_STATUS(sap_compact(all.open[d], memory + AHEAD, COUNT, 4, keep, memory, &kept), SAP_OK);
        for (uint32_t i = 0; i < COUNT; i++)
            if (keep[i] && !CHECK_EQUAL(memory[expected++], i)) break;
        CHECK_EQUAL(kept, expected);
    }
    free(memory);
    free(keep);
    devices_close(&all);
}

// ---- Bad input

typedef struct bad {
    const char* names; // what the log has to say
    sap_status status;
    const void* items;
    int64_t count;
    size_t item_bytes;
    const uint8_t* keep;
    void* out;
    int64_t* out_count;
} bad;

static void check_bad(watch* w, sap_device* device, const bad* b, const void* outputs, size_t bytes) {
    unsigned char before[1024];
    memcpy(before, outputs, bytes);
    for (int unique = 0; unique < 2; unique++) {
        if (strstr(b->names, unique ? "keep" : "ahead")) continue;
        NOTE("%s%s", b->names, unique ? ", unique" : "");
        w->log_calls = 0;
        CHECK_STATUS(unique ? sap_unique(device, b->items, b->count, b->item_bytes, b->out, b->out_count)
                            : sap_compact(device, b->items, b->count, b->item_bytes, b->keep, b->out, b->out_count),
                     b->status);
        CHECK_EQUAL(w->log_calls, 1);
        CHECK_EQUAL(w->logged, b->status);
        const char* colon = strchr(w->sentence, ':');
        CHECK(colon && !strncmp(w->sentence, b->names, strcspn(b->names, " ")) && strstr(w->sentence, b->names));
        CHECK(!memcmp(before, outputs, bytes));
    }
}

TEST(arguments) {
    static struct {
        unsigned char items[400], out[400];
        uint8_t keep[100];
        int64_t out_count;
    } m;
    memset(&m, 0x77, sizeof m);
    const bad cases[] = {
        {"out_count", SAP_ERROR_ARGUMENT, m.items, 100, 4, m.keep, m.out, NULL},
        {"out_count", SAP_ERROR_ARGUMENT, NULL, 0, 4, NULL, NULL, NULL},
        {"count", SAP_ERROR_ARGUMENT, m.items, -1, 4, m.keep, m.out, &m.out_count},
        {"item_bytes", SAP_ERROR_ARGUMENT, m.items, 100, 0, m.keep, m.out, &m.out_count},
        {"item_bytes", SAP_ERROR_ARGUMENT, NULL, 0, 0, NULL, NULL, &m.out_count},
        {"items", SAP_ERROR_ARGUMENT, NULL, 100, 4, m.keep, m.out, &m.out_count},
        {"keep", SAP_ERROR_ARGUMENT, m.items, 100, 4, NULL, m.out, &m.out_count},
        {"out: is NULL", SAP_ERROR_ARGUMENT, m.items, 100, 4, m.keep, NULL, &m.out_count},
        {"count", SAP_ERROR_RANGE, m.items, INT64_MAX / 4 + 1, 4, m.keep, m.out, &m.out_count},
        {"count", SAP_ERROR_RANGE, m.items, 3, SIZE_MAX / 2, m.keep, m.out, &m.out_count},
        {"out: begins within items", SAP_ERROR_ARGUMENT, m.items, 100, 4, m.keep, m.items + 1, &m.out_count},
        {"out: begins within items", SAP_ERROR_ARGUMENT, m.items, 100, 4, m.keep, m.items + 399, &m.out_count},
        {"out: begins less than an item ahead", SAP_ERROR_ARGUMENT, m.items + 3, 99, 4, m.keep, m.items, &m.out_count},
        {"out: begins within keep", SAP_ERROR_ARGUMENT, m.items, 100, 1, m.keep, m.keep, &m.out_count},
        {"out: begins within keep", SAP_ERROR_ARGUMENT, m.items, 100, 1, m.keep, m.keep + 99, &m.out_count},
        {"out: is items, in which keep", SAP_ERROR_ARGUMENT, m.items, 100, 4, m.items + 300, m.items, &m.out_count}};
    watch w = {0};
    sap_device_options options = watched(&w);
    sap_device* device = NULL;
    CHECK_STATUS(sap_device_open(&options, &device), SAP_OK);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) check_bad(&w, device, &cases[i], &m, sizeof m);
    CHECK_STATUS(sap_compact(NULL, m.items, 100, 4, m.keep, m.out, &m.out_count), SAP_ERROR_ARGUMENT);
    CHECK_STATUS(sap_unique(NULL, m.items, 100, 4, m.out, &m.out_count), SAP_ERROR_ARGUMENT);
    NOTE("%s", "nothing to do");
    w.log_calls = 0;
    CHECK_STATUS(sap_compact(device, NULL, 0, 4, NULL, NULL, &m.out_count), SAP_OK);
    CHECK_EQUAL(m.out_count, 0);
    m.out_count = -1;
    CHECK_STATUS(sap_unique(device, NULL, 0, SIZE_MAX, NULL, &m.out_count), SAP_OK);
    CHECK_EQUAL(m.out_count, 0);
    CHECK_EQUAL(w.log_calls, 0);
    sap_device_close(device);
    CHECK_EQUAL(w.blocks, 0);
}

// ---- Refused memory

static void refuse_each(watch* w, sap_device* device, const sample* s) {
    arrays a;
    bool is_made = make_arrays(s, &a);
    for (int64_t n = 1; is_made && n < 100; n++) {
        NOTE("kind %d%d, request %d refused", s->unique, s->in_place, (int)n);
        sap_device_trim(device);
        w->requests = 0;
        w->fail_from = n;
        w->log_calls = 0;
        int64_t kept = -1, blocks = w->blocks;
        unsigned char first = a.out[0];
        sap_status status = call(device, s, &a, &kept);
        w->fail_from = 0;
        if (w->requests < n) {
            CHECK_STATUS(status, SAP_OK);
            CHECK(n > 1);
            CHECK_EQUAL(kept, a.kept);
            CHECK(!memcmp(a.out, a.expected, (size_t)kept * s->item_bytes));
            w->requests = 0; // a warm device has all that it needs
            if (!s->in_place) CHECK_STATUS(call(device, s, &a, &kept), SAP_OK);
            CHECK_EQUAL(w->requests, 0);
            break;
        }
        CHECK_STATUS(status, SAP_ERROR_MEMORY);
        CHECK_EQUAL(w->log_calls, 1);
        CHECK_EQUAL(w->blocks, blocks);
        CHECK_EQUAL(kept, -1);
        CHECK_EQUAL(a.out[0], first);
    }
    free_arrays(&a);
}

TEST(refused_memory) {
    watch w = {0};
    sap_device_options options = watched(&w);
    options.threads = 2;
    sap_device* device = NULL;
    CHECK_STATUS(sap_device_open(&options, &device), SAP_OK);
    for (int kind = 0; kind < 4; kind++) {
        sample s = {.item_bytes = 4, .count = 200000, .keeps = HALF, .unique = kind & 1, .in_place = kind & 2};
        refuse_each(&w, device, &s);
    }
    sap_device_close(device);
    CHECK_EQUAL(w.blocks, 0);
    CHECK_EQUAL(w.bytes, 0);
    CHECK_EQUAL(w.wrong, 0);
}

// ---- Large arrays. Most of their memory stays as it came, all zero, and so is never really there.

// Whether a device is one of those that this test is for: it would take too long on a GPU that is none.
static bool is_fast(const sap_device* device) {
    sap_device_info info;
    return !TEST_SANITIZED && sap_device_describe(device, &info) == SAP_OK && !strstr(info.name, "CPU");
}

// Of several devices the last: on a CPU that with the widest vectors.
static sap_device* last_of(const devices* all) { return all->open[all->count - 1]; }

TEST(beyond_31_bits_of_bytes) {
    enum { COUNT = (1 << 27) + 5, KEPT = 7 };
    static const int64_t wanted[KEPT] = {0, 1, 70000, (1 << 26) - 1, (1 << 26) + 3, (1 << 27) - 1, COUNT - 1};
    devices all = devices_open(2);
    uint64_t(*items)[2] = calloc(COUNT, sizeof *items);
    uint8_t* keep = calloc(COUNT, 1);
    bool can = items && keep && is_fast(last_of(&all));
    if (can) {
        uint64_t out[KEPT][2];
        int64_t kept = 0;
        for (int i = 0; i < KEPT; i++) {
            keep[wanted[i]] = 1;
            items[wanted[i]][1] = (uint64_t)i + 1;
        }
        CHECK_STATUS(sap_compact(last_of(&all), items, COUNT, sizeof *items, keep, out, &kept), SAP_OK);
        CHECK_EQUAL(kept, KEPT);
        for (int i = 0; i < KEPT; i++) CHECK(out[i][0] == 0 && out[i][1] == (uint64_t)i + 1);
    }
    free(items);
    free(keep);
    devices_close(&all);
    if (!can) SKIP("it takes 2.3 GB of addresses, a build without sanitizers and a real device");
}

TEST(beyond_32_bits_of_items) {
    enum { KEPT = 7 };
    static const uint8_t expected[KEPT] = {0, 1, 0, 7, 8, 0, 9};
    const int64_t many = INT64_C(1) << 32, count = many + 70000;
    devices all = devices_open(2);
    uint8_t* items = (uint64_t)count <= SIZE_MAX ? calloc((size_t)count, 1) : NULL;
    bool can = items && is_fast(last_of(&all));
    if (can) {
        uint8_t out[KEPT];
        int64_t kept = 0;
        items[1] = 1;
        items[(size_t)(many - 1)] = 7;
        items[(size_t)many] = 8;
        items[(size_t)(count - 1)] = 9;
        CHECK_STATUS(sap_unique(last_of(&all), items, count, 1, out, &kept), SAP_OK);
        CHECK_EQUAL(kept, KEPT);
        CHECK(!memcmp(out, expected, KEPT));
    }
    free(items);
    devices_close(&all);
    if (!can) SKIP("it takes 4.3 GB of addresses, a build without sanitizers and a real device");
}

TEST_MAIN()
