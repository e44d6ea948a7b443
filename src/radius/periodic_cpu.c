// Radius searches of balanced trees with periods. Most queries are so far from the ends of the periods that no way around
// is shorter than the radius: those are answered by the kernels of all other trees.
#include "radius/radius.h"
#include "tree/periods.h"

static bool reaches_around(const sap_radius_run* run, int64_t query) {
    const sap_told* told = run->told;
    const int64_t row = run->rows ? run->rows[query] : run->first_row + query;
    const double limit = told ? sap_told_limit_of(run->tree, told, run->limit2, row) : run->limit2;
    const size_t real = sap_real_bytes(&run->tree->shape);
    const unsigned char* coords = (const unsigned char*)run->queries + (size_t)(query * run->stride) * real;
    return limit >= 0 && sap_reaches_around(run->tree, told ? told->metric : SAP_METRIC_L2, coords, limit);
}

void sap_radius_run_periodic(const sap_radius_kernels* plain, const sap_radius_kernels* periodic, sap_radius_run* run) {
    const sap_radius_run whole = *run;
    while (run->done < whole.count) {
        const bool around = reaches_around(&whole, run->done);
        int64_t end = run->done + 1;
        while (end < whole.count && reaches_around(&whole, end) == around) end++;
        run->count = end;
        run->told = around && !whole.told ? &sap_told_nothing : whole.told;
        (around ? periodic : plain)->search(run);
        if (run->done < end) break; // there is no more room
    }
    run->count = whole.count;
    run->told = whole.told;
}
