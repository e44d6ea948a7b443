#include "oracle.h"
#include <math.h>
#include <stdlib.h>

typedef struct candidate {
    double distance2;
    int32_t id;
} candidate;

double oracle_limit2(double radius, int32_t real_bits) {
    double limit2 = radius * radius;
    if (real_bits == 64) return limit2;
    // Rounded once: the float whose distance to the exact square, limit2 and its error, is smallest.
    float best = (float)limit2;
    double error = fma(radius, radius, -limit2);
    for (int i = -1; i <= 1; i += 2) {
        float other = nextafterf(best, i < 0 ? 0 : INFINITY);
        if (fabs(((double)other - limit2) - error) < fabs(((double)best - limit2) - error)) best = other;
    }
    return (double)best;
}

static double distance2_f32(const float* q, const float* p, int32_t dims) {
    float sum = 0;
    for (int32_t a = 0; a < dims; a++) {
        float difference = q[a] - p[a], square = difference * difference;
        sum = sum + square;
    }
    return (double)sum;
}

static double distance2_f64(const double* q, const double* p, int32_t dims) {
    double sum = 0;
    for (int32_t a = 0; a < dims; a++) {
        double difference = q[a] - p[a], square = difference * difference;
        sum = sum + square;
    }
    return sum;
}

double oracle_distance2(const cloud* queries, int64_t query, const cloud* points, int64_t point) {
    int64_t q = query * queries->stride, p = point * points->stride;
    if (points->real_bits == 64)
        return distance2_f64((const double*)queries->coords + q, (const double*)points->coords + p, points->dims);
    return distance2_f32((const float*)queries->coords + q, (const float*)points->coords + p, points->dims);
}

// A length to a power: by itself, and by those of its roots whose binary digits the fraction has.
#define RAISED(name, real, root_of)                                                                                    \
    static real name(real first, real length, double p) {                                                              \
        real term = first;                                                                                             \
        const int whole = isinf(p) ? 1 : (int)p;                                                                       \
        double fraction = isinf(p) ? 0 : p - whole;                                                                    \
        for (int i = 1; i < whole; i++) term = term * length;                                                          \
        while (fraction > 0) {                                                                                         \
            fraction *= 2;                                                                                             \
            length = root_of(length);                                                                                  \
            if (fraction >= 1) term = term * length;                                                                   \
            fraction -= fraction >= 1;                                                                                 \
        }                                                                                                              \
        return term;                                                                                                   \
    }
RAISED(raised_f32, float, sqrtf)
RAISED(raised_f64, double, sqrt)

double oracle_distance(const oracle_metric* metric, const cloud* queries, int64_t query, const cloud* points,
                       int64_t point) {
    double total = 0;
    for (int32_t a = 0; a < points->dims; a++) {
        if (!isfinite(cloud_get(queries, query, a))) return NAN; // whatever its weight
        const double q = cloud_get(queries, query, a), x = cloud_get(points, point, a);
        const double weight = metric->weights ? metric->weights[a] : 1;
        const double period = metric->period ? metric->period[a] : 0;
        double term;
        if (points->real_bits == 64) {
            const double direct = fabs(q - x), length = period > 0 ? fmin(direct, period - direct) : direct;
            term = raised_f64(weight * length, length, metric->p);
        } else {
            const float direct = fabsf((float)q - (float)x);
            const float length = period > 0 ? fminf(direct, (float)period - direct) : direct;
            term = (double)raised_f32((float)weight * length, length, metric->p);
        }
        if (isinf(metric->p))
            total = term > total ? term : total;
        else
            total = points->real_bits == 64 ? total + term : (double)((float)total + (float)term);
    }
    return total;
}

double oracle_limit(const oracle_metric* metric, double radius, int32_t real_bits) {
    if (metric->p == 2) return oracle_limit2(radius, real_bits);
    const double limit = raised_f64(radius, radius, metric->p);
    return real_bits == 64 ? limit : (double)(float)limit;
}

static bool same_point(const cloud* points, int64_t a, int64_t b) {
    for (int32_t axis = 0; axis < points->dims; axis++) {
        if (cloud_get(points, a, axis) != cloud_get(points, b, axis)) return false;
    }
    return true;
}

