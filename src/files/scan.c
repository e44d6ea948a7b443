// From text to numbers: exact integer arithmetic where it reaches, else the C library over a text without a point.
#include "base/assert.h"
#include "files/text.h"
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    KEPT_DIGITS = 19,   // what 64 bits always hold
    SLOW_DIGITS = 800,  // more digits than any midpoint of two doubles has
    LARGEST_POWER = 22, // 10^22 is the last that a double holds
    LARGEST_64BIT = 19  // 10^19 is the last that 64 bits hold
};

static const double powers[LARGEST_POWER + 1] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                                 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

// Where `word` (lower case) ends if it stands at `at` in any case, else NULL.
static const char* skip_word(const char* at, const char* end, const char* word) {
    for (; *word; word++, at++)
        if (at == end || (*at | 0x20) != *word) return NULL;
    return at;
}

static const char* scan_word(const char* at, const char* end, sap_decimal* decimal) {
    const char* after = skip_word(at, end, "nan");
    decimal->kind = SAP_DECIMAL_NAN;
    if (after) return after;
    decimal->kind = SAP_DECIMAL_INFINITY;
    after = skip_word(at, end, "infinity");
    return after ? after : skip_word(at, end, "inf");
}

// The exponent after an 'e', or `at` itself if no exponent stands there. Beyond all ranges it stops growing.
static const char* scan_exponent(const char* at, const char* end, int64_t* exponent) {
    const char* digit = at + 1;
    bool negative = digit < end && *digit == '-';
    if (digit < end && (*digit == '-' || *digit == '+')) digit++;
    if (digit == end || !is_digit(*digit)) return at;
    int64_t value = 0;
    for (; digit < end && is_digit(*digit); digit++)
        if (value < INT32_MAX) value = value * 10 + (*digit - '0');
    *exponent += negative ? -value : value;
    return digit;
}

static inline const char* scan(const char* at, const char* end, sap_decimal* decimal) {
    sap_decimal d = {.exact = true, .kind = SAP_DECIMAL_NUMBER};
    if (at < end && (*at == '-' || *at == '+')) d.negative = *at++ == '-';
    d.first = at;
    bool point = false, any = false;
    for (; at < end; at++) {
        if (*at == '.' && !point) {
            point = true;
            continue;
        }
        if (!is_digit(*at)) break;
        any = true;
        if (d.digits < KEPT_DIGITS) {
            d.mantissa = d.mantissa * 10 + (uint64_t)(*at - '0');
            d.digits += d.mantissa != 0;
            d.exponent -= point;
        } else {
            d.exact &= *at == '0';
            d.exponent += !point;
        }
    }
    d.last = at;
    if (!any) {
        if (point) return NULL;
        at = scan_word(at, end, &d);
    } else if (at < end && (*at | 0x20) == 'e') {
        at = scan_exponent(at, end, &d.exponent);
    }
    *decimal = d;
    return at;
}

const char* sap_decimal_scan(const char* at, const char* end, sap_decimal* decimal) { return scan(at, end, decimal); }

// Writes the digits and the exponent, without a point, for the C library. The text is cut where digits can no longer
// decide the rounding but for being 0 or not.
static void slow_text(const sap_decimal* d, char* text) {
    int digits = 0;
    bool rest = false;
    for (const char* at = d->first; at < d->last; at++) {
        if (*at == '.' || (*at == '0' && !digits)) continue;
        if (digits < SLOW_DIGITS)
            text[digits++] = *at;
        else
            rest |= *at != '0';
    }
    if (rest) text[digits++] = '1';
    // The leading digit's place lies within ±400 here, so this fits an int and no written exponent is long.
    SAP_ASSERT(digits <= SLOW_DIGITS + 1 && llabs(d->exponent + d->digits) <= 400);
    int exponent = (int)(d->exponent + d->digits) - digits;
    text[digits++] = 'e';
    text[digits++] = exponent < 0 ? '-' : '+';
    unsigned magnitude = (unsigned)abs(exponent);
    for (unsigned power = 1000; power; power /= 10) text[digits++] = (char)('0' + magnitude / power % 10);
    text[digits] = 0;
}

// -1 if the number surely rounds to 0 in double precision, 1 if to infinity, else 0.
static int beyond_double(const sap_decimal* d) {
    int64_t leading = d->exponent + d->digits;
    if (!d->mantissa || leading < -330) return -1;
    return leading > 310;
}

#ifdef __SIZEOF_INT128__
__extension__ typedef unsigned __int128 wide;

static const uint64_t integer_powers[LARGEST_64BIT + 1] = {1,
                                                           10,
                                                           100,
                                                           1000,
                                                           10000,
                                                           100000,
                                                           1000000,
                                                           10000000,
                                                           100000000,
                                                           1000000000,
                                                           10000000000,
                                                           100000000000,
                                                           1000000000000,
                                                           10000000000000,
                                                           100000000000000,
                                                           1000000000000000,
                                                           10000000000000000,
                                                           100000000000000000,
                                                           1000000000000000000,
                                                           10000000000000000000u};

