// Threads of one process as ranks. A rank shows the others where its buffers are, waits until all have done so, copies
// what is for it, and waits until all have copied.
#include "base/assert.h"
#include "cluster/comm.h"
#include "cluster/ops.h"
#include <string.h>

#if defined(SAP_HAVE_THREADS)
#include <pthread.h>
#endif

enum { MOST_RANKS = 1024 };

typedef struct group group;

// What a rank shows the others.
typedef struct member {
    group* group;
    int32_t rank;
    const void* send;
    const int64_t* bytes;
    uint64_t* values;
    int32_t color, key;
    group* made;       // by the first rank of a color
    sap_status status; // of making it
} member;

// One block of memory: the group, its members, their handles.
struct group {
#if defined(SAP_HAVE_THREADS)
    pthread_mutex_t lock;
    pthread_cond_t met;
#endif
    int32_t size, open; // handles that are not closed
    int32_t arrived;    // ranks that wait
    uint64_t meetings;  // that were; read while spinning, too
    sap_status failed;
    sap_allocator allocator;
    size_t bytes;
    sap_comm* comms;
    member members[];
};

#if defined(SAP_HAVE_THREADS)
static bool open_lock(group* g) {
    if (pthread_mutex_init(&g->lock, NULL)) return false;
    if (!pthread_cond_init(&g->met, NULL)) return true;
    pthread_mutex_destroy(&g->lock);
    return false;
}
static void close_lock(group* g) {
    pthread_cond_destroy(&g->met);
    pthread_mutex_destroy(&g->lock);
}
static void lock(group* g) { pthread_mutex_lock(&g->lock); }
static void unlock(group* g) { pthread_mutex_unlock(&g->lock); }
static void wait_for_others(group* g) { pthread_cond_wait(&g->met, &g->lock); }
static void wake_others(group* g) { pthread_cond_broadcast(&g->met); }
#else // one rank, which waits for nobody
static bool open_lock(group* g) { return g->size == 1; }
static void close_lock(group* g) { (void)g; }
static void lock(group* g) { (void)g; }
static void unlock(group* g) { (void)g; }
static void wait_for_others(group* g) { (void)g; }
static void wake_others(group* g) { (void)g; }
#endif

// Ranks on devices meet often and have little else to do: for a while they look rather than sleep.
static void spin(const group* g, uint64_t meeting) {
    enum { LOOKS = 2000 };
    for (int i = 0; i < LOOKS && __atomic_load_n(&g->meetings, __ATOMIC_ACQUIRE) == meeting; i++) {
#if defined(__x86_64__) || defined(__i386__)
        __builtin_ia32_pause();
#endif
    }
}

// Waits until all ranks are here. Whoever shows buffers may be called away by a failure; whoever has begun to copy will be
// done soon, and is waited for in any case, because buffers may go as soon as this returns.
static sap_status meet(const member* m, bool may_fail) {
    group* g = m->group;
    lock(g);
    if (may_fail && g->failed != SAP_OK) {
        const sap_status failed = g->failed;
        unlock(g);
        return failed;
    }
    const uint64_t meeting = g->meetings;
    if (++g->arrived == g->size) {
        g->arrived = 0;
        __atomic_store_n(&g->meetings, meeting + 1, __ATOMIC_RELEASE);
        wake_others(g);
    }
    if (g->comms[m->rank].there) {
        unlock(g);
        spin(g, meeting);
        lock(g);
    }
    while (meeting == g->meetings && !(may_fail && g->failed != SAP_OK)) wait_for_others(g);
    const sap_status status = meeting == g->meetings ? g->failed : SAP_OK;
    unlock(g);
    return status;
}

static sap_status gather(void* state, const void* mine, int64_t bytes, void* all, void* stream) {
    member* m = state;
    group* g = m->group;
    (void)stream;
    m->send = mine;
    const sap_status status = meet(m, true);
    if (status != SAP_OK) return status;
    for (int32_t r = 0; r < g->size && bytes; r++)
        memcpy((unsigned char*)all + (size_t)r * (size_t)bytes, g->members[r].send, (size_t)bytes);
    return meet(m, false);
}

// With a stream, buffers may lie on GPUs: from one to another is a copy like any other.
static sap_status exchange(void* state, const void* send, const int64_t* send_bytes, void* receive,
                           const int64_t* receive_bytes, void* stream) {
    member* m = state;
    group* g = m->group;
    const sap_cluster_ops* there = stream ? g->comms[m->rank].there : NULL;
    unsigned char* to = receive;
    m->send = send;
    m->bytes = send_bytes;
    sap_status status = there ? there->wait(stream) : SAP_OK; // others see what the stream has written
    if (status != SAP_OK) return status;
    status = meet(m, true);
    if (status != SAP_OK) return status;
    for (int32_t r = 0; r < g->size; r++) {
        const member* from = &g->members[r];
        int64_t at = 0;
        for (int32_t before = 0; before < m->rank; before++) at += from->bytes[before];
        SAP_ASSERT(from->bytes[m->rank] == receive_bytes[r]);
        if (!receive_bytes[r]) continue;
        if (!there)
            memcpy(to, (const unsigned char*)from->send + at, (size_t)receive_bytes[r]);
        else if (status == SAP_OK)
            status = there->copy(to, (const unsigned char*)from->send + at, (size_t)receive_bytes[r], stream);
        to += receive_bytes[r];
    }
    // Also after a failure: copies that have begun read what others give back once all have met.
    const sap_status waited = there ? there->wait(stream) : SAP_OK;
    if (status == SAP_OK) status = waited;
    const sap_status met = meet(m, false);
    return status == SAP_OK ? met : status;
}

