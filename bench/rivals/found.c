// Which rivals this build has.
#include "rival.h"

#include <string.h>

extern const bench_rival bench_nanoflann, bench_flann, bench_cgal;

const bench_rival* const bench_rivals[] = {
#ifdef BENCH_NANOFLANN
    &bench_nanoflann,
#endif
#ifdef BENCH_FLANN
    &bench_flann,
#endif
#ifdef BENCH_CGAL
    &bench_cgal,
#endif
    NULL,
};
const int bench_rival_count = (int)(sizeof bench_rivals / sizeof bench_rivals[0]) - 1;

extern const bench_moving_rival bench_nanoflann_moving;

const bench_moving_rival* bench_moving(void) {
#ifdef BENCH_NANOFLANN
    return &bench_nanoflann_moving;
#else
    return NULL;
#endif
}

const bench_rival* bench_main_rival(void) {
    return bench_rival_count > 0 && strcmp(bench_rivals[0]->name, "nanoflann") == 0 ? bench_rivals[0] : NULL;
}
