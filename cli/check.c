// Brute force: every distance of a query is computed, and the answer must be exactly what they ask for.
#include "check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double most_distances = 1e9; // above this a sample of the queries is checked

// The check of one answer, query after query.
typedef struct inspection {
    const sap_cli_check* check;
    const sap_cli_points* points;
    const sap_cli_points* queries; // the points themselves if they ask
    bool* dropped;                 // points left out of the tree as duplicates
    double* distance2;             // of the query to each point; infinite where it is no candidate
    int32_t* seen;                 // last query whose row held the point, plus 1
    double limit2;
    int32_t k;
    const int32_t* ids;
    const void* reported2;
    const sap_cli_rows* rows;
    const int64_t* counts;
} inspection;

// Squared distances as the library defines them: in axis order, every operation rounded to the points' precision.
static void measure_f32(const sap_cli_points* points, const float* query, double* distance2) {
    const float* p = points->coords;
    for (int64_t i = 0; i < points->count; i++, p += points->dims) {
        float sum = 0;
        for (int32_t a = 0; a < points->dims; a++) {
            float difference = query[a] - p[a];
            sum += difference * difference;
        }
        distance2[i] = (double)sum;
    }
}

static void measure_f64(const sap_cli_points* points, const double* query, double* distance2) {
    const double* p = points->coords;
    for (int64_t i = 0; i < points->count; i++, p += points->dims) {
        double sum = 0;
        for (int32_t a = 0; a < points->dims; a++) {
            double difference = query[a] - p[a];
            sum += difference * difference;
        }
        distance2[i] = sum;
    }
}

// The same by another metric.
static void measure_told(const inspection* in, const void* query) {
    const sap_cli_points* points = in->points;
    const size_t bytes = (size_t)points->dims * (size_t)points->real_bits / 8;
    for (int64_t i = 0; i < points->count; i++)
        in->distance2[i] = sap_cli_told_distance(in->check->told, points->dims, points->real_bits, query,
                                                 (const unsigned char*)points->coords + (size_t)i * bytes);
}

// The largest distance that counts for a query.
static double limit_of(const inspection* in, int64_t query) {
    const sap_cli_told* told = in->check->told;
    if (!told) return in->limit2;
    const double radius = told->radii ? told->radii[query] : in->check->radius;
    if (told->radii && !(radius >= 0)) return -1;
    return radius < 0 ? HUGE_VAL : sap_cli_told_limit(told, radius, in->points->real_bits);
}

// Fills distance2 for one query and gives how many points are candidates: near enough and allowed.
static int64_t measure(inspection* in, int64_t query) {
    const sap_cli_points* points = in->points;
    int64_t candidates = 0, first = query * points->dims;
    bool self = !in->check->queries;
    const double limit = limit_of(in, query);
    if (in->check->told)
        measure_told(in, (const unsigned char*)in->queries->coords + (size_t)first * (size_t)points->real_bits / 8);
    else if (points->real_bits == 64)
        measure_f64(points, (const double*)in->queries->coords + first, in->distance2);
    else
        measure_f32(points, (const float*)in->queries->coords + first, in->distance2);
    bool silent = self && in->dropped && in->dropped[query];
    for (int64_t i = 0; i < points->count; i++) {
        bool allowed = !silent && !(in->dropped && in->dropped[i]);
        if (self && in->check->pairs)
            allowed = allowed && i > query;
        else if (self && !in->check->with_self)
            allowed = allowed && i != query;
        if (in->check->told)
            allowed =
                allowed && sap_cli_told_allows(in->check->told, points->dims, points->real_bits, points->coords, i);
        if (allowed && in->distance2[i] <= limit && in->distance2[i] < HUGE_VAL)
            candidates++;
        else
            in->distance2[i] = HUGE_VAL;
    }
    return candidates;
}

static double reported(const inspection* in, const void* distance2, int64_t at) {
    return in->points->real_bits == 64 ? ((const double*)distance2)[at] : (double)((const float*)distance2)[at];
}

