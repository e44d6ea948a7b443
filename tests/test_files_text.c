// Numbers as text: every value survives printing and reading, in any locale, and reading rounds as the C library does.
#include "files/text.h"
#include "test.h"
#include <locale.h>
#include <math.h>
#include <stdlib.h>

static uint64_t next_random(uint64_t* state) {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state * 2685821657736338717u;
}

// The bits, so that -0 is not 0.
static uint64_t bits_of(double value) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static bool scan_all(const char* text, sap_decimal* decimal) {
    const char* end = text + strlen(text);
    return sap_decimal_scan(text, end, decimal) == end;
}

// Significant digits of a printed number, without the zeros at the end.
static int digits_of(const char* text) {
    int count = 0, zeros = 0;
    for (; *text && *text != 'e'; text++) {
        if (*text < '0' || *text > '9' || (*text == '0' && !count)) continue;
        count++;
        zeros = *text == '0' ? zeros + 1 : 0;
    }
    return count - zeros;
}

static void check_double(double value) {
    char text[SAP_TEXT_BYTES], shorter[48];
    sap_decimal decimal;
    NOTE("%a", value);
    int length = sap_print_double(value, text);
    CHECK_EQUAL(length, strlen(text));
    CHECK(length < SAP_TEXT_BYTES);
    double back = scan_all(text, &decimal) ? sap_decimal_double(&decimal) : (double)NAN;
    CHECK(bits_of(back) == bits_of(value));
    CHECK(strtod(text, NULL) == value);
    snprintf(shorter, sizeof shorter, "%.*e", digits_of(text) > 1 ? digits_of(text) - 2 : 0, value);
    if (digits_of(text) > 1) CHECK(strtod(shorter, NULL) != value);
}

static void check_float(float value) {
    char text[SAP_TEXT_BYTES], shorter[48];
    sap_decimal decimal;
    NOTE("%a as float", (double)value);
    int length = sap_print_float(value, text);
    CHECK_EQUAL(length, strlen(text));
    float back = scan_all(text, &decimal) ? sap_decimal_float(&decimal) : NAN;
    CHECK(bits_of((double)back) == bits_of((double)value));
    CHECK(strtof(text, NULL) == value);
    CHECK(sap_decimal_fits_float(&decimal));
    snprintf(shorter, sizeof shorter, "%.*e", digits_of(text) > 1 ? digits_of(text) - 2 : 0, (double)value);
    if (digits_of(text) > 1) CHECK(strtof(shorter, NULL) != value);
}

TEST(doubles_survive) {
    uint64_t state = 1;
    for (int exponent = -1074; exponent < 1024; exponent++) check_double(ldexp(1, exponent));
    for (int i = 0; i < 100000; i++) {
        uint64_t bits = next_random(&state);
        double any;
        memcpy(&any, &bits, sizeof any);
        if (isfinite(any)) check_double(any);
        check_double((double)(bits >> 11) * 0x1p-53);
        check_double((double)(int64_t)(bits >> (bits & 63)));
        check_double((double)(bits >> 40) / 1000);
    }
}

TEST(floats_survive) {
    uint64_t state = 2;
    for (int exponent = -149; exponent < 128; exponent++) check_float(ldexpf(1, exponent));
    for (int i = 0; i < 100000; i++) {
        uint32_t bits = (uint32_t)(next_random(&state) >> 32);
        float any;
        memcpy(&any, &bits, sizeof any);
        if (isfinite(any)) check_float(any);
        check_float((float)(bits >> 8) * 0x1p-24f);
        check_float((float)(bits >> (bits & 31)));
    }
}

TEST(printed_forms) {
    static const struct {
        double value;
        const char* text;
    } doubles[] = {{0, "0"},           {-0.0, "-0"},         {1, "1"},
                   {0.1, "0.1"},       {-1234.5, "-1234.5"}, {1e14, "100000000000000"},
                   {1e16, "1e16"},     {1e-5, "0.00001"},    {1.5e-6, "1.5e-6"},
                   {5e-324, "5e-324"}, {INFINITY, "inf"},    {-INFINITY, "-inf"},
                   {NAN, "nan"},       {1e300, "1e300"},     {123456789012345680.0, "1.2345678901234568e17"}};
    static const struct {
        float value;
        const char* text;
    } floats[] = {{0.1f, "0.1"},     {16777216, "16777216"},         {1e7f, "1e7"}, {123456792.0f, "1.2345679e8"},
                  {1e-45f, "1e-45"}, {3.4028235e38f, "3.4028235e38"}};
    static const struct {
        int64_t value;
        const char* text;
    } integers[] = {{0, "0"}, {-7, "-7"}, {INT64_MAX, "9223372036854775807"}, {INT64_MIN, "-9223372036854775808"}};
    char text[SAP_TEXT_BYTES];
    for (size_t i = 0; i < sizeof doubles / sizeof *doubles; i++) {
        sap_print_double(doubles[i].value, text);
        CHECK_TEXT(text, doubles[i].text);
    }
    for (size_t i = 0; i < sizeof floats / sizeof *floats; i++) {
        sap_print_float(floats[i].value, text);
        CHECK_TEXT(text, floats[i].text);
    }
    for (size_t i = 0; i < sizeof integers / sizeof *integers; i++) {
        sap_print_int(integers[i].value, text);
        CHECK_TEXT(text, integers[i].text);
    }
}

static void check_scan(const char* text) {
    sap_decimal decimal;
    NOTE("%.60s", text);
    if (!CHECK(scan_all(text, &decimal))) return;
    double value = sap_decimal_double(&decimal), expected = strtod(text, NULL);
    float single = sap_decimal_float(&decimal), expected_single = strtof(text, NULL);
    CHECK(bits_of(value) == bits_of(expected));
    CHECK(bits_of((double)single) == bits_of((double)expected_single));
}

