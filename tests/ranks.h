// Ranks that are threads of a test.
#ifndef SAPWOOD_TESTS_RANKS_H
#define SAPWOOD_TESTS_RANKS_H

#include "allocator.h"
#include "cluster/cluster.h"
#include "engines.h"
#include "test.h"
#include <time.h>

enum { MOST_RANKS = 16 };

// ---- Ranks

typedef struct rank_thread {
    pthread_t thread;
    sap_comm* comm;
    watch w;
    sap_device* device;
    void (*work)(struct rank_thread* r, void* context);
    void* context;
    sap_status status;
} rank_thread;

static void* run_rank(void* argument) {
    rank_thread* r = argument;
    sap_device_options options = watched(&r->w);
    options.threads = 1 << sap_comm_rank(r->comm) % 3; // which share nodes
    if (CHECK_STATUS(sap_device_open(&options, &r->device), SAP_OK)) {
        r->work(r, r->context);
        sap_device_close(r->device);
    }
    CHECK_EQUAL(r->w.blocks, 0);
    CHECK_EQUAL(r->w.wrong, 0);
    return NULL;
}

// Runs `work` on each of `size` ranks.
static void run_ranks(int32_t size, sap_comm** comms, void (*work)(rank_thread*, void*), void* context) {
    rank_thread ranks[MOST_RANKS] = {{0}};
    for (int32_t r = 0; r < size; r++) {
        ranks[r].comm = comms[r];
        ranks[r].work = work;
        ranks[r].context = context;
        CHECK(!pthread_create(&ranks[r].thread, NULL, run_rank, &ranks[r]));
    }
    for (int32_t r = 0; r < size; r++) pthread_join(ranks[r].thread, NULL);
}

static void on_threads(int32_t size, void (*work)(rank_thread*, void*), void* context) {
    sap_comm* comms[MOST_RANKS];
    if (!open_ranks(size, comms)) return;
    run_ranks(size, comms, work, context);
    close_ranks(size, comms);
}

// ---- Failures

// An engine over another one's handle, which fails at one message.
typedef enum message { MESSAGE_GATHER, MESSAGE_EXCHANGE, MESSAGE_REDUCE, MESSAGE_COUNT } message;

typedef struct faulty {
    sap_comm* inner;
    message kind;
    int64_t fail_at, sent; // of that kind, counted from 1
    uint64_t delays;       // if not 0, messages are late by chance
} faulty;

static bool fails(faulty* f, message kind) {
    if (f->delays) nanosleep(&(struct timespec){.tv_nsec = random_below(&f->delays, 4) * 20000}, NULL);
    return kind == f->kind && ++f->sent == f->fail_at;
}

static sap_status faulty_gather(void* state, const void* mine, int64_t bytes, void* all, void* stream) {
    faulty* f = state;
    if (fails(f, MESSAGE_GATHER)) return SAP_ERROR_IO;
    return f->inner->engine.gather(f->inner->state, mine, bytes, all, stream);
}

static sap_status faulty_exchange(void* state, const void* send, const int64_t* send_bytes, void* receive,
                                  const int64_t* receive_bytes, void* stream) {
    faulty* f = state;
    if (fails(f, MESSAGE_EXCHANGE)) return SAP_ERROR_IO;
    return f->inner->engine.exchange(f->inner->state, send, send_bytes, receive, receive_bytes, stream);
}

static sap_status faulty_reduce(void* state, sap_reduction how, uint64_t* values, int64_t count, void* stream) {
    faulty* f = state;
    if (fails(f, MESSAGE_REDUCE)) return SAP_ERROR_IO;
    return f->inner->engine.reduce(f->inner->state, how, values, count, stream);
}

static sap_status faulty_split(void* state, int32_t color, int32_t key, sap_comm** part) {
    faulty* f = state;
    return f->inner->engine.split(f->inner->state, color, key, part);
}

static void faulty_abort(void* state, sap_status status) { sap_comm_abort(((faulty*)state)->inner, status); }
static void faulty_close(void* state) { sap_comm_close(((faulty*)state)->inner); }

static const sap_comm_engine faulty_engine = {faulty_gather, faulty_exchange, faulty_reduce, faulty_split,
                                              faulty_abort,  faulty_close,    false,         {0}};

enum { FEW_POINTS = 60 };

#endif
