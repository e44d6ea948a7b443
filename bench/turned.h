// What the benchmarks of alignment share: a turn and a shift, and what is left of the turn.
#ifndef SAPWOOD_BENCH_TURNED_H
#define SAPWOOD_BENCH_TURNED_H

#include "bench.h"

// A motion: about a middle by 5 degrees around the direction 1 2 3, then by 2 % of a diagonal.
typedef struct bench_turned {
    double turn[9], middle[3], diagonal;
} bench_turned;

// The motion of points[count] about the middle of their bounds.
bench_turned bench_turned_of(const float* points, int64_t count);
// Writes where a point goes.
void bench_turned_move(const bench_turned* turned, const double from[3], float to[3]);
// Degrees by which an alignment has not turned points back.
double bench_degrees_left(const bench_turned* turned, const double transform[16]);
// A number of 0 to below 1.
double bench_next_unit(uint64_t* state);
// Writes words of four bytes to FOLDER/NAME, or ends the program.
void bench_write_words(const char* folder, const char* name, const void* words, int64_t count);
// Sorts samples, and gives the one in the middle.
double bench_middle_of(double* samples, int count);

#endif