static const char* inspect_nearest(inspection* in, int64_t query) {
    int64_t candidates = measure(in, query), first = query * in->k, found = 0;
    int64_t wanted = candidates < in->k ? candidates : in->k;
    double last = -1;
    int32_t last_id = -1;
    for (; found < in->k && in->ids[first + found] != -1; found++) {
        int32_t id = in->ids[first + found];
        double distance2 = reported(in, in->reported2, first + found);
        if (id < 0 || id >= in->points->count) return "an id is not that of a point";
        if (in->distance2[id] == HUGE_VAL) return "a neighbour is not allowed or too far";
        if (in->distance2[id] != distance2) return "a distance is wrong";
        if (distance2 < last || (distance2 == last && id <= last_id)) return "neighbours are not in order";
        last = distance2;
        last_id = id;
    }
    if (found != wanted) return "neighbours are missing";
    for (int64_t j = found; j < in->k; j++)
        if (in->ids[first + j] != -1 || reported(in, in->reported2, first + j) != HUGE_VAL)
            return "there is an entry after the last neighbour";
    int64_t as_near = 0; // the row ascends, so it is right if no other point comes before its last
    for (int64_t i = 0; i < in->points->count; i++)
        as_near += in->distance2[i] < last || (i <= last_id && in->distance2[i] == last);
    return as_near == found ? NULL : "a nearer point was missed";
}

static const char* inspect_row(inspection* in, int64_t query) {
    int64_t candidates = measure(in, query);
    double last = -1;
    int32_t last_id = -1;
    if (in->rows->offsets[query + 1] - in->rows->offsets[query] != candidates) return "the number of points is wrong";
    for (int64_t j = in->rows->offsets[query]; j < in->rows->offsets[query + 1]; j++) {
        int32_t id = in->rows->ids[j];
        double distance2 = reported(in, in->rows->distance2, j);
        if (id < 0 || id >= in->points->count) return "an id is not that of a point";
        if (in->seen[id] == (int32_t)query + 1) return "a point is reported twice";
        if (in->distance2[id] == HUGE_VAL) return "a point is not allowed or too far";
        if (in->distance2[id] != distance2) return "a distance is wrong";
        if (in->check->sorted && (distance2 < last || (distance2 == last && id <= last_id)))
            return "points are not in order";
        in->seen[id] = (int32_t)query + 1;
        last = distance2;
        last_id = id;
    }
    return NULL;
}

static const char* inspect_count(inspection* in, int64_t query) {
    return measure(in, query) == in->counts[query] ? NULL : "the number of points is wrong";
}

static bool prepare(sap_cli* cli, inspection* in, const sap_cli_check* check) {
    const sap_cli_reference* reference = check->reference;
    double radius2 = check->radius * check->radius;
    int64_t count = reference->points.count;
    in->check = check;
    in->points = &reference->points;
    in->queries = check->queries ? check->queries : in->points;
    in->limit2 = check->radius < 0 ? HUGE_VAL : reference->info.real_bits == 64 ? radius2 : (double)(float)radius2;
    in->distance2 = sap_cli_allocate(cli, count, sizeof *in->distance2);
    in->seen = sap_cli_allocate(cli, count, sizeof *in->seen);
    if (!in->distance2 || !in->seen) return false;
    memset(in->seen, 0, (size_t)count * sizeof *in->seen);
    if (!reference->info.options.drop_duplicates) return true;
    in->dropped = sap_cli_allocate(cli, count, sizeof *in->dropped);
    return in->dropped && sap_cli_duplicates(cli, in->points, in->dropped) >= 0;
}

