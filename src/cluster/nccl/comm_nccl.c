// NCCL's engine: messages go from GPU to GPU, in the stream of the device that the handle was opened with.
//
// NCCL's calls do not block here: a rank looks whether NCCL has taken its work on, whether the stream has done it, and
// whether another rank has failed or gone, in which case it aborts its own part of NCCL's communicator. NCCL itself says
// nothing of ranks that fail on this machine (cluster/nccl/alarm.h).
//
// Buffers of the device's own calls are NCCL's, too. All others go through a room on the GPU: those in host memory because
// NCCL reaches no other, those of other devices because NCCL lets GPUs of one process write straight into buffers, which
// only memory allows that all of them can reach.
#include "cluster/comm.h"
#include "cluster/nccl/alarm.h"
#include "cluster/nccl/nccl.h"
#include "cluster/nccl/ops.h"
#include "cluster/ops.h"

#if defined(__linux__)
#include <sched.h>
#include <string.h>
#include <time.h>

enum { LETTER = 128 << 10 }; // bytes of a message that go through page-locked memory, one way

typedef struct engine_state {
    sap_nccl_calls nccl;
    sap_nccl_comm* comm; // NULL: it failed
    sap_device* device;
    const sap_cluster_ops* there;
    const sap_nccl_ops* gpu;
    void* stream;
    int32_t rank, size;
    double patience;
    sap_alarm alarm;
    unsigned char* letter; // what is sent, and what comes
    unsigned char* room;   // on the GPU
    size_t room_bytes;
} engine_state;

// ---- Waiting

static double seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

typedef struct waiting {
    double begun, looked, missed; // the last time that ranks were looked for, and the first that one was gone
    int looks;
} waiting;

// One look at the other ranks, and a while for them; SAP_OK: there is reason to wait on.
static sap_status wait_on(engine_state* e, waiting* w) {
    enum { QUICK = 200 };
    const double check = 0.05, grace = 0.5; // a rank may have closed its handle while its last message was on its way
    const sap_status status = sap_alarm_status(&e->alarm);
    if (status != SAP_OK)
        return sap_fail(e->device, status, "another rank has failed, and rank %d waits for it: %s", (int)e->rank,
                        sap_status_string(status));
    if (++w->looks < QUICK) return SAP_OK;
    const double now = seconds();
    if (w->begun == 0) w->begun = now;
    if (now - w->begun > e->patience)
        return sap_fail(e->device, SAP_ERROR_IO, "rank %d has waited %g seconds for other ranks", (int)e->rank,
                        e->patience);
    if (now - w->looked > check) {
        const int32_t gone = sap_alarm_gone(&e->alarm);
        w->looked = now;
        if (gone < 0 || w->missed == 0) w->missed = gone < 0 ? 0 : now;
        if (gone >= 0 && now - w->missed > grace)
            return sap_fail(e->device, SAP_ERROR_IO, "rank %d is gone, and rank %d waits for it", (int)gone,
                            (int)e->rank);
    }
    if (now - w->begun < 0.001)
        sched_yield();
    else
        nanosleep(&(struct timespec){.tv_nsec = 50000}, NULL);
    return SAP_OK;
}

// Ranks that are about to do what this one has done already may still touch its buffers.
static void abort_nccl(engine_state* e) {
    const double begun = seconds(), longest = 0.2;
    if (!e->comm) return;
    while (!sap_alarm_caught_up(&e->alarm) && seconds() - begun < longest) sched_yield();
    (void)e->nccl.CommAbort(e->comm);
    e->comm = NULL;
}

// Ends this rank's part, and the waiting of the others. The status of the first that failed.
static sap_status give_up(engine_state* e, sap_status status) {
    status = sap_alarm_raise(&e->alarm, status);
    abort_nccl(e);
    return status;
}

static sap_status nccl_failed(engine_state* e, int result) {
    const bool wrong = result == SAP_NCCL_INVALID_ARGUMENT || result == SAP_NCCL_INVALID_USAGE;
    return give_up(e, sap_fail(e->device, wrong ? SAP_ERROR_ARGUMENT : SAP_ERROR_IO, "rank %d: NCCL: %s", (int)e->rank,
                               e->nccl.GetErrorString(result)));
}

