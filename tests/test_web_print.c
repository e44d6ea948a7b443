// The npm package's own printf (web/module/print.c): it prints what the C library's does.
#include "test.h"
#include <float.h>
#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

int web_vsnprintf(char* restrict at, size_t room, const char* restrict given, va_list arguments);
int web_snprintf(char* restrict at, size_t room, const char* restrict format, ...)
    __attribute__((format(printf, 3, 4)));
#define vsnprintf web_vsnprintf
#define snprintf  web_snprintf
#include "../web/module/print.c" // NOLINT(bugprone-suspicious-include)
#undef vsnprintf
#undef snprintf

#define SAME(...)                                                                                                      \
    do {                                                                                                               \
        char ours[200], theirs[200];                                                                                   \
        CHECK_EQUAL(web_snprintf(ours, sizeof ours, __VA_ARGS__), snprintf(theirs, sizeof theirs, __VA_ARGS__));       \
        CHECK_TEXT(ours, theirs);                                                                                      \
    } while (0)

TEST(what_sentences_are_made_of) {
    SAME("plain, %s and %.3s, %.*s %c%%", "whole", "cut off", 2, "four", 'x');
    SAME("%d %d %lld %lld", 0, INT_MIN, (long long)INT64_MIN, (long long)INT64_MAX);
    SAME("%ld %lu %zu %u %llu %04x %02d", -5L, 5UL, (size_t)77, UINT32_MAX, (unsigned long long)UINT64_MAX, 0xabU, 7);
    SAME("%s", "");
}

TEST(what_does_not_fit) {
    char few[8];
    CHECK_EQUAL(web_snprintf(few, sizeof few, "%s %d", "sentence", 12), 11);
    CHECK_TEXT(few, "sentenc");
    CHECK_EQUAL(web_snprintf(NULL, 0, "%d", 12345), 5);
}

// But for the last digit of numbers that lie just between two of so many digits.
TEST(real_numbers) {
    static const double some[] = {
        0,       -0.0,   1,       -1,     0.5,      10,        100000,     999999,  1e6,     1e-4,     9.99999e-5,
        1e-5,    123456, 1234567, 0.1,    1e30,     1e100,     1e300,      1e-300,  DBL_MAX, DBL_MIN,  FLT_MAX,
        FLT_MIN, 360,    0.75,    1.5e-7, INFINITY, -INFINITY, 5.32555e18, 2.0 / 3, 1e-10F,  99999.95, 0.00012345678};
    uint64_t state = 7;
    for (size_t i = 0; i < sizeof some / sizeof *some; i++) {
        SAME("%g|%.3g|%.2g", some[i], some[i], some[i]);
        SAME("%g|%.4g", -some[i], some[i]);
    }
    for (int64_t whole = 1; whole < 1000000000000000; whole = 3 * whole + 1) SAME("%.15g", (double)whole);
    for (int i = 0; i < 20000; i++) {
        state = state * 6364136223846793005U + 1442695040888963407U;
        const double x = ((double)(state >> 11) + 0.37) * 1e-16 * pow(10, i % 40 - 20);
        SAME("%g %.3g %.4g", x, x, x);
    }
}

TEST_MAIN()
