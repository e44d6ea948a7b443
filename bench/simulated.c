#include "simulated.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { STACK_BYTES = 1 << 19, ALIGNMENT = 64, NOBODYS = -1, OVER = -2 };

typedef enum message { MESSAGE_GATHER, MESSAGE_EXCHANGE, MESSAGE_REDUCE, MESSAGE_MEET, MESSAGE_COUNT } message;

typedef struct ranks_group ranks_group;

typedef struct member {
    ranks_rank self; // first
    pthread_t thread;
    pthread_cond_t turn;
    double clock;
    int64_t all_messages, all_bytes; // sent in exchanges
    // What it has come with.
    message kind;
    const void* send;
    void* receive;
    const int64_t* bytes;
    int64_t count;
    sap_reduction how;
} member;

struct ranks_group {
    pthread_mutex_t lock;
    int32_t size, turn; // whose turn it is; NOBODYS, or OVER before it has begun
    ranks_network network;
    ranks_work* work;
    void* context;
    ranks_counts counts, taken;
    double* clocks;   // [size] while a message is carried out
    int64_t* arrived; // [size] bytes
    member members[];
};

// ---- Memory

static void* lend(void* user, size_t bytes, size_t alignment) {
    ranks_rank* r = user;
    if (alignment > ALIGNMENT || bytes > SIZE_MAX / 2) return NULL;
    void* memory = aligned_alloc(ALIGNMENT, bytes / ALIGNMENT * ALIGNMENT + ALIGNMENT);
    if (!memory) return NULL;
    r->bytes += (int64_t)bytes;
    if (r->bytes > r->most) r->most = r->bytes;
    return memory;
}

static void take_back(void* user, void* memory, size_t bytes) {
    ((ranks_rank*)user)->bytes -= (int64_t)bytes;
    free(memory);
}

// ---- Clocks

// A message leaves `from` at `start`; when its sender goes on, and when its receiver has it that waits since `ready`.
static double sent_at(const ranks_network* n, double start, double bytes) {
    return start + n->overhead + bytes * n->per_byte;
}
static double received_at(const ranks_network* n, double start, double bytes, double ready) {
    const double there = sent_at(n, start, bytes) + n->latency;
    return (there > ready ? there : ready) + n->overhead;
}

static double later(double a, double b) { return a > b ? a : b; }

// A step in which rank r sends `bytes` to to(r), which is another one's from(r), if it is below `size`.
static void swap_step(ranks_group* g, ranks_sent* sent, int32_t size, int32_t mask, int32_t shift, int64_t bytes,
                      double reduced) {
    const ranks_network* n = &g->network;
    for (int32_t r = 0; r < size; r++) g->clocks[r] = g->members[r].clock;
    for (int32_t r = 0; r < size; r++) {
        const int32_t from = shift ? (r + shift) % size : r ^ mask;
        const double own = g->clocks[r];
        g->members[r].clock =
            later(sent_at(n, own, (double)bytes), received_at(n, g->clocks[from], (double)bytes, own));
        g->members[r].clock += reduced * n->per_byte_reduced;
    }
    sent->messages += size;
    sent->bytes += size * bytes;
}

// Ranks beyond the largest power of two hand what they have to another one, and get the result from it.
static void fold(ranks_group* g, ranks_sent* sent, int32_t most, int64_t bytes, bool back) {
    const ranks_network* n = &g->network;
    for (int32_t r = most; r < g->size; r++) {
        member *odd = &g->members[r], *even = &g->members[r - most];
        member *from = back ? even : odd, *to = back ? odd : even;
        const double start = from->clock;
        from->clock = sent_at(n, start, (double)bytes);
        to->clock = received_at(n, start, (double)bytes, to->clock);
        if (!back) to->clock += (double)bytes * n->per_byte_reduced;
        sent->messages++;
        sent->bytes += bytes;
    }
}

static void time_reduce(ranks_group* g, int64_t bytes) {
    ranks_sent* sent = &g->counts.reduce;
    int32_t most = 1;
    while (most <= g->size / 2) most *= 2;
    fold(g, sent, most, bytes, false);
    if (bytes <= RANKS_SMALL_REDUCE) {
        for (int32_t mask = 1; mask < most; mask *= 2) swap_step(g, sent, most, mask, 0, bytes, (double)bytes);
    } else {
        int64_t part = bytes;
        for (int32_t mask = most / 2; mask > 0; mask /= 2) {
            part = (part + 1) / 2;
            swap_step(g, sent, most, mask, 0, part, (double)part);
        }
        for (int32_t mask = 1; mask < most; mask *= 2) {
            swap_step(g, sent, most, mask, 0, part, 0);
            part *= 2;
        }
    }
    fold(g, sent, most, bytes, true);
}

// Bruck's: in each step everybody hands on what it has so far.
static void time_gather(ranks_group* g, int64_t bytes) {
    for (int32_t have = 1; have < g->size; have *= 2) {
        const int32_t more = have < g->size - have ? have : g->size - have;
        swap_step(g, &g->counts.gather, g->size, 0, have, more * bytes, 0);
    }
}

