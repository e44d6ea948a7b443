// Numbers as text. Nothing here depends on the locale: the C library is only shown and asked for digits and exponents,
// never a decimal point.
#ifndef SAPWOOD_FILES_TEXT_H
#define SAPWOOD_FILES_TEXT_H

#include <stdbool.h>
#include <stdint.h>

typedef enum sap_decimal_kind { SAP_DECIMAL_NUMBER, SAP_DECIMAL_INFINITY, SAP_DECIMAL_NAN } sap_decimal_kind;

// A number as it is written: mantissa * 10^exponent, the mantissa holding the first 19 significant digits.
typedef struct sap_decimal {
    const char *first, *last; // where its digits and the point stand in the text
    uint64_t mantissa;
    int64_t exponent;
    int32_t digits; // significant digits in the mantissa, trailing zeros included
    bool negative;
    bool exact; // no digit other than 0 was dropped
    sap_decimal_kind kind;
} sap_decimal;

// Reads the number that begins at `at`: [+-] digits [. digits] [e [+-] digits], or inf, infinity, nan in any case.
// Returns where it ends, or NULL if there is none. The caller looks at what follows.
const char* sap_decimal_scan(const char* at, const char* end, sap_decimal* decimal);

// The nearest double and float (ties to even); infinite beyond their range.
double sap_decimal_double(const sap_decimal* decimal);
float sap_decimal_float(const sap_decimal* decimal);

// Reads a number as a float, at once. Returns where it ends, or NULL if there is none.
const char* sap_float_scan(const char* at, const char* end, float* value);
// Whether `value`, which was read so, stands for a finite number beyond the range of a float.
bool sap_float_beyond(const char* at, const char* end, float value);

// Whether the nearest float is finite, or the number itself is not.
bool sap_decimal_in_float_range(const sap_decimal* decimal);

// Whether a float holds the number: rounded to as many digits as are written, the nearest float is that number again.
bool sap_decimal_fits_float(const sap_decimal* decimal);

enum { SAP_TEXT_BYTES = 32 }; // room for any printed number

// Print the fewest digits that read back as the same value (of these the nearest to it), without a 0 at the end; the
// number of characters.
int sap_print_double(double value, char* text);
int sap_print_float(float value, char* text);
int sap_print_int(int64_t value, char* text);

#endif