// How NCCL fares with what it has taken on.
static int fares(const engine_state* e) {
    int result = SAP_NCCL_SUCCESS;
    const int error = e->nccl.CommGetAsyncError(e->comm, &result);
    return error == SAP_NCCL_SUCCESS ? result : error;
}

// Waits until NCCL has put the work of a call into the stream.
static sap_status taken_on(engine_state* e, int result) {
    waiting w = {0};
    while (result == SAP_NCCL_IN_PROGRESS) {
        result = fares(e);
        const sap_status status = result == SAP_NCCL_IN_PROGRESS ? wait_on(e, &w) : SAP_OK;
        if (status != SAP_OK) return give_up(e, status);
    }
    return result == SAP_NCCL_SUCCESS ? SAP_OK : nccl_failed(e, result);
}

// Waits until the stream has done its work.
static sap_status done(engine_state* e) {
    enum { ROUND = 64 }; // looks at the stream for one at NCCL
    waiting w = {0};
    for (;;) {
        bool all = false;
        sap_status status = e->gpu->look(e->device, &all);
        if (status == SAP_OK && all) return SAP_OK;
        const int result = w.looks % ROUND == ROUND - 1 ? fares(e) : SAP_NCCL_SUCCESS;
        if (result != SAP_NCCL_SUCCESS && result != SAP_NCCL_IN_PROGRESS) return nccl_failed(e, result);
        if (status == SAP_OK) status = wait_on(e, &w);
        if (status != SAP_OK) return give_up(e, status);
    }
}

// Until all ranks of this machine are here. They meet before each call of NCCL's, too: while a kernel waits for another GPU,
// a rank of the same process that still has to take or free memory might wait for that kernel.
static sap_status meet(engine_state* e) {
    waiting w = {0};
    sap_alarm_arrive(&e->alarm);
    while (!sap_alarm_all_arrived(&e->alarm)) {
        const sap_status status = wait_on(e, &w);
        if (status != SAP_OK) return give_up(e, status);
    }
    return SAP_OK;
}

// ---- Buffers

// A call's message on this rank.
typedef struct message {
    const void* from; // what the caller gave
    void* to;
    size_t out, in;            // bytes
    bool same;                 // both are one buffer
    const unsigned char* send; // on the GPU
    unsigned char* receive;
    bool lands;     // in the room, and is then brought to the caller
    int32_t before; // the thread's GPU
} message;

static sap_status make_room(engine_state* e, size_t bytes) {
    if (bytes <= e->room_bytes) return SAP_OK;
    void* room = NULL;
    const size_t rounded = (bytes + (1 << 20) - 1) >> 20 << 20;
    const sap_status status = e->gpu->allocate(e->device, rounded, &room);
    if (status != SAP_OK) return status;
    e->gpu->release(e->device, e->room, e->room_bytes);
    e->room = room;
    e->room_bytes = rounded;
    return SAP_OK;
}

// Whether NCCL may use a buffer as it is.
static sap_status is_own(const engine_state* e, const void* memory, size_t bytes, const void* stream, bool* own) {
    int32_t ordinal = -1;
    *own = false;
    if (!bytes || stream != e->stream) return SAP_OK;
    const sap_status status = e->gpu->lies(e->device, memory, &ordinal);
    *own = status == SAP_OK && ordinal == e->gpu->ordinal(e->device);
    return status;
}

