// Which rows are the first of their kind: rows go into buckets by hash, and each bucket through a small hash table. A
// bucket whose table takes too many probes is sorted instead, so the worst case is O(n log n) whatever the points.
//
// Rows are compared by their bits, minus zero counting as zero, so that the build still sees rows that are not finite.
#include "base/team.h"
#include "tree/layout.h"
#include <string.h>

enum { BUCKET_POINTS = 1024, MOST_BUCKET_BITS = 12, PROBES_A_ROW = 8 };

// A row in its bucket; `tag` is the half of its hash that did not choose the bucket.
typedef struct entry {
    uint32_t tag;
    int32_t row;
} entry;

typedef struct search {
    const sap_rows* rows;
    entry* entries;  // [count], bucket by bucket, rows ascending
    int32_t* table;  // [2*count], of which a bucket of m entries has 2m
    int64_t* starts; // [threads][buckets] while counting; then [buckets+1]
    int32_t* keep;   // [count]: 1 for the first of its kind
    int32_t bits, threads;
} search;

static uint64_t word_of(const sap_rows* rows, int64_t row, int32_t axis) {
    int64_t at = row * rows->stride + axis;
    if (rows->real_bits == 64) {
        uint64_t word;
        memcpy(&word, (const double*)rows->coords + at, sizeof word);
        return word == (uint64_t)1 << 63 ? 0 : word;
    }
    uint32_t word;
    memcpy(&word, (const float*)rows->coords + at, sizeof word);
    return word == (uint32_t)1 << 31 ? 0 : word;
}

static uint64_t hash_of(const sap_rows* rows, int64_t row) {
    uint64_t hash = 0;
    for (int32_t a = 0; a < rows->dims; a++) {
        hash = (hash ^ word_of(rows, row, a)) * UINT64_C(0x9E3779B97F4A7C15);
        hash ^= hash >> 32;
    }
    hash *= UINT64_C(0xD6E8FEB86659FD93);
    return hash ^ hash >> 32;
}

// Below zero, zero or above as row i comes before row j, is equal to it, or comes after.
static int compare_rows(const sap_rows* rows, int32_t i, int32_t j) {
    for (int32_t a = 0; a < rows->dims; a++) {
        uint64_t x = word_of(rows, i, a), y = word_of(rows, j, a);
        if (x != y) return x < y ? -1 : 1;
    }
    return 0;
}

static bool comes_before(const sap_rows* rows, entry a, entry b) {
    int order = compare_rows(rows, a.row, b.row);
    return order ? order < 0 : a.row < b.row;
}

static void sift_down(const sap_rows* rows, entry* heap, int64_t at, int64_t count) {
    entry moved = heap[at];
    for (int64_t child = 2 * at + 1; child < count; child = 2 * at + 1) {
        if (child + 1 < count && comes_before(rows, heap[child], heap[child + 1])) child++;
        if (!comes_before(rows, moved, heap[child])) break;
        heap[at] = heap[child];
        at = child;
    }
    heap[at] = moved;
}

// Heap sort, then the first of each run of equal rows.
static void search_sorted(const search* s, entry* entries, int64_t count) {
    for (int64_t i = count / 2 - 1; i >= 0; i--) sift_down(s->rows, entries, i, count);
    for (int64_t end = count - 1; end > 0; end--) {
        entry last = entries[end];
        entries[end] = entries[0];
        entries[0] = last;
        sift_down(s->rows, entries, 0, end);
    }
    for (int64_t i = 0; i < count; i++)
        s->keep[entries[i].row] = i == 0 || compare_rows(s->rows, entries[i - 1].row, entries[i].row) != 0;
}

// Puts a bucket through its table. False if that took too many probes.
static bool search_table(const search* s, const entry* entries, int64_t count, int32_t* table) {
    uint64_t size = 2 * (uint64_t)count;
    int64_t probes = PROBES_A_ROW * (count + SAP_GROUP);
    memset(table, 0, (size_t)size * sizeof *table);
    for (int64_t i = 0; i < count; i++) {
        uint64_t at = entries[i].tag * size >> 32;
        bool met = false;
        for (; table[at] && !met; at = at + 1 < size ? at + 1 : 0) {
            SAP_ASSERT(table[at] <= i);
            const entry* other = &entries[table[at] - 1];
            met = other->tag == entries[i].tag && compare_rows(s->rows, other->row, entries[i].row) == 0;
            if (!met && probes-- == 0) return false;
        }
        s->keep[entries[i].row] = !met;
        if (!met) table[at] = (int32_t)(i + 1);
    }
    return true;
}

