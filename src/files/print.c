// From numbers to text: the fewest digits that read back as the same value, found in exact integer arithmetic for
// ordinary magnitudes and by trial for the rest.
#include "base/assert.h"
#include "files/text.h"
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

// A positive binary number, mantissa * 2^exponent, of a type with so many bits and decimal digits.
typedef struct binary {
    uint64_t mantissa;
    int exponent;
    bool lowest;     // the next smaller number is half as far away as the next greater one
    bool normal;     // has all its bits
    bool single;     // a float
    int most_digits; // digits that always suffice
    double value;
} binary;

// Significant digits without zeros at the end, the first one standing for 10^exponent.
typedef struct decimal_digits {
    char digit[20];
    int count, exponent;
} decimal_digits;

static void drop_zeros(decimal_digits* d) {
    while (d->count > 1 && d->digit[d->count - 1] == '0') d->count--;
}

#ifdef __SIZEOF_INT128__
__extension__ typedef unsigned __int128 wide;

static void set_digits(decimal_digits* d, uint64_t number, int exponent_of_last) {
    char reversed[20];
    int count = 0;
    for (; number; number /= 10) reversed[count++] = (char)('0' + number % 10);
    for (int i = 0; i < count; i++) d->digit[i] = reversed[count - 1 - i];
    SAP_ASSERT(count > 0 && count <= (int)sizeof d->digit);
    d->count = count;
    d->exponent = exponent_of_last + count - 1;
}

static wide wide_power(int k) {
    SAP_ASSERT(k >= 0 && k <= 38); // 10^38 is the last that 128 bits hold
    wide power = 1;
    for (wide square = 10; k; k >>= 1, square *= square)
        if (k & 1) power *= square;
    return power;
}

// The nearest number of `digits` digits, if it reads back as b and all steps stay below 2^127.
// With k decimals: D / 10^k near m / 2^s, so D * 2^s is compared with m * 10^k (or D * 2^s * 10^-k with m).
static bool try_digits(const binary* b, int leading, int digits, decimal_digits* result) {
    int k = digits - 1 - leading;
    int shift = -b->exponent;
    SAP_ASSERT(shift >= 0 && shift < 128 && digits > 0);
    wide scale = wide_power(k < 0 ? 0 : k), divisor = wide_power(k < 0 ? -k : 0) << shift;
    wide dividend = b->mantissa * scale, rounded = dividend + divisor / 2;
    wide nearest = k < 0 ? rounded / divisor : rounded >> shift, back = nearest * divisor;
    bool below = back < dividend;
    wide error = (below ? dividend - back : back - dividend) * (below && b->lowest ? 4 : 2);
    if (nearest == 0 || error > scale || (error == scale && b->mantissa % 2)) return false;
    set_digits(result, (uint64_t)nearest, -k);
    return true;
}

static bool shortest_exact(const binary* b, decimal_digits* result) {
    int leading = (int)floor(log10(b->value));
    // 2^24 * 10^29 and 2^53 * 10^21 leave room for the factor 4; so do the divisors.
    int most_decimals = b->single ? 29 : 21;
    if (b->exponent > 0 || b->exponent < -70 || b->most_digits - leading > most_decimals) return false;
    // Whatever reads back with some digits does so with more: halve the range, then step over the rare exception, a
    // power of two, whose neighbours lie at different distances.
    int fewest = 1;
    for (int most = b->most_digits; fewest < most && !b->lowest;) {
        int middle = (fewest + most) / 2;
        if (try_digits(b, leading, middle, result))
            most = middle;
        else
            fewest = middle + 1;
    }
    for (; fewest <= b->most_digits; fewest++)
        if (try_digits(b, leading, fewest, result)) return true;
    return false;
}
#else
static bool shortest_exact(const binary* b, decimal_digits* result) {
    (void)b;
    (void)result;
    return false;
}
#endif

// Whether the digits read back as b.
static bool reads_back(const binary* b, const decimal_digits* d) {
    sap_decimal decimal = {.first = d->digit, .last = d->digit + d->count, .digits = d->count, .exact = true};
    for (int i = 0; i < d->count; i++) decimal.mantissa = decimal.mantissa * 10 + (uint64_t)(d->digit[i] - '0');
    decimal.exponent = d->exponent - d->count + 1;
    return b->single ? (double)sap_decimal_float(&decimal) == b->value : sap_decimal_double(&decimal) == b->value;
}