// Pair by pair, and nothing where there is nothing to say.
static void time_exchange(ranks_group* g) {
    const ranks_network* n = &g->network;
    for (int32_t step = 1; step < g->size; step++) {
        for (int32_t r = 0; r < g->size; r++) g->clocks[r] = g->members[r].clock;
        for (int32_t r = 0; r < g->size; r++) {
            member* m = &g->members[r];
            const int32_t to = (r + step) % g->size, from = (r + g->size - step) % g->size;
            const int64_t out = m->bytes[to], in = g->members[from].bytes[r];
            const double own = g->clocks[r];
            if (out) m->clock = later(m->clock, sent_at(n, own, (double)out));
            if (in) m->clock = later(m->clock, received_at(n, g->clocks[from], (double)in, own));
        }
    }
}

// ---- Messages, carried out by the last rank that comes

static void gather_all(ranks_group* g) {
    const int64_t bytes = g->members[0].count;
    for (int32_t to = 0; to < g->size; to++)
        for (int32_t from = 0; from < g->size && bytes && g->members[from].send; from++)
            memcpy((unsigned char*)g->members[to].receive + (size_t)from * (size_t)bytes, g->members[from].send,
                   (size_t)bytes);
    g->counts.gather.calls++;
    time_gather(g, bytes);
}

static void exchange_all(ranks_group* g) {
    ranks_counts* c = &g->counts;
    memset(g->arrived, 0, (size_t)g->size * sizeof *g->arrived);
    for (int32_t from = 0; from < g->size; from++) {
        const member* m = &g->members[from];
        const unsigned char* at = m->send;
        int64_t messages = 0, bytes = 0;
        for (int32_t to = 0; to < g->size; to++) {
            const int64_t part = m->bytes[to];
            if (!part) continue;
            if (at) {
                memcpy((unsigned char*)g->members[to].receive + g->arrived[to], at, (size_t)part);
                g->arrived[to] += part;
                at += part;
            }
            if (to == from) continue;
            messages++;
            bytes += part;
        }
        c->exchange.messages += messages;
        c->exchange.bytes += bytes;
        g->members[from].all_messages += messages;
        g->members[from].all_bytes += bytes;
    }
    c->exchange.calls++;
    time_exchange(g);
}

static uint64_t reduced(sap_reduction how, uint64_t a, uint64_t b) {
    if (how == SAP_REDUCE_SUM) return a + b;
    if (how == SAP_REDUCE_MIN) return a < b ? a : b;
    return a > b ? a : b;
}

static void reduce_all(ranks_group* g) {
    const int64_t count = g->members[0].count;
    uint64_t* all = g->members[0].receive;
    for (int32_t r = 1; r < g->size && all; r++) {
        const uint64_t* values = g->members[r].receive;
        for (int64_t i = 0; i < count; i++) all[i] = reduced(g->members[0].how, all[i], values[i]);
    }
    for (int32_t r = 1; r < g->size && all; r++) memcpy(g->members[r].receive, all, (size_t)count * sizeof *all);
    g->counts.reduce.calls++;
    time_reduce(g, count * (int64_t)sizeof *all);
}

static void take_counts(ranks_group* g) {
    ranks_counts* c = &g->counts;
    for (int32_t r = 0; r < g->size; r++) {
        member* m = &g->members[r];
        c->seconds = later(c->seconds, m->clock);
        if (m->all_messages > c->most_messages) c->most_messages = m->all_messages;
        if (m->all_bytes > c->most_bytes) c->most_bytes = m->all_bytes;
        m->clock = 0;
        m->all_messages = m->all_bytes = 0;
    }
    g->taken = g->counts;
    g->counts = (ranks_counts){.seconds = 0};
}

static bool is_same(const ranks_group* g) {
    bool same = true;
    for (int32_t r = 1; r < g->size; r++)
        same = same && g->members[r].kind == g->members[0].kind && g->members[r].count == g->members[0].count &&
               g->members[r].how == g->members[0].how;
    return same;
}

// Waits for this rank's turn; false if there will be none.
static bool wait_for_turn(member* m) {
    ranks_group* g = m->self.group;
    pthread_mutex_lock(&g->lock);
    while (g->turn != m->self.rank && g->turn != OVER) pthread_cond_wait(&m->turn, &g->lock);
    const bool over = g->turn == OVER;
    pthread_mutex_unlock(&g->lock);
    return !over;
}

static void give_turn(ranks_group* g, int32_t turn) {
    pthread_mutex_lock(&g->lock);
    g->turn = turn;
    if (turn >= 0) pthread_cond_signal(&g->members[turn].turn);
    for (int32_t r = 0; r < g->size && turn == OVER; r++) pthread_cond_signal(&g->members[r].turn);
    pthread_mutex_unlock(&g->lock);
}