// Brings what this rank sends to the GPU, where it is not there, and waits for the ranks of this machine.
static sap_status begin(engine_state* e, message* m, void* stream) {
    bool sends_own = false, receives_own = false;
    m->before = e->gpu->use(e->device, e->gpu->ordinal(e->device));
    sap_status status = sap_alarm_status(&e->alarm);
    if (status == SAP_OK && !e->comm) status = SAP_ERROR_IO;
    if (status == SAP_OK && stream && stream != e->stream) status = e->there->wait(stream);
    if (status == SAP_OK) status = is_own(e, m->from, m->out, stream, &sends_own);
    if (status == SAP_OK) status = is_own(e, m->to, m->in, stream, &receives_own);
    const size_t sent = sends_own || m->same ? 0 : sap_align(m->out);
    if (status == SAP_OK) status = make_room(e, sent + (receives_own ? 0 : m->in));
    if (status != SAP_OK) return give_up(e, status);
    m->receive = receives_own ? m->to : e->room + sent;
    m->send = sends_own ? m->from : m->same ? m->receive : e->room;
    m->lands = !receives_own && m->in;
    if (!sends_own && m->out) {
        const void* from = m->from;
        if (!stream && m->out <= LETTER) from = memcpy(e->letter, m->from, m->out);
        status = e->there->copy((unsigned char*)(uintptr_t)m->send, from, m->out, e->stream);
    }
    return status == SAP_OK ? meet(e) : give_up(e, status);
}

// Waits for what NCCL has been asked for, and brings what has come to the caller.
static sap_status end(engine_state* e, message* m, void* stream, sap_status status, int result) {
    const bool in_letter = m->lands && !stream && m->in <= LETTER;
    if (status == SAP_OK) status = taken_on(e, result);
    if (status == SAP_OK && in_letter) {
        status = e->there->copy(e->letter + LETTER, m->receive, m->in, e->stream);
        if (status != SAP_OK) status = give_up(e, status);
    }
    if (status == SAP_OK) status = done(e);
    if (status == SAP_OK && in_letter) memcpy(m->to, e->letter + LETTER, m->in);
    if (status == SAP_OK && m->lands && !in_letter) { // copies to pageable memory block: nothing else is on its way now
        status = e->there->copy(m->to, m->receive, m->in, e->stream);
        if (status == SAP_OK) status = e->there->wait(e->stream);
        if (status != SAP_OK) status = give_up(e, status);
    }
    if (status == SAP_OK) sap_alarm_count(&e->alarm);
    (void)e->gpu->use(e->device, m->before);
    return status;
}

// ---- The engine

static sap_status gather(void* state, const void* mine, int64_t bytes, void* all, void* stream) {
    engine_state* e = state;
    message m = {.from = mine, .to = all, .out = (size_t)bytes, .in = (size_t)bytes * (size_t)e->size};
    const sap_status status = begin(e, &m, stream);
    int result = SAP_NCCL_SUCCESS;
    if (status == SAP_OK && bytes)
        result = e->nccl.AllGather(m.send, m.receive, m.out, SAP_NCCL_BYTES, e->comm, e->stream);
    return end(e, &m, stream, status, result);
}

static size_t sum_of(const int64_t* bytes, int32_t ranks) {
    size_t sum = 0;
    for (int32_t r = 0; r < ranks; r++) sum += (size_t)bytes[r];
    return sum;
}

// What goes to other ranks and comes from them, in one group.
static int swap_all(engine_state* e, const message* m, const int64_t* send_bytes, const int64_t* receive_bytes) {
    const unsigned char* out = m->send;
    unsigned char* in = m->receive;
    int result = e->nccl.GroupStart();
    if (result != SAP_NCCL_SUCCESS) return result;
    for (int32_t r = 0; r < e->size; r++) {
        const size_t sends = r == e->rank ? 0 : (size_t)send_bytes[r],
                     receives = r == e->rank ? 0 : (size_t)receive_bytes[r];
        if (sends && result == SAP_NCCL_SUCCESS)
            result = e->nccl.Send(out, sends, SAP_NCCL_BYTES, r, e->comm, e->stream);
        if (receives && result == SAP_NCCL_SUCCESS)
            result = e->nccl.Recv(in, receives, SAP_NCCL_BYTES, r, e->comm, e->stream);
        out += send_bytes[r];
        in += receive_bytes[r];
    }
    const int ended = e->nccl.GroupEnd(); // a group that was begun is ended in any case
    return result == SAP_NCCL_SUCCESS ? ended : result;
}

