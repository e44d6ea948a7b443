// A first look at the rows that a rank gives: whether a tree takes all of them, and their box.
#include "base/team.h"
#include "cluster/cut.h"
#include <string.h>

enum { LANES = 12 }; // values that are compared side by side: whole rows of one, two, three, four, six and twelve axes

// Coordinates are compared by their bits, in whose order as signed numbers they are themselves; what is not a number lies
// beyond the infinities.
typedef struct look {
    const sap_rows* rows;
    int64_t stretches;
    int64_t low[SAP_CUT_MOST_STRETCHES][SAP_MAX_DIMS], high[SAP_CUT_MOST_STRETCHES][SAP_MAX_DIMS];
} look;

#define LOOK(real, word, unsigned_word)                                                                                \
    static inline word order_##real(real x) {                                                                          \
        word bits;                                                                                                     \
        memcpy(&bits, &x, sizeof bits);                                                                                \
        return bits < 0 ? bits ^ (word)((unsigned_word)-1 >> 1) : bits;                                                \
    }                                                                                                                  \
    /* NOLINTNEXTLINE(bugprone-macro-parentheses): a declaration takes none */                                         \
    static inline void widen_##real(real x, word* low, word* high) {                                                   \
        const word own = order_##real(x);                                                                              \
        *low = own < *low ? own : *low;                                                                                \
        *high = own > *high ? own : *high;                                                                             \
    }                                                                                                                  \
    /* From the first row on, of which `values` lie one behind the other. */                                           \
    static void look_along_##real(const real* x, int64_t values, word low[LANES], word high[LANES]) {                  \
        int64_t i = 0;                                                                                                 \
        for (; i + LANES <= values; i += LANES)                                                                        \
            for (int j = 0; j < LANES; j++) widen_##real(x[i + j], &low[j], &high[j]);                                 \
        for (int j = 0; i + j < values; j++) widen_##real(x[i + j], &low[j], &high[j]);                                \
    }                                                                                                                  \
    static void look_##real(look* l, int64_t part, int64_t from, int64_t to) {                                         \
        const int32_t dims = l->rows->dims;                                                                            \
        const int64_t stride = l->rows->stride;                                                                        \
        const real* x = (const real*)l->rows->coords + from * stride;                                                  \
        word low[SAP_MAX_DIMS], high[SAP_MAX_DIMS];                                                                    \
        for (int j = 0; j < SAP_MAX_DIMS; j++) low[j] = high[j] = order_##real(x[j % dims]);                           \
        if (stride == dims && LANES % dims == 0)                                                                       \
            look_along_##real(x, (to - from) * dims, low, high);                                                       \
        else                                                                                                           \
            for (int64_t p = from; p < to; p++, x += stride)                                                           \
                for (int32_t a = 0; a < dims; a++) widen_##real(x[a], &low[a], &high[a]);                              \
        for (int32_t a = 0; a < dims; a++) l->low[part][a] = l->high[part][a] = low[a];                                \
        for (int j = 0; j < SAP_MAX_DIMS; j++) {                                                                       \
            const int32_t a = j % dims;                                                                                \
            if (low[j] < l->low[part][a]) l->low[part][a] = low[j];                                                    \
            if (high[j] > l->high[part][a]) l->high[part][a] = high[j];                                                \
        }                                                                                                              \
    }
LOOK(float, int32_t, uint32_t)
LOOK(double, int64_t, uint64_t)

static void look_part(void* context, int64_t part, int32_t worker) {
    look* l = context;
    const int64_t from = l->rows->count * part / l->stretches, to = l->rows->count * (part + 1) / l->stretches;
    (void)worker;
    if (l->rows->real_bits == 64)
        look_double(l, part, from, to);
    else
        look_float(l, part, from, to);
}

// As sap_cut_key has it: minus zero, which lies next to zero, is zero.
static uint64_t key_of(int64_t order, int32_t real_bits) {
    const uint64_t key = (uint64_t)(order == -1 ? 0 : order);
    return real_bits == 64 ? key ^ UINT64_C(1) << 63 : (uint32_t)key ^ UINT32_C(1) << 31;
}

bool sap_cut_look(int32_t threads, const sap_rows* rows, double most, uint64_t* box) {
    look l = {.rows = rows, .stretches = rows->count / SAP_CUT_STRETCH + 1};
    const uint64_t least_key = sap_cut_key_of(-most, rows->real_bits), most_key = sap_cut_key_of(most, rows->real_bits);
    bool good = true;
    if (rows->count == 0) return false;
    if (l.stretches > SAP_CUT_MOST_STRETCHES) l.stretches = SAP_CUT_MOST_STRETCHES;
    if (threads == 1) l.stretches = 1;
    sap_team_run(threads, l.stretches, look_part, &l);
    for (int32_t a = 0; a < rows->dims; a++) {
        int64_t low = l.low[0][a], high = l.high[0][a];
        for (int64_t i = 1; i < l.stretches; i++) {
            if (l.low[i][a] < low) low = l.low[i][a];
            if (l.high[i][a] > high) high = l.high[i][a];
        }
        box[a] = key_of(low, rows->real_bits);
        box[rows->dims + a] = ~key_of(high, rows->real_bits);
        good = good && box[a] >= least_key && ~box[rows->dims + a] <= most_key;
    }
    return good;
}
