// What a tree over thousands of ranks sends, by formulas and by simulation: docs/scale.md has the tables.
//   sapwood_scale_bench [--library RANKS] [--replay RANKS]
// The library's own code runs on up to 256 simulated ranks, its calls without data on up to 4,096, unless told otherwise.
#include "schedule.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_RANKS = 1 << 14 };

typedef struct pair {
    scale_plan build, nearest;
} pair;

static scale_plan as_plan(const ranks_counts* c) {
    return (scale_plan){{(double)c->gather.calls, (double)c->gather.messages, (double)c->gather.bytes},
                        {(double)c->exchange.calls, (double)c->exchange.messages, (double)c->exchange.bytes},
                        {(double)c->reduce.calls, (double)c->reduce.messages, (double)c->reduce.bytes},
                        c->seconds};
}

static pair plan_both(const scale_task* t) {
    return (pair){scale_plan_of(t, &RANKS_NETWORK, scale_build), scale_plan_of(t, &RANKS_NETWORK, scale_nearest)};
}

static void print_row(const scale_task* t, const char* who, const char* call, const scale_plan* p) {
    const double ranks = t->ranks;
    printf("%6d  %-9s %-8s %5.0f %9.1f %9.1f %11.1f %11.1f %10.3f\n", (int)t->ranks, who, call,
           p->gather.calls + p->reduce.calls + p->exchange.calls, (p->gather.messages + p->reduce.messages) / ranks,
           p->exchange.messages / ranks, (p->gather.bytes + p->reduce.bytes) / ranks / 1e3,
           p->exchange.bytes / ranks / 1e3, 1e3 * p->seconds);
}

static void print_both(const scale_task* t, const char* who, const pair* p) {
    print_row(t, who, "build", &p->build);
    print_row(t, who, "nearest", &p->nearest);
}

static void print_head(const char* what) {
    printf("\n%s\n\n", what);
    printf("                                messages a rank        kB a rank          modelled\n");
    printf(" ranks  by        call     calls   reduced exchanged     reduced   exchanged         ms\n");
}

// The same points a rank on more and more ranks.
static bool compare(int32_t library, int32_t replay) {
    bool good = true;
    print_head("64 points a rank, dealt out at random; then the 8 neighbours of each point");
    for (int32_t ranks = 1; ranks <= replay || ranks <= library; ranks *= 4) {
        const scale_task t = {
            .points = 64.0 * ranks, .ranks = ranks, .dims = 3, .real_bits = 32, .leaf_size = 32, .keys = 1, .k = 8};
        const pair planned = plan_both(&t);
        scale_counts c = {.memory = 0};
        print_both(&t, "formula", &planned);
        for (int way = 0; way < 2; way++) {
            if (ranks > (way ? replay : library)) continue;
            const bool ran = (way ? scale_replay : scale_run)(&t, &RANKS_NETWORK, &c);
            const pair counted = {as_plan(&c.build), as_plan(&c.nearest)};
            if (ran) print_both(&t, way ? "calls" : "library", &counted);
            // The library learns first bits of keys from boxes, so that its last reduction of a key is smaller.
            const int64_t most = llround(planned.build.reduce.messages);
            good = good && ran && (way ? c.build.reduce.messages == most : c.build.reduce.messages <= most) &&
                   c.build.reduce.calls == llround(planned.build.reduce.calls) &&
                   c.nearest.reduce.messages == llround(planned.nearest.reduce.messages);
        }
    }
    return good;
}

// The share of the rank that sends most of what all ranks exchange.
static bool compare_ranks(void) {
    printf("\nThe rank that sends most, beside the mean of 64 ranks with 1,000 points\n\n");
    for (int way = 0; way < 4; way++) {
        const bool clustered = way >= 2, own = way % 2 == 0;
        const scale_task t = {.points = 64000,
                              .ranks = 64,
                              .dims = 3,
                              .real_bits = 32,
                              .leaf_size = 32,
                              .keys = 1,
                              .k = 8,
                              .queries = own ? 0 : 1000,
                              .clustered = clustered};
        scale_counts c;
        if (!scale_run(&t, &RANKS_NETWORK, &c)) return false;
        const double mean = (double)c.nearest.exchange.bytes / t.ranks;
        printf("%-10s %-17s %8.0f kB, the mean %8.0f kB: %.2f x\n", clustered ? "clustered" : "uniform",
               own ? "points held" : "queries anywhere", (double)c.nearest.most_bytes / 1e3, mean / 1e3,
               (double)c.nearest.most_bytes / mean);
    }
    return true;
}

static void print_plan(void) {
    static const int32_t ranks[] = {1000, 1024, 4096, 16000, 16384};
    print_head("10^12 points in 3-D, two coordinates to tell them apart; then the 8 neighbours of each point");
    for (size_t i = 0; i < sizeof ranks / sizeof *ranks; i++) {
        const scale_task t = {
            .points = 1e12, .ranks = ranks[i], .dims = 3, .real_bits = 32, .leaf_size = 32, .keys = 2, .k = 8};
        const pair planned = plan_both(&t);
        print_both(&t, "formula", &planned);
    }
    printf("\n ranks  levels  subtrees  top tree kB  asked elsewhere  other ranks  histograms MB\n");
    for (size_t i = 0; i < sizeof ranks / sizeof *ranks; i++) {
        const scale_task t = {
            .points = 1e12, .ranks = ranks[i], .dims = 3, .real_bits = 32, .leaf_size = 32, .keys = 2, .k = 8};
        int64_t nodes[SCALE_MOST_LEVELS], most = 0;
        const int32_t levels = scale_levels(&t, nodes);
        const scale_borders b = scale_find_borders(&t);
        for (int32_t d = 0; d < levels; d++) most = nodes[d] > most ? nodes[d] : most;
        const double leaves = exp2(ceil(log2((double)scale_pieces(&t))));
        printf("%6d %7d %9lld %12.0f %15.2f%% %12.1f %14.1f\n", (int)t.ranks, (int)levels, (long long)scale_pieces(&t),
               (leaves * 2 * 48 + (double)scale_pieces(&t) * 48) / 1e3, 100 * b.pairs, b.peers,
               (double)most * 256 * 8 / 1e6);
    }
}

static int32_t number_of(const char* text) {
    char* end;
    const long value = strtol(text, &end, 10);
    if (*text && !*end && value >= 0 && value <= MOST_RANKS) return (int32_t)value;
    fprintf(stderr, "scale: \"%s\" is no number of ranks from 0 to %d\n", text, MOST_RANKS);
    exit(2);
}

int main(int argc, char** argv) {
    int32_t library = 256, replay = 4096;
    for (int i = 1; i < argc; i += 2) {
        const bool of_library = !strcmp(argv[i], "--library"), of_replay = !strcmp(argv[i], "--replay");
        if (i + 1 == argc || (!of_library && !of_replay)) {
            fprintf(stderr, "usage: sapwood_scale_bench [--library RANKS] [--replay RANKS]\n");
            return 2;
        }
        *(of_library ? &library : &replay) = number_of(argv[i + 1]);
    }
    const ranks_network n = RANKS_NETWORK;
    printf("network: latency %.2f us, overhead %.2f us a message, %.1f GB/s, sums %.1f GB/s\n", 1e6 * n.latency,
           1e6 * n.overhead, 1e-9 / n.per_byte, 1e-9 / n.per_byte_reduced);
    const bool good = compare(library, replay) && compare_ranks();
    print_plan();
    if (!good)
        fprintf(stderr, "scale: what was sent is not what the formulas say, or there is no memory for so many ranks\n");
    return !good;
}