static sap_status exchange(void* state, const void* send, const int64_t* send_bytes, void* receive,
                           const int64_t* receive_bytes, void* stream) {
    engine_state* e = state;
    message m = {.from = send, .to = receive, .out = sum_of(send_bytes, e->size), .in = sum_of(receive_bytes, e->size)};
    const size_t own = (size_t)receive_bytes[e->rank];
    sap_status status = begin(e, &m, stream);
    int result = SAP_NCCL_SUCCESS;
    if (status == SAP_OK && own) {
        status = e->there->copy(m.receive + sum_of(receive_bytes, e->rank), m.send + sum_of(send_bytes, e->rank), own,
                                e->stream);
        if (status != SAP_OK) status = give_up(e, status);
    }
    if (status == SAP_OK && (m.out > own || m.in > own)) result = swap_all(e, &m, send_bytes, receive_bytes);
    return end(e, &m, stream, status, result);
}

static sap_status reduce(void* state, sap_reduction how, uint64_t* values, int64_t count, void* stream) {
    engine_state* e = state;
    const size_t bytes = (size_t)count * sizeof *values;
    const int operation = how == SAP_REDUCE_SUM ? SAP_NCCL_SUM : how == SAP_REDUCE_MIN ? SAP_NCCL_MIN : SAP_NCCL_MAX;
    message m = {.from = values, .to = values, .out = bytes, .in = bytes, .same = true};
    const sap_status status = begin(e, &m, stream);
    int result = SAP_NCCL_SUCCESS;
    if (status == SAP_OK && count)
        result = e->nccl.AllReduce(m.send, m.receive, (size_t)count, SAP_NCCL_UINT64, operation, e->comm, e->stream);
    return end(e, &m, stream, status, result);
}

// The rank's own thread aborts NCCL's communicator when it sees the alarm.
static void abort_ranks(void* state, sap_status status) {
    (void)sap_alarm_raise(&((engine_state*)state)->alarm, status);
}

// ---- Opening and closing

static void close_state(void* state) {
    engine_state* e = state;
    const int32_t before = e->gpu->use(e->device, e->gpu->ordinal(e->device));
    if (e->comm && !sap_alarm_is_raised(&e->alarm)) {
        const double begun = seconds(), patience = e->patience < 2 ? e->patience : 2;
        int result = e->nccl.CommFinalize(e->comm);
        while (result == SAP_NCCL_IN_PROGRESS && seconds() - begun < patience) {
            sched_yield();
            result = fares(e);
        }
        // One that is not done by then, because another rank still holds it, is aborted. NCCL may wait for that rank, which
        // has to know first that nothing more comes from here.
        sap_alarm_leave(&e->alarm);
        if (result == SAP_NCCL_SUCCESS) (void)e->nccl.CommDestroy(e->comm);
        if (result == SAP_NCCL_SUCCESS) e->comm = NULL;
    }
    abort_nccl(e);
    sap_alarm_close(&e->alarm);
    e->gpu->release(e->device, e->room, e->room_bytes);
    e->gpu->unpin(e->device, e->letter);
    (void)e->gpu->use(e->device, before);
    sap_memory_release(e->device, e, sizeof *e);
}

// All that can fail before a rank counts on the others.
static sap_status prepare(sap_device* device, const sap_nccl_calls* calls, double patience, engine_state** made) {
    engine_state* e = sap_memory_allocate_zero(device, sizeof *e);
    if (!e) return sap_fail(device, SAP_ERROR_MEMORY, "no memory for a communicator");
    const sap_cluster_ops* there = device->rooms.cluster;
    *e = (engine_state){.nccl = *calls, .device = device, .there = there, .gpu = there->nccl, .patience = patience};
    e->stream = there->stream(device);
    e->alarm.file = -1;
    sap_status status = e->gpu->pin(device, 2 * (size_t)LETTER, (void**)&e->letter);
    if (status == SAP_OK) status = make_room(e, 1);
    if (status == SAP_OK) {
        *made = e;
        return SAP_OK;
    }
    close_state(e);
    return status;
}