static uint64_t reduced(sap_reduction how, uint64_t a, uint64_t b) {
    if (how == SAP_REDUCE_SUM) return a + b;
    if (how == SAP_REDUCE_MIN) return a < b ? a : b;
    return a > b ? a : b;
}

// Each rank reduces a part of the values, in everybody's array.
static sap_status reduce(void* state, sap_reduction how, uint64_t* values, int64_t count, void* stream) {
    member* m = state;
    group* g = m->group;
    (void)stream;
    m->values = values;
    const sap_status status = meet(m, true);
    if (status != SAP_OK) return status;
    const int64_t from = count * m->rank / g->size, to = count * (m->rank + 1) / g->size;
    for (int64_t i = from; i < to; i++) {
        uint64_t all = g->members[0].values[i];
        for (int32_t r = 1; r < g->size; r++) all = reduced(how, all, g->members[r].values[i]);
        for (int32_t r = 0; r < g->size; r++) g->members[r].values[i] = all;
    }
    return meet(m, false);
}

static void abort_group(void* state, sap_status status) {
    group* g = ((member*)state)->group;
    lock(g);
    if (g->failed == SAP_OK) g->failed = status;
    wake_others(g);
    unlock(g);
}

static void close_member(void* state) {
    group* g = ((member*)state)->group;
    lock(g);
    const bool last = --g->open == 0;
    unlock(g);
    if (!last) return;
    const sap_allocator memory = g->allocator;
    close_lock(g);
    memory.release(memory.user, g, g->bytes);
}

static sap_status split(void* state, int32_t color, int32_t key, sap_comm** part);

static const sap_comm_engine engine = {gather, exchange, reduce, split, abort_group, close_member, true, {0}};

static sap_status open_group(int32_t size, const sap_allocator* memory, group** made) {
    const size_t members = sap_align(sizeof(group) + (size_t)size * sizeof(member));
    const size_t bytes = members + (size_t)size * sizeof(sap_comm);
    group* g = memory->allocate(memory->user, bytes, SAP_ALIGNMENT);
    if (!g) return SAP_ERROR_MEMORY;
    memset(g, 0, bytes);
    g->size = g->open = size;
    g->allocator = *memory;
    g->bytes = bytes;
    g->comms = (sap_comm*)(void*)((unsigned char*)g + members);
    if (!open_lock(g)) {
        memory->release(memory->user, g, bytes);
        return SAP_ERROR_MEMORY;
    }
    for (int32_t r = 0; r < size; r++) {
        g->members[r].group = g;
        g->members[r].rank = r;
        g->comms[r] = (sap_comm){.engine = engine,
                                 .state = &g->members[r],
                                 .rank = r,
                                 .size = size,
                                 .allocator = *memory,
                                 .of_engine = true};
    }
    *made = g;
    return SAP_OK;
}

// The first rank of a color makes the group of that color.
static sap_status split(void* state, int32_t color, int32_t key, sap_comm** part) {
    member* m = state;
    group* g = m->group;
    m->color = color;
    m->key = key;
    m->made = NULL;
    m->status = SAP_OK;
    sap_status status = meet(m, true);
    if (status != SAP_OK) return status;
    int32_t first = -1, size = 0, rank = 0;
    for (int32_t r = 0; r < g->size && color >= 0; r++) {
        const member* other = &g->members[r];
        if (other->color != color) continue;
        if (first < 0) first = r;
        size++;
        rank += other->key < key || (other->key == key && r < m->rank);
    }
    if (first == m->rank) m->status = open_group(size, &g->allocator, &m->made);
    (void)meet(m, false); // what was made can be seen, and nothing else is shown before all have looked
    *part = NULL;
    if (color >= 0) status = g->members[first].status;
    if (color >= 0 && status == SAP_OK) *part = &g->members[first].made->comms[rank];
    (void)meet(m, false);
    return status;
}

sap_status sap_comm_open_threads(int32_t size, const sap_allocator* allocator, sap_comm** comms) {
    if (!comms || size < 1 || size > MOST_RANKS) return SAP_ERROR_ARGUMENT;
    if (allocator && (!allocator->allocate || !allocator->release)) return SAP_ERROR_ARGUMENT;
#if !defined(SAP_HAVE_THREADS)
    if (size > 1) return SAP_ERROR_UNSUPPORTED;
#endif
    const sap_allocator memory = sap_comm_allocator(allocator);
    group* g;
    const sap_status status = open_group(size, &memory, &g);
    if (status != SAP_OK) return status;
    for (int32_t r = 0; r < size; r++) comms[r] = &g->comms[r];
    return SAP_OK;
}