static void shortest_tried(const binary* b, decimal_digits* result) {
    // So many digits survive the way into a number with all its bits and back: fewer are those with zeros at the end.
    int digits = !b->normal ? 1 : b->single ? FLT_DIG : DBL_DIG;
    for (; digits <= b->most_digits; digits++) {
        char text[48];
        snprintf(text, sizeof text, "%.*e", digits - 1, b->value);
        const char* at = text;
        result->count = 0;
        for (; *at != 'e'; at++)
            if (*at >= '0' && *at <= '9') result->digit[result->count++] = *at;
        int exponent = 0;
        for (const char* digit = at + 2; *digit; digit++) exponent = exponent * 10 + (*digit - '0');
        result->exponent = at[1] == '-' ? -exponent : exponent;
        if (reads_back(b, result)) return;
    }
}

static char* put_zeros(char* at, int count) {
    for (int i = 0; i < count; i++) *at++ = '0';
    return at;
}

// Digits and point, as 123.5, 0.001235 or 1.235e30. Zeros that are no digits of the value never stand before the point.
static char* layout(const decimal_digits* d, int padded, char* at) {
    int count = d->count, exponent = d->exponent;
    bool plain = exponent >= -5 && exponent < (count > padded ? count : padded);
    int before = plain ? exponent + 1 : 1; // digits before the point
    if (before <= 0) {
        *at++ = '0';
        *at++ = '.';
        at = put_zeros(at, -before);
        before = count;
    }
    for (int i = 0; i < count; i++) {
        if (i == before) *at++ = '.';
        *at++ = d->digit[i];
    }
    if (plain) return exponent + 1 > count ? put_zeros(at, exponent + 1 - count) : at;
    *at++ = 'e';
    return at + sap_print_int(exponent, at);
}

static int print_binary(binary b, bool negative, char* text) {
    char* at = text;
    if (negative) *at++ = '-';
    if (b.mantissa == 0) {
        *at++ = '0';
    } else {
        decimal_digits digits = {{0}, 0, 0};
        if (!shortest_exact(&b, &digits)) shortest_tried(&b, &digits);
        drop_zeros(&digits);
        at = layout(&digits, b.single ? FLT_DIG + 1 : DBL_DIG, at);
    }
    *at = 0;
    SAP_ASSERT(at - text < SAP_TEXT_BYTES);
    return (int)(at - text);
}

static int print_special(double value, char* text) {
    const char* word = isnan(value) ? "nan" : value < 0 ? "-inf" : "inf";
    size_t length = strlen(word);
    memcpy(text, word, length + 1);
    return (int)length;
}

// The parts of a number with so many bits of mantissa, the first of which is hidden, and an exponent that is biased by
// half its largest.
static binary binary_of(uint64_t bits, int mantissa_bits, int largest_exponent) {
    const uint64_t hidden = (uint64_t)1 << (mantissa_bits - 1);
    const int biased = (int)(bits >> (mantissa_bits - 1)) & largest_exponent;
    binary b = {.mantissa = bits & (hidden - 1), .exponent = 2 - largest_exponent / 2 - mantissa_bits};
    b.normal = biased > 0;
    if (b.normal) {
        b.lowest = b.mantissa == 0 && biased > 1;
        b.mantissa |= hidden;
        b.exponent += biased - 1;
    }
    return b;
}

int sap_print_double(double value, char* text) {
    if (!isfinite(value)) return print_special(value, text);
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    binary b = binary_of(bits, DBL_MANT_DIG, 0x7ff);
    b.most_digits = 17;
    b.value = fabs(value);
    return print_binary(b, bits >> 63, text);
}

int sap_print_float(float value, char* text) {
    if (!isfinite(value)) return print_special((double)value, text);
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    binary b = binary_of(bits, FLT_MANT_DIG, 0xff);
    b.most_digits = 9;
    b.single = true;
    b.value = (double)fabsf(value);
    return print_binary(b, bits >> 31, text);
}

int sap_print_int(int64_t value, char* text) {
    char reversed[20];
    int count = 0, length = 0;
    uint64_t magnitude = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
    do reversed[count++] = (char)('0' + magnitude % 10);
    while (magnitude /= 10);
    if (value < 0) text[length++] = '-';
    while (count) text[length++] = reversed[--count];
    text[length] = 0;
    return length;
}