// mantissa / 10^k for mantissas above 2^53: the quotient has at least 54 bits, and two more below it say on which side
// of a midpoint the remainder lies. So the one rounding is that of the conversion to double.
static double divide_exactly(uint64_t mantissa, int64_t k) {
    SAP_ASSERT(k > 0 && k <= LARGEST_64BIT && mantissa > (uint64_t)1 << DBL_MANT_DIG);
    wide dividend = (wide)mantissa << 64, divisor = integer_powers[k];
    wide quotient = dividend / divisor;
    bool remainder = quotient * divisor != dividend;
    return ldexp((double)(quotient << 2 | remainder), -66);
}
#endif

static double magnitude_double(const sap_decimal* d) {
    int64_t e = d->exponent;
    if (d->exact) {
        if (e == 0) return (double)d->mantissa;
        if (d->mantissa <= (uint64_t)1 << DBL_MANT_DIG) {
            if (e > 0 && e <= LARGEST_POWER) return (double)d->mantissa * powers[e];
            if (e < 0 && e >= -LARGEST_POWER) return (double)d->mantissa / powers[-e];
        }
#ifdef __SIZEOF_INT128__
        else if (e < 0 && e >= -LARGEST_64BIT)
            return divide_exactly(d->mantissa, -e);
        else if (e > 0 && e <= LARGEST_64BIT)
            return (double)((wide)d->mantissa * integer_powers[e]);
#endif
    }
    int beyond = beyond_double(d);
    if (beyond) return beyond < 0 ? 0.0 : (double)INFINITY;
    char text[SLOW_DIGITS + 8];
    slow_text(d, text);
    return strtod(text, NULL);
}

double sap_decimal_double(const sap_decimal* d) {
    double value = d->kind == SAP_DECIMAL_NUMBER     ? magnitude_double(d)
                   : d->kind == SAP_DECIMAL_INFINITY ? (double)INFINITY
                                                     : (double)NAN;
    return d->negative ? -value : value;
}

static float magnitude_float(const sap_decimal* d) {
    const int exact_power = 10; // 10^10 is the last that a float holds
    if (d->exact && d->mantissa <= (uint64_t)1 << FLT_MANT_DIG && llabs(d->exponent) <= exact_power) {
        float mantissa = (float)d->mantissa;
        return d->exponent < 0 ? mantissa / (float)powers[-d->exponent] : mantissa * (float)powers[d->exponent];
    }
    double value = magnitude_double(d);
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    // Rounding twice is rounding once, but where the first rounding ends on a midpoint of two floats.
    const uint64_t below_float = ((uint64_t)1 << 29) - 1, midpoint = (uint64_t)1 << 28;
    bool risky = (bits & below_float) == midpoint || (value < (double)FLT_MIN && value > 0);
    if (!risky || beyond_double(d)) return (float)value;
    char text[SLOW_DIGITS + 8];
    slow_text(d, text);
    return strtof(text, NULL);
}

float sap_decimal_float(const sap_decimal* d) {
    float value = d->kind == SAP_DECIMAL_NUMBER     ? magnitude_float(d)
                  : d->kind == SAP_DECIMAL_INFINITY ? (float)INFINITY
                                                    : (float)NAN;
    return d->negative ? -value : value;
}

const char* sap_float_scan(const char* at, const char* end, float* value) {
    sap_decimal decimal;
    const char* after = scan(at, end, &decimal);
    if (after) *value = sap_decimal_float(&decimal);
    return after;
}

bool sap_float_beyond(const char* at, const char* end, float value) {
    sap_decimal decimal;
    return isinf(value) && scan(at, end, &decimal) && decimal.kind == SAP_DECIMAL_NUMBER;
}

bool sap_decimal_in_float_range(const sap_decimal* d) {
    return d->kind != SAP_DECIMAL_NUMBER || d->exponent + d->digits <= FLT_MAX_10_EXP || !isinf(magnitude_float(d));
}

static double power_of_ten(int64_t k) {
    double power = 1;
    for (; k > LARGEST_POWER; k -= LARGEST_POWER) power *= powers[LARGEST_POWER];
    return power * powers[k];
}

bool sap_decimal_fits_float(const sap_decimal* d) {
    if (d->kind != SAP_DECIMAL_NUMBER || !d->mantissa) return true;
    int64_t leading = d->exponent + d->digits;
    if (leading < FLT_MIN_10_EXP - FLT_DECIMAL_DIG || leading > FLT_MAX_10_EXP + 1) return false;
    // Every number of so few digits survives a float's range of full precision.
    if (d->digits <= FLT_DIG && leading > FLT_MIN_10_EXP && leading <= FLT_MAX_10_EXP) return true;
    float value = magnitude_float(d);
    if (value == 0 || isinf(value)) return false;
    // Beyond these digits the arithmetic below is too coarse, and only what was a float is worth being one.
    const int comparable_digits = 12;
    if (d->digits > comparable_digits || !d->exact) return magnitude_double(d) == (double)value;
    double scaled =
        d->exponent < 0 ? (double)value * power_of_ten(-d->exponent) : (double)value / power_of_ten(d->exponent);
    return fabs(scaled - (double)d->mantissa) <= 0.5000001;
}