// GPUs of one process are made to reach one another's memory, one after another, while none of them has work.
static sap_status reach_others(engine_state* e) {
    sap_status status = meet(e);
    for (int32_t turn = 0; turn < e->size && status == SAP_OK; turn++) {
        if (!sap_alarm_is_here(&e->alarm, turn)) continue;
        for (int32_t r = 0; r < e->size && turn == e->rank; r++) {
            const int32_t other = sap_alarm_beside(&e->alarm, r);
            if (other >= 0) e->there->reach(e->device, other);
        }
        status = meet(e);
    }
    return status;
}

static sap_status begin_nccl(engine_state* e, const sap_nccl_id* id) {
    sap_nccl_config config = {.size = offsetof(sap_nccl_config, blocking) + sizeof config.blocking,
                              .magic = 0xcafebeef,
                              .version = SAP_NCCL_OLDEST,
                              .blocking = 0};
    const int32_t before = e->gpu->use(e->device, e->gpu->ordinal(e->device));
    const int result = e->nccl.CommInitRankConfig(&e->comm, e->size, *id, e->rank, &config);
    sap_status status = e->comm ? taken_on(e, result) : nccl_failed(e, result);
    if (status == SAP_OK) status = reach_others(e);
    (void)e->gpu->use(e->device, before);
    return status;
}

// A rank that fails says so, and waits a while for those of this machine that have yet to come, so that they hear of it.
static sap_status tell(sap_alarm* alarm, double patience, sap_status status) {
    const double begun = seconds(), longest = patience < 5 ? patience : 5;
    status = sap_alarm_raise(alarm, status);
    while (!sap_alarm_met(alarm) && seconds() - begun < longest)
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    return status;
}

static sap_status split(void* state, int32_t color, int32_t key, sap_comm** part);

static const sap_comm_engine engine = {gather, exchange, reduce, split, abort_ranks, close_state, true, {0}};

// Makes the handle of a rank that is prepared, whose state is freed if that fails.
static sap_status join(engine_state* e, const sap_nccl_id* id, int32_t rank, int32_t size, sap_comm** comm) {
    sap_comm* made = NULL;
    sap_status status = SAP_ERROR_MEMORY;
    e->rank = rank;
    e->size = size;
    if (sap_alarm_open(&e->alarm, id, rank, size, e->gpu->ordinal(e->device)))
        status = sap_comm_open(&engine, e, rank, size, &e->device->options.allocator, &made);
    status = status == SAP_OK ? begin_nccl(e, id) : sap_fail(e->device, status, "no memory for a communicator");
    if (status == SAP_OK) {
        sap_alarm_hide(&e->alarm);
        *comm = made;
        return SAP_OK;
    }
    if (e->alarm.page) status = tell(&e->alarm, e->patience, status);
    if (made)
        sap_comm_close(made);
    else
        close_state(e);
    return status;
}

// What a rank tells the others of a communicator that is divided.
typedef struct told {
    sap_nccl_id id; // of the part, by its first rank
    int32_t status, color, key;
} told;

static sap_status split(void* state, int32_t color, int32_t key, sap_comm** part) {
    engine_state *e = state, *made = NULL;
    const size_t bytes = (size_t)e->size * sizeof(told);
    told own = {.color = color, .key = key};
    told* all = sap_memory_allocate(e->device, bytes);
    *part = NULL;
    if (!all) return give_up(e, sap_fail(e->device, SAP_ERROR_MEMORY, "no memory for a communicator"));
    if (color >= 0) own.status = (int32_t)prepare(e->device, &e->nccl, e->patience, &made);
    sap_status status = gather(e, &own, (int64_t)sizeof own, all, NULL);
    int32_t first = -1, size = 0, rank = 0;
    for (int32_t r = 0; r < e->size && color >= 0 && status == SAP_OK; r++) {
        if (all[r].color != color) continue;
        if (first < 0) first = r;
        size++;
        rank += all[r].key < key || (r < e->rank && all[r].key == key);
    }
    if (status == SAP_OK && first == e->rank && own.status == SAP_OK &&
        e->nccl.GetUniqueId(&own.id) != SAP_NCCL_SUCCESS)
        own.status = (int32_t)sap_fail(e->device, SAP_ERROR_IO, "NCCL made no id");
    if (status == SAP_OK) status = gather(e, &own, (int64_t)sizeof own, all, NULL);
    for (int32_t r = 0; r < e->size && status == SAP_OK; r++)
        if (all[r].color == color) status = (sap_status)all[r].status;
    if (status == SAP_OK && made)
        status = join(made, &all[first].id, rank, size, part);
    else if (made)
        close_state(made);
    sap_memory_release(e->device, all, bytes);
    return status;
}