// Hands the turn to the next rank and waits for its own. The last one carries out what all have come for.
static sap_status meet(member* m) {
    static void (*const carry_out[MESSAGE_COUNT])(ranks_group*) = {gather_all, exchange_all, reduce_all, take_counts};
    ranks_group* g = m->self.group;
    if (m->self.rank == g->size - 1) {
        if (!is_same(g)) abort(); // the ranks would wait for one another
        carry_out[m->kind](g);
    }
    give_turn(g, (m->self.rank + 1) % g->size);
    wait_for_turn(m);
    return SAP_OK;
}

void ranks_take_counts(ranks_rank* rank, ranks_counts* counts) {
    member* m = (member*)(void*)rank;
    m->kind = MESSAGE_MEET;
    m->count = 0;
    meet(m);
    *counts = m->self.group->taken;
}

// ---- The engine

static sap_status gather(void* state, const void* mine, int64_t bytes, void* all, void* stream) {
    member* m = state;
    (void)stream;
    m->kind = MESSAGE_GATHER;
    m->send = mine;
    m->receive = all;
    m->count = bytes;
    return meet(m);
}

static sap_status exchange(void* state, const void* send, const int64_t* send_bytes, void* receive,
                           const int64_t* receive_bytes, void* stream) {
    member* m = state;
    (void)receive_bytes; // what comes is what was sent
    (void)stream;
    m->kind = MESSAGE_EXCHANGE;
    m->send = send;
    m->receive = receive;
    m->bytes = send_bytes;
    m->count = 0;
    return meet(m);
}

static sap_status reduce(void* state, sap_reduction how, uint64_t* values, int64_t count, void* stream) {
    member* m = state;
    (void)stream;
    m->kind = MESSAGE_REDUCE;
    m->receive = values;
    m->count = count;
    m->how = how;
    return meet(m);
}

static sap_status split(void* state, int32_t color, int32_t key, sap_comm** part) {
    (void)state;
    (void)color;
    (void)key;
    *part = NULL;
    return SAP_ERROR_UNSUPPORTED;
}

static void stop(void* state, sap_status status) { // no message fails
    (void)state;
    (void)status;
}

static void close_member(void* state) { (void)state; }

void ranks_gather(ranks_rank* rank, int64_t bytes) { gather(rank, NULL, bytes, NULL, NULL); }
void ranks_reduce(ranks_rank* rank, int64_t words) { reduce(rank, SAP_REDUCE_SUM, NULL, words, NULL); }
void ranks_exchange(ranks_rank* rank, const int64_t* bytes) { exchange(rank, NULL, bytes, NULL, bytes, NULL); }

// ---- Threads

static void* run_rank(void* argument) {
    member* m = argument;
    ranks_group* g = m->self.group;
    if (!wait_for_turn(m)) return NULL;
    g->work(&m->self, g->context);
    give_turn(g, (m->self.rank + 1) % g->size);
    return NULL;
}

static bool start(ranks_group* g, int32_t* started) {
    pthread_attr_t attributes;
    if (pthread_attr_init(&attributes)) return false;
    bool good = !pthread_attr_setstacksize(&attributes, STACK_BYTES);
    for (*started = 0; good && *started < g->size; *started += good)
        good = !pthread_create(&g->members[*started].thread, &attributes, run_rank, &g->members[*started]);
    pthread_attr_destroy(&attributes);
    return good;
}

static bool open_member(ranks_group* g, int32_t rank) {
    static const sap_comm_engine engine = {gather, exchange, reduce, split, stop, close_member, false, {0}};
    member* m = &g->members[rank];
    m->self.group = g;
    m->self.rank = rank;
    m->self.allocator = (sap_allocator){lend, take_back, &m->self};
    return !pthread_cond_init(&m->turn, NULL) &&
           sap_comm_open(&engine, m, rank, g->size, NULL, &m->self.comm) == SAP_OK;
}

bool ranks_run(int32_t size, const ranks_network* network, ranks_work* work, void* context) {
    ranks_group* g = calloc(1, sizeof *g + (size_t)size * sizeof *g->members);
    if (!g) return false;
    g->size = size;
    g->turn = NOBODYS;
    g->network = *network;
    g->work = work;
    g->context = context;
    g->clocks = calloc((size_t)size, sizeof *g->clocks);
    g->arrived = calloc((size_t)size, sizeof *g->arrived);
    bool good = g->clocks && g->arrived && !pthread_mutex_init(&g->lock, NULL);
    for (int32_t r = 0; r < size && good; r++) good = open_member(g, r);
    int32_t started = 0;
    if (good) {
        good = start(g, &started);
        give_turn(g, good ? 0 : OVER);
    }
    for (int32_t r = 0; r < started; r++) pthread_join(g->members[r].thread, NULL);
    for (int32_t r = 0; r < size; r++) sap_comm_close(g->members[r].self.comm);
    free(g->clocks);
    free(g->arrived);
    free(g);
    return good;
}