int64_t oracle_duplicates(const cloud* points, uint8_t* dropped) {
    int64_t found = 0;
    for (int64_t i = 0; i < points->count; i++) {
        dropped[i] = 0;
        for (int64_t j = 0; j < i && !dropped[i]; j++) dropped[i] = same_point(points, i, j);
        found += dropped[i];
    }
    return found;
}

static bool comes_before(candidate a, candidate b) {
    return a.distance2 < b.distance2 || (a.distance2 == b.distance2 && a.id < b.id);
}

static int compare_candidates(const void* a, const void* b) {
    const candidate *x = a, *y = b;
    return comes_before(*x, *y) ? -1 : comes_before(*y, *x);
}

// All candidates in no order; how many.
static int64_t collect(const cloud* points, const cloud* queries, int64_t query, const oracle_rules* rules,
                       candidate* all) {
    int64_t found = 0;
    if (rules->self && rules->dropped && rules->dropped[query]) return 0;
    for (int64_t i = 0; i < points->count; i++) {
        if (rules->dropped && rules->dropped[i]) continue;
        if (rules->self && i == query && !rules->with_self) continue;
        if (rules->without && rules->without[query] == i) continue;
        if (rules->greater_only && i <= query) continue;
        if (rules->keep && !rules->keep[i]) continue;
        double distance2 = rules->metric ? oracle_distance(rules->metric, queries, query, points, i)
                                         : oracle_distance2(queries, query, points, i);
        if (isfinite(distance2) && distance2 <= rules->limit2) all[found++] = (candidate){distance2, (int32_t)i};
    }
    return found;
}

// Brings the k first of all candidates to the front, in order. Insertion for few, sorting for many.
static void order(candidate* all, int64_t count, int64_t k) {
    if (k > 40) {
        qsort(all, (size_t)count, sizeof *all, compare_candidates);
        return;
    }
    int64_t kept = 0;
    for (int64_t i = 0; i < count; i++) {
        candidate c = all[i];
        if (kept == k && !comes_before(c, all[k - 1])) continue;
        int64_t at = kept < k ? kept++ : k - 1;
        for (; at > 0 && comes_before(c, all[at - 1]); at--) all[at] = all[at - 1];
        all[at] = c;
    }
}

static void put_distance2(void* distance2, int32_t real_bits, int64_t at, double value) {
    if (!distance2) return;
    if (real_bits == 64)
        ((double*)distance2)[at] = value;
    else
        ((float*)distance2)[at] = (float)value;
}

bool oracle_nearest(const cloud* points, const cloud* queries, int64_t query, int32_t k, const oracle_rules* rules,
                    int32_t* ids, void* distance2) {
    candidate* all = malloc(sizeof *all * (size_t)(points->count + 1));
    if (!all) return false;
    int64_t found = collect(points, queries, query, rules, all);
    order(all, found, k);
    for (int64_t i = 0; i < k; i++) {
        ids[i] = i < found ? all[i].id : -1;
        put_distance2(distance2, points->real_bits, i, i < found ? all[i].distance2 : (double)INFINITY);
    }
    free(all);
    return true;
}

int64_t oracle_radius(const cloud* points, const cloud* queries, int64_t query, const oracle_rules* rules, int32_t* ids,
                      void* distance2) {
    candidate* all = malloc(sizeof *all * (size_t)(points->count + 1));
    if (!all) return -1;
    int64_t found = collect(points, queries, query, rules, all);
    order(all, found, found);
    for (int64_t i = 0; i < found; i++) {
        if (ids) ids[i] = all[i].id;
        put_distance2(distance2, points->real_bits, i, all[i].distance2);
    }
    free(all);
    return found;
}

int64_t oracle_box_search(const cloud* points, const cloud* lower, int64_t low, const cloud* upper, int64_t high,
                          const uint8_t* dropped, int32_t* ids) {
    int64_t count = 0;
    for (int64_t i = 0; i < points->count; i++) {
        bool is_inside = !dropped || !dropped[i];
        for (int32_t a = 0; a < points->dims && is_inside; a++) {
            const double at = cloud_get(points, i, a);
            is_inside = cloud_get(lower, low, a) <= at && at <= cloud_get(upper, high, a);
        }
        if (is_inside && ids) ids[count] = (int32_t)i;
        count += is_inside;
    }
    return count;
}