static void search_bucket(void* context, int64_t bucket, int32_t worker) {
    const search* s = context;
    (void)worker;
    int64_t begin = s->starts[bucket], count = s->starts[bucket + 1] - begin;
    SAP_ASSERT(count >= 0 && begin + count <= s->rows->count);
    if (!search_table(s, s->entries + begin, count, s->table + 2 * begin)) search_sorted(s, s->entries + begin, count);
}

static int64_t bucket_of(const search* s, uint64_t hash) { return (int64_t)(hash >> 32 >> (32 - s->bits)); }

static int64_t chunk_start(const search* s, int32_t chunk) { return s->rows->count * chunk / s->threads; }

static void count_chunk(void* context, int64_t chunk, int32_t worker) {
    const search* s = context;
    int64_t* counts = s->starts + ((int64_t)chunk << s->bits);
    const int64_t end = chunk_start(s, (int32_t)chunk + 1);
    (void)worker;
    for (int64_t i = chunk_start(s, (int32_t)chunk); i < end; i++) counts[bucket_of(s, hash_of(s->rows, i))]++;
}

static void fill_chunk(void* context, int64_t chunk, int32_t worker) {
    const search* s = context;
    int64_t* next = s->starts + ((int64_t)chunk << s->bits);
    const int64_t end = chunk_start(s, (int32_t)chunk + 1);
    (void)worker;
    for (int64_t i = chunk_start(s, (int32_t)chunk); i < end; i++) {
        const uint64_t hash = hash_of(s->rows, i);
        s->entries[next[bucket_of(s, hash)]++] = (entry){(uint32_t)hash, (int32_t)i};
    }
}

// Sorts the rows into buckets, stably.
static void fill_buckets(search* s) {
    int64_t buckets = (int64_t)1 << s->bits, sum = 0;
    memset(s->starts, 0, (size_t)(buckets * s->threads) * sizeof *s->starts);
    sap_team_run(s->threads, s->threads, count_chunk, s);
    for (int64_t b = 0; b < buckets; b++)
        for (int32_t c = 0; c < s->threads; c++) {
            int64_t here = s->starts[c * buckets + b];
            s->starts[c * buckets + b] = sum;
            sum += here;
        }
    SAP_ASSERT(sum == s->rows->count);
    sap_team_run(s->threads, s->threads, fill_chunk, s);
    // The last chunk's cursors have reached the ends of the buckets.
    const int64_t* ends = s->starts + (s->threads - 1) * buckets;
    memmove(s->starts + 1, ends, (size_t)buckets * sizeof *ends);
    s->starts[0] = 0;
    SAP_ASSERT(s->starts[buckets] == s->rows->count);
}

sap_status sap_duplicates_cpu(sap_device* device, const sap_rows* rows, int32_t* keep, int64_t* kept) {
    int64_t count = rows->count;
    search s = {.rows = rows, .keep = keep, .threads = device->options.threads};
    while (s.bits < MOST_BUCKET_BITS && count >> s.bits > BUCKET_POINTS) s.bits++;
    if (s.threads > 1 && count / s.threads < BUCKET_POINTS) s.threads = 1;
    size_t entry_bytes = sap_align((size_t)count * sizeof(entry)), table_bytes = sap_align((size_t)count * 8);
    size_t start_bytes = (((size_t)s.threads << s.bits) + 1) * sizeof(int64_t);
    sap_scratch scratch;
    if (!sap_scratch_take(device, entry_bytes + table_bytes + start_bytes, &scratch))
        return sap_fail(device, SAP_ERROR_MEMORY, "no memory to find duplicates of %lld points", (long long)count);
    s.entries = (entry*)(void*)scratch.memory;
    s.table = (int32_t*)(void*)(scratch.memory + entry_bytes);
    s.starts = (int64_t*)(void*)(scratch.memory + entry_bytes + table_bytes);
    fill_buckets(&s);
    sap_team_run(s.threads, (int64_t)1 << s.bits, search_bucket, &s);
    int64_t found = 0;
    for (int64_t i = 0; i < count; i++) {
        bool first = keep[i];
        keep[found] = (int32_t)i;
        found += first;
    }
    SAP_ASSERT(found > 0 || count == 0);
    *kept = found;
    sap_scratch_give(device, &scratch);
    return SAP_OK;
}
