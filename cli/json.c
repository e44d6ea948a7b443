// JSON on stdout, and the names of things.
#include "ranks.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

// A quoted string; bytes that are no UTF-8 become U+FFFD.
static void print_string(const char* text) {
    putchar('"');
    while (*text) {
        int length = sap_cli_utf8_length(text);
        if (length == 0)
            fputs("\\ufffd", stdout);
        else if (*text == '"' || *text == '\\')
            printf("\\%c", *text);
        else if ((unsigned char)*text < 0x20)
            printf("\\u%04x", (unsigned)*text);
        else
            printf("%.*s", length, text);
        text += length ? length : 1;
    }
    putchar('"');
}

static void begin(sap_json* json, const char* key) {
    if (json->depth) printf("%s\n%*s", json->filled ? "," : "", 2 * json->depth, "");
    json->filled = true;
    if (!key) return;
    print_string(key);
    fputs(": ", stdout);
}

void sap_json_open(sap_json* json, const char* key, char bracket) {
    begin(json, key);
    putchar(bracket);
    json->depth++;
    json->filled = false;
}

void sap_json_close(sap_json* json, char bracket) {
    json->depth--;
    if (json->filled) printf("\n%*s", 2 * json->depth, "");
    putchar(bracket);
    json->filled = true;
    if (!json->depth) putchar('\n');
}

void sap_json_text(sap_json* json, const char* key, const char* value) {
    begin(json, key);
    if (value)
        print_string(value);
    else
        fputs("null", stdout);
}

void sap_json_int(sap_json* json, const char* key, int64_t value) {
    begin(json, key);
    printf("%lld", (long long)value);
}

void sap_json_real(sap_json* json, const char* key, double value, int bits) {
    begin(json, key);
    fputs(isfinite(value) ? sap_cli_real(value, bits).text : "null", stdout);
}

void sap_json_bool(sap_json* json, const char* key, bool value) {
    begin(json, key);
    fputs(value ? "true" : "false", stdout);
}

void sap_json_processor(sap_json* json, const sap_cli* cli) {
    sap_json_text(json, "processor", sap_cli_processor_name(cli->info.processor));
    const sap_cli_devices* devices = cli->ranks ? cli->ranks->devices : NULL;
    if (cli->ranks && !devices) sap_json_int(json, "ranks", cli->ranks->size);
    if (!devices) return;
    sap_json_open(json, "devices", '[');
    for (int32_t i = 0; i < devices->count; i++) sap_json_int(json, NULL, devices->ordinals[i]);
    sap_json_close(json, ']');
    sap_json_text(json, "spread", cli->ranks->is_copied ? "copied" : "split");
}

void sap_json_effort(sap_json* json, const sap_cli* cli, double read, double build, const char* work, double seconds) {
    sap_json_processor(json, cli);
    sap_json_open(json, "seconds", '{');
    sap_json_real(json, "read", read, 32);
    sap_json_real(json, "build", build, 32);
    sap_json_real(json, work, seconds, 32);
    sap_json_close(json, '}');
}

const char* sap_cli_split_name(sap_split split) {
    return split == SAP_SPLIT_MEDIAN ? "median" : split == SAP_SPLIT_VVH ? "vvh" : "sliding-midpoint";
}

const char* sap_cli_axis_name(sap_axis axis) { return axis == SAP_AXIS_WIDEST ? "widest" : "cycle"; }

const char* sap_cli_simd_name(sap_simd simd) {
    switch (simd) {
    case SAP_SIMD_AUTO: return "auto";
    case SAP_SIMD_PORTABLE: return "portable";
    case SAP_SIMD_AVX2: return "avx2";
    case SAP_SIMD_AVX512: return "avx512";
    }
    return "unknown";
}

const char* sap_cli_precision_name(int32_t real_bits) { return real_bits == 64 ? "float64" : "float32"; }

const char* sap_cli_processor_name(sap_processor processor) {
    return processor == SAP_CPU ? "cpu" : processor == SAP_CUDA ? "cuda" : processor == SAP_GL ? "gl" : "auto";
}
