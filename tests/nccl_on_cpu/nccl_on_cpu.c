// The stand-in: ranks find one another in a memory that processes share which were forked after the library was loaded.
// Buffers are read and written by polls of the rank that receives, so ranks that send to one another are threads.
#include "nccl_on_cpu.h"
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { SUCCESS, SYSTEM_ERROR = 2, INTERNAL_ERROR = 3, INVALID_ARGUMENT = 4, INVALID_USAGE = 5, IN_PROGRESS = 7 };
enum { SUM, MAX = 2, MIN = 3, GATHERS };
enum { GROUPS = 1024, RANKS = 16 };

typedef struct parcel {
    const void* from;
    void* to;
    size_t bytes;
    bool open;
} parcel;

typedef struct member {
    bool left;
    // A collective call: what was given, and what becomes of it before anybody's buffer is written.
    int64_t posted, computed, completed;
    const void* send;
    void *receive, *result;
    size_t bytes; // of the result
    size_t sent;
    int operation;
    parcel sends[RANKS], receives[RANKS];
} member;

typedef struct group {
    int64_t generation;
    bool used;
    int size, joined, gone;
    member members[RANKS];
} group;

typedef struct pool {
    pthread_mutex_t lock;
    int next;
    int64_t generations;
    group groups[GROUPS];
} pool;

typedef struct unique_id {
    uint64_t slot, generation, chance;
    char rest[104];
} unique_id;

typedef struct config {
    size_t size;
    unsigned int magic, version;
    int blocking;
} config;

typedef struct comm {
    group* group; // NULL: of a communicator whose other ranks have gone
    int rank, failed;
    bool works;
} comm;

#define EXPORT __attribute__((visibility("default")))

static pool* all;
static nccl_on_cpu_state state = {.version = 22903};

EXPORT nccl_on_cpu_state* nccl_on_cpu(void);
nccl_on_cpu_state* nccl_on_cpu(void) { return &state; }