// Also says how long to wait.
static sap_status check(const sap_device* device, const sap_nccl_options* options, double* patience) {
    const bool can = device && device->rooms.cluster && device->rooms.cluster->nccl;
    if (!device) return SAP_ERROR_ARGUMENT;
    if (!(options->patience >= 0))
        return sap_fail(device, SAP_ERROR_ARGUMENT, "options.patience: is %g", options->patience);
    if (options->reserved[0] | options->reserved[1] | options->reserved[2] | options->reserved[3])
        return sap_fail(device, SAP_ERROR_ARGUMENT, "options.reserved: is not zero: made for a newer Sapwood");
    if (!can) return sap_unsupported(device, "send messages through NCCL");
    *patience = options->patience > 0 ? options->patience : 600;
    return SAP_OK;
}

sap_status sap_comm_nccl_id(const sap_device* device, const sap_nccl_options* options, sap_nccl_id* id) {
    static const sap_nccl_options usual = {0};
    sap_nccl_calls calls;
    double patience = 0;
    if (!options) options = &usual;
    sap_status status = check(device, options, &patience);
    if (status != SAP_OK) return status;
    if (!id) return sap_fail(device, SAP_ERROR_ARGUMENT, "id: is NULL");
    status = sap_nccl_load(device, options, &calls);
    if (status != SAP_OK) return status;
    sap_nccl_id made;
    const int result = calls.GetUniqueId(&made);
    if (result != SAP_NCCL_SUCCESS)
        return sap_fail(device, SAP_ERROR_IO, "NCCL made no id: %s", calls.GetErrorString(result));
    *id = made;
    return SAP_OK;
}

sap_status sap_comm_open_nccl(sap_device* device, const sap_nccl_id* id, int32_t rank, int32_t size,
                              const sap_nccl_options* options, sap_comm** comm) {
    static const sap_nccl_options usual = {0};
    sap_nccl_calls calls;
    engine_state* e = NULL;
    double patience = 0;
    if (!options) options = &usual;
    sap_status status = check(device, options, &patience);
    if (status != SAP_OK) return status;
    if (!id || !comm) return sap_fail(device, SAP_ERROR_ARGUMENT, "%s: is NULL", id ? "comm" : "id");
    if (size < 1 || rank < 0 || rank >= size)
        return sap_fail(device, SAP_ERROR_ARGUMENT, "rank: %d of %d ranks", (int)rank, (int)size);
    status = sap_nccl_load(device, options, &calls);
    if (status == SAP_OK) status = prepare(device, &calls, patience, &e);
    if (e) return join(e, id, rank, size, comm);
    sap_alarm alarm;
    if (sap_alarm_open(&alarm, id, rank, size, device->options.ordinal)) {
        status = tell(&alarm, patience, status);
        sap_alarm_close(&alarm);
    }
    return status;
}

#else // which NCCL is not made for

sap_status sap_comm_nccl_id(const sap_device* device, const sap_nccl_options* options, sap_nccl_id* id) {
    if (!device || !id) return SAP_ERROR_ARGUMENT;
    return sap_nccl_load(device, options, NULL);
}

sap_status sap_comm_open_nccl(sap_device* device, const sap_nccl_id* id, int32_t rank, int32_t size,
                              const sap_nccl_options* options, sap_comm** comm) {
    if (!device || !id || !comm || size < 1 || rank < 0 || rank >= size) return SAP_ERROR_ARGUMENT;
    return sap_nccl_load(device, options, NULL);
}

#endif