// A well mixed 64-bit number from a seed and a counter.
static uint64_t mix(uint64_t seed, uint64_t counter) {
    uint64_t x = seed * 0x9e3779b97f4a7c15u + (counter + 1) * 0xd1342543de82ef95u;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

// Inspects all queries, or one from each of as many equal stretches of them as there is time for.
static sap_cli_exit inspect(sap_cli* cli, inspection* in, const char* (*one)(inspection*, int64_t),
                            sap_cli_checked* checked) {
    int64_t count = in->queries->count, sample = count;
    if ((double)count * (double)in->points->count > most_distances)
        sample = (int64_t)(most_distances / (double)in->points->count);
    if (sample < 1) sample = count ? 1 : 0;
    *checked = (sap_cli_checked){sample, count};
    sap_cli_stage_begin(cli, "verifying");
    for (int64_t s = 0; s < sample; s++) {
        int64_t begin = (int64_t)((double)count * (double)s / (double)sample);
        int64_t end = (int64_t)((double)count * (double)(s + 1) / (double)sample);
        uint64_t step = mix((uint64_t)cli->options->seed, (uint64_t)s) % (uint64_t)(end > begin ? end - begin : 1);
        int64_t query = sample == count ? s : begin + (int64_t)step;
        const char* wrong = one(in, query);
        if (wrong) {
            sap_cli_error(cli, "verification failed at query %lld: %s; please report this", (long long)query, wrong);
            sap_cli_stage_end(cli);
            return SAP_EXIT_UNSOUND;
        }
        sap_cli_stage_report(cli, (double)s / (double)sample);
    }
    sap_cli_stage_end(cli);
    return SAP_EXIT_OK;
}

static sap_cli_exit run(sap_cli* cli, inspection* in, const sap_cli_check* check,
                        const char* (*one)(inspection*, int64_t), sap_cli_checked* checked) {
    sap_cli_exit result = SAP_EXIT_FAILED;
    if (prepare(cli, in, check)) result = inspect(cli, in, one, checked);
    free(in->dropped);
    free(in->distance2);
    free(in->seen);
    return result;
}

sap_cli_exit sap_cli_check_possible(sap_cli* cli) {
    if (cli->options->verify && cli->options->period)
        return sap_cli_usage(cli, "--verify compares without periods; --period cannot be given, too");
    if (!cli->options->verify || !sap_cli_is_tree(cli, cli->options->operands[0])) return SAP_EXIT_OK;
    return sap_cli_usage(cli,
                         "--verify compares with the points themselves; give the points' file as REFERENCE, not %s",
                         cli->options->operands[0]);
}

sap_cli_exit sap_cli_check_nearest(sap_cli* cli, const sap_cli_check* check, int32_t k, const int32_t* ids,
                                   const void* distance2, sap_cli_checked* checked) {
    inspection in = {.k = k, .ids = ids, .reported2 = distance2};
    return run(cli, &in, check, inspect_nearest, checked);
}

sap_cli_exit sap_cli_check_rows(sap_cli* cli, const sap_cli_check* check, const sap_cli_rows* rows,
                                sap_cli_checked* checked) {
    inspection in = {.rows = rows};
    return run(cli, &in, check, inspect_row, checked);
}

sap_cli_exit sap_cli_check_counts(sap_cli* cli, const sap_cli_check* check, const int64_t* counts,
                                  sap_cli_checked* checked) {
    inspection in = {.counts = counts};
    return run(cli, &in, check, inspect_count, checked);
}

void sap_cli_check_note(sap_cli* cli, const sap_cli_checked* checked) {
    if (checked->queries < checked->of)
        sap_cli_note(cli,
                     "verified %lld of %lld queries against brute force (a sample: all would take over 10^9 distances)",
                     (long long)checked->queries, (long long)checked->of);
    else
        sap_cli_note(cli, "verified %lld queries against brute force", (long long)checked->queries);
}

void sap_cli_check_json(sap_json* json, const sap_cli_checked* checked) {
    sap_json_open(json, "verified", '{');
    sap_json_int(json, "queries", checked->queries);
    sap_json_bool(json, "sampled", checked->queries < checked->of);
    sap_json_close(json, '}');
}