__attribute__((constructor)) static void begin(void) {
    pthread_mutexattr_t kind;
    all = mmap(NULL, sizeof *all, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (all == MAP_FAILED) abort();
    pthread_mutexattr_init(&kind);
    pthread_mutexattr_setpshared(&kind, PTHREAD_PROCESS_SHARED);
    pthread_mutexattr_setrobust(&kind, PTHREAD_MUTEX_ROBUST);
    pthread_mutex_init(&all->lock, &kind);
    pthread_mutexattr_destroy(&kind);
}

static void lock(void) {
    if (pthread_mutex_lock(&all->lock)) pthread_mutex_consistent(&all->lock); // a process died with it
}
static void unlock(void) { pthread_mutex_unlock(&all->lock); }

static bool fails(nccl_on_cpu_kind kind) {
    return kind == state.fail_kind && __atomic_add_fetch(&state.seen, 1, __ATOMIC_RELAXED) == state.fail_at;
}

static bool refused(const void* memory, size_t bytes) { return bytes && state.lies_on && state.lies_on(memory) < 0; }

EXPORT int ncclGetVersion(int* version);
int ncclGetVersion(int* version) {
    *version = state.version;
    return SUCCESS;
}

EXPORT const char* ncclGetErrorString(int result);
const char* ncclGetErrorString(int result) {
    static const char* const names[] = {
        "no error",         "unhandled cuda error", "unhandled system error", "internal error",
        "invalid argument", "invalid usage",        "remote process exited",  "in progress"};
    return result >= 0 && result <= IN_PROGRESS ? names[result] : "unknown result code";
}

EXPORT int ncclGetUniqueId(unique_id* id);
int ncclGetUniqueId(unique_id* id) {
    if (fails(NCCL_ON_CPU_ID)) return SYSTEM_ERROR;
    memset(id, 0, sizeof *id);
    lock();
    int tried = 0;
    while (tried < GROUPS && all->groups[all->next].used) all->next = (all->next + 1) % GROUPS, tried++;
    group* g = &all->groups[all->next];
    memset(g, 0, sizeof *g);
    g->used = true;
    g->generation = ++all->generations;
    id->slot = (uint64_t)all->next;
    id->generation = (uint64_t)g->generation;
    id->chance = (uint64_t)(uintptr_t)all ^ (uint64_t)g->generation * UINT64_C(0x9e3779b97f4a7c15);
    unlock();
    return tried < GROUPS ? SUCCESS : INTERNAL_ERROR;
}

EXPORT int ncclCommInitRankConfig(comm** made, int size, unique_id id, int rank, config* options);
int ncclCommInitRankConfig(comm** made, int size, unique_id id, int rank, config* options) {
    *made = NULL;
    if (fails(NCCL_ON_CPU_INIT)) return SYSTEM_ERROR;
    if (options->magic != 0xcafebeef || options->blocking || options->size != 20 || size > RANKS)
        return INVALID_ARGUMENT;
    comm* c = calloc(1, sizeof *c);
    if (!c) return SYSTEM_ERROR;
    lock();
    group* g = &all->groups[id.slot % GROUPS];
    if (g->used && g->generation == (int64_t)id.generation) {
        c->group = g;
        g->size = size;
        g->joined++;
    }
    unlock();
    c->rank = rank;
    c->works = true;
    __atomic_add_fetch(&state.comms, 1, __ATOMIC_RELAXED);
    *made = c;
    return IN_PROGRESS;
}

static void leave(comm* c) {
    lock();
    group* g = c->group;
    if (g) {
        member* m = &g->members[c->rank];
        m->left = true;
        free(m->result);
        m->result = NULL;
        memset(m->sends, 0, sizeof m->sends);
        memset(m->receives, 0, sizeof m->receives);
        if (++g->gone == g->joined) g->used = false;
    }
    unlock();
    free(c);
    __atomic_sub_fetch(&state.comms, 1, __ATOMIC_RELAXED);
}

EXPORT int ncclCommDestroy(comm* c);
int ncclCommDestroy(comm* c) {
    leave(c);
    return SUCCESS;
}

EXPORT int ncclCommAbort(comm* c);
int ncclCommAbort(comm* c) {
    leave(c);
    return SUCCESS;
}

EXPORT int ncclCommFinalize(comm* c);
int ncclCommFinalize(comm* c) {
    if (fails(NCCL_ON_CPU_FINALIZE)) return SYSTEM_ERROR;
    return c->works ? INVALID_USAGE : IN_PROGRESS;
}

// ---- Collective calls

static void compute(const group* g, member* m) {
    m->result = malloc(m->bytes + 1);
    if (m->operation == GATHERS) {
        for (int r = 0; r < g->size; r++) memcpy((char*)m->result + (size_t)r * m->sent, g->members[r].send, m->sent);
        return;
    }
    uint64_t* sums = m->result;
    memcpy(sums, g->members[0].send, m->bytes);
    for (int r = 1; r < g->size; r++)
        for (size_t i = 0; i < m->bytes / sizeof *sums; i++) {
            const uint64_t value = ((const uint64_t*)g->members[r].send)[i];
            if (m->operation == SUM) sums[i] += value;
            if (m->operation == MIN && value < sums[i]) sums[i] = value;
            if (m->operation == MAX && value > sums[i]) sums[i] = value;
        }
}

static int go_on_together(const group* g, member* m) {
    for (int r = 0; r < g->size && m->computed < m->posted; r++) {
        const member* other = &g->members[r];
        if (other->left || other->posted < m->posted) return IN_PROGRESS;
        if (other->operation != m->operation || other->sent != m->sent) return INVALID_USAGE;
    }
    if (m->computed < m->posted) compute(g, m);
    m->computed = m->posted;
    for (int r = 0; r < g->size; r++)
        if (g->members[r].computed < m->posted) return IN_PROGRESS;
    memcpy(m->receive, m->result, m->bytes);
    free(m->result);
    m->result = NULL;
    m->completed = m->posted;
    return SUCCESS;
}

static int go_on_in_pairs(group* g, int rank) {
    member* m = &g->members[rank];
    int result = SUCCESS;
    for (int r = 0; r < g->size; r++) {
        parcel *in = &m->receives[r], *sent = &g->members[r].sends[rank];
        if (in->open && sent->open && in->bytes != sent->bytes) return INVALID_USAGE;
        if (in->open && sent->open) {
            memcpy(in->to, sent->from, in->bytes);
            in->open = sent->open = false;
        }
        if (in->open || m->sends[r].open) result = IN_PROGRESS;
    }
    return result;
}

EXPORT int ncclCommGetAsyncError(comm* c, int* result);
int ncclCommGetAsyncError(comm* c, int* result) {
    if (c->works && !c->failed && fails(NCCL_ON_CPU_POLL)) c->failed = SYSTEM_ERROR;
    *result = c->failed;
    if (c->failed || !c->works) return SUCCESS;
    *result = IN_PROGRESS;
    lock();
    group* g = c->group;
    if (g && g->joined == g->size) {
        member* m = &g->members[c->rank];
        *result = m->posted > m->completed ? go_on_together(g, m) : go_on_in_pairs(g, c->rank);
    }
    unlock();
    c->works = *result == IN_PROGRESS;
    if (*result != IN_PROGRESS) c->failed = *result;
    return SUCCESS;
}

static int post(comm* c, const void* send, size_t sent, void* receive, size_t bytes, int operation) {
    if (refused(send, sent) || refused(receive, bytes)) return INVALID_ARGUMENT;
    if (c->works) return INVALID_USAGE;
    lock();
    member* m = &c->group->members[c->rank];
    m->send = send;
    m->sent = sent;
    m->receive = receive;
    m->bytes = bytes;
    m->operation = operation;
    m->posted++;
    unlock();
    c->works = true;
    return IN_PROGRESS;
}

EXPORT int ncclAllGather(const void* send, void* receive, size_t count, int type, comm* c, void* stream);
int ncclAllGather(const void* send, void* receive, size_t count, int type, comm* c, void* stream) {
    if (fails(NCCL_ON_CPU_GATHER)) return SYSTEM_ERROR;
    if (type != 1 || !stream) return INVALID_ARGUMENT;
    return post(c, send, count, receive, count * (size_t)c->group->size, GATHERS);
}

EXPORT int ncclAllReduce(const void* send, void* receive, size_t count, int type, int operation, comm* c, void* stream);
int ncclAllReduce(const void* send, void* receive, size_t count, int type, int operation, comm* c, void* stream) {
    if (fails(NCCL_ON_CPU_REDUCE)) return SYSTEM_ERROR;
    if (type != 5 || !stream) return INVALID_ARGUMENT;
    return post(c, send, count * sizeof(uint64_t), receive, count * sizeof(uint64_t), operation);
}

// ---- Messages from one to another, which wait for the end of their group

static _Thread_local bool in_group;
static _Thread_local comm* group_of;

EXPORT int ncclGroupStart(void);
int ncclGroupStart(void) {
    if (fails(NCCL_ON_CPU_START)) return SYSTEM_ERROR;
    in_group = true;
    group_of = NULL;
    return SUCCESS;
}

EXPORT int ncclGroupEnd(void);
int ncclGroupEnd(void) {
    comm* c = group_of;
    if (!in_group) return INVALID_USAGE;
    in_group = false;
    if (fails(NCCL_ON_CPU_END)) return SYSTEM_ERROR;
    if (!c) return SUCCESS;
    c->works = true;
    return IN_PROGRESS;
}

static int give(comm* c, parcel* place, parcel given, nccl_on_cpu_kind kind, const void* stream) {
    if (fails(kind)) return SYSTEM_ERROR;
    if (!in_group || c->works || place->open) return INVALID_USAGE;
    if (!given.bytes || !stream || refused(given.from ? given.from : given.to, given.bytes)) return INVALID_ARGUMENT;
    lock();
    *place = given;
    unlock();
    group_of = c;
    return SUCCESS;
}

EXPORT int ncclSend(const void* buffer, size_t count, int type, int peer, comm* c, void* stream);
int ncclSend(const void* buffer, size_t count, int type, int peer, comm* c, void* stream) {
    const parcel given = {.from = buffer, .bytes = type == 1 ? count : 0, .open = true};
    return give(c, &c->group->members[c->rank].sends[peer], given, NCCL_ON_CPU_SEND, stream);
}

EXPORT int ncclRecv(void* buffer, size_t count, int type, int peer, comm* c, void* stream);
int ncclRecv(void* buffer, size_t count, int type, int peer, comm* c, void* stream) {
    const parcel given = {.to = buffer, .bytes = type == 1 ? count : 0, .open = true};
    return give(c, &c->group->members[c->rank].receives[peer], given, NCCL_ON_CPU_RECEIVE, stream);
}