TEST(scan_rounds_as_the_c_library) {
    static const char* const texts[] = {"0",
                                        "-0",
                                        "+1",
                                        ".5",
                                        "5.",
                                        "1e400",
                                        "-1e400",
                                        "1e-400",
                                        "0e999999999999",
                                        "1e-99999999999999999999",
                                        "4.9e-324",
                                        "2.4703282292062327e-324",
                                        "2.4703282292062328e-324",
                                        "1E5",
                                        "1.7976931348623158e308",
                                        "1.797693134862315808e308",
                                        "3.4028235677973366e38",
                                        "3.40282356e38",
                                        "inf",
                                        "-Infinity",
                                        "00000000000000000000000000001.5",
                                        "0.000000000000000000000000000000000000000000001e45",
                                        "18446744073709551615",
                                        "18446744073709551616",
                                        "9999999999999999999e19"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) check_scan(texts[i]);
    uint64_t state = 3;
    for (int i = 0; i < 200000; i++) {
        char text[900];
        size_t length = 0, digits = 1 + next_random(&state) % (i % 50 ? 24 : 850),
               dot = next_random(&state) % (digits + 1);
        for (size_t j = 0; j < digits; j++) {
            if (j == dot) text[length++] = '.';
            text[length++] = (char)('0' + next_random(&state) % 10);
        }
        int range = i % 3 ? 30 : 700, exponent = (int)(next_random(&state) % (uint64_t)range) - range / 2;
        snprintf(text + length, sizeof text - length, "e%d", exponent);
        check_scan(text);
    }
}

TEST(scan_rounds_midpoints) {
    uint64_t state = 4;
    for (int i = 0; i < 20000; i++) {
        uint32_t bits = (uint32_t)(next_random(&state) % 0x7f000000);
        float low, high;
        memcpy(&low, &bits, sizeof low);
        bits++;
        memcpy(&high, &bits, sizeof high);
        double middle = ((double)low + (double)high) / 2;
        char text[300];
        snprintf(text, sizeof text, "%.180e", middle);
        check_scan(text);
        *(strchr(text, 'e') - 1) = '1';
        check_scan(text);
        snprintf(text, sizeof text, "%.17e", nextafter(middle, 0));
        check_scan(text);
    }
}

TEST(scan_refuses) {
    static const char* const texts[] = {"", "-", "+", ".", "-.", "e5", "abc", "in", "na", "--1", "+-1", "x1"};
    sap_decimal decimal;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        NOTE("%s", texts[i]);
        CHECK(sap_decimal_scan(texts[i], texts[i] + strlen(texts[i]), &decimal) == NULL);
    }
    static const struct {
        const char* text;
        int taken;
    } parts[] = {{"1.2.3", 3}, {"1e", 1}, {"1e+", 1}, {"1,5", 1}, {"0x10", 1}, {"nano", 3}, {"12abc", 2}};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        const char* end = sap_decimal_scan(parts[i].text, parts[i].text + strlen(parts[i].text), &decimal);
        NOTE("%s", parts[i].text);
        CHECK_EQUAL(end - parts[i].text, parts[i].taken);
    }
}

TEST(what_a_float_holds) {
    static const char* const yes[] = {"0",
                                      "0.1",
                                      "-123.456",
                                      "123.456001",
                                      "0.100000001",
                                      "16777216",
                                      "1e-45",
                                      "3.4e38",
                                      "481234.56",
                                      "1.0000000000",
                                      "nan",
                                      "inf",
                                      "100000000",
                                      "1.2345679e8",
                                      "0.10000000149011612",
                                      "0.10000000149011611938"};
    static const char* const no[] = {"5123456.78",  "481234.57",  "16777217", "0.1000000000", "0.12345678901",
                                     "1e-50",       "1e39",       "3.5e38",   "123456789",    "0.1000000000000000055",
                                     "1e999999999", "1e-99999999"};
    sap_decimal decimal;
    for (size_t i = 0; i < sizeof yes / sizeof *yes; i++) {
        NOTE("%s", yes[i]);
        CHECK(scan_all(yes[i], &decimal) && sap_decimal_fits_float(&decimal));
    }
    for (size_t i = 0; i < sizeof no / sizeof *no; i++) {
        NOTE("%s", no[i]);
        CHECK(scan_all(no[i], &decimal) && !sap_decimal_fits_float(&decimal));
    }
}

TEST(any_locale) {
    if (!setlocale(LC_ALL, "de_DE.UTF-8") && !setlocale(LC_ALL, "de_DE.utf8") && !setlocale(LC_ALL, "fr_FR.UTF-8"))
        SKIP("no locale with a decimal comma on this machine");
    static const double values[] = {0.5, 1234567.25, 1e-300, 5e-324, 1.7976931348623157e308, 0.1, -2.5e22};
    char text[SAP_TEXT_BYTES];
    sap_decimal decimal;
    CHECK_TEXT(localeconv()->decimal_point, ",");
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        sap_print_double(values[i], text);
        CHECK(!strchr(text, ','));
        CHECK(scan_all(text, &decimal) && sap_decimal_double(&decimal) == values[i]);
    }
    float value = 1e-45f;
    for (int i = 0; i < 90; i++, value *= 7.3f) {
        sap_print_float(value, text);
        CHECK(!strchr(text, ','));
        CHECK(scan_all(text, &decimal) && sap_decimal_float(&decimal) == value);
    }
    // Too many digits for the fast ways.
    CHECK(scan_all("0.333333333333333333333333333333333333", &decimal) && sap_decimal_double(&decimal) == 1.0 / 3);
    setlocale(LC_ALL, "C");
}

TEST_MAIN()
