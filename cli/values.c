// The values of options: what the user wrote becomes what the program works with.
#include "options.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool parse_number(const char* text, bool whole, double lowest, double highest, double* value) {
    char* end;
    if (*text == ' ' || *text == '\t' || *text == '\n' || !*text) return false;
    if (whole && text[strspn(text, "0123456789")]) return false;
    *value = strtod(text, &end);
    return !*end && *value >= lowest && *value <= highest;
}

static bool parse_device(const char* text, bool with_gl, sap_cli_options* options) {
    double ordinal = 0;
    if (!strcmp(text, "auto"))
        options->processor = SAP_AUTO;
    else if (!strcmp(text, "cpu"))
        options->processor = SAP_CPU;
    else if (!strcmp(text, "cuda") || (!strncmp(text, "cuda:", 5) && parse_number(text + 5, true, 0, 1023, &ordinal)))
        options->processor = SAP_CUDA;
    else if (with_gl && !strcmp(text, "gl"))
        options->processor = SAP_GL;
    else
        return false;
    options->ordinal = (int32_t)ordinal;
    return true;
}

// Numbers of GPUs with commas between, each once.
static bool parse_devices(const char* text, sap_cli_options* options) {
    sap_cli_devices devices = {0};
    for (;; text++) {
        char word[8];
        double ordinal;
        const size_t length = strcspn(text, ",");
        if (devices.count == SAP_CLI_MOST_DEVICES || length >= sizeof word) return false;
        memcpy(word, text, length);
        word[length] = 0;
        if (!parse_number(word, true, 0, 1023, &ordinal)) return false;
        for (int32_t i = 0; i < devices.count; i++)
            if (devices.ordinals[i] == (int32_t)ordinal) return false;
        devices.ordinals[devices.count++] = (int32_t)ordinal;
        text += length;
        if (!*text) break;
    }
    options->devices = devices;
    options->processor = SAP_CUDA;
    options->ordinal = devices.ordinals[0];
    return true;
}

static bool parse_choice(const char* text, const sap_cli_choice* choices, void* field) {
    _Static_assert(sizeof(sap_format) == sizeof(int), "choices are stored as int");
    for (; choices->name; choices++) {
        if (strcmp(text, choices->name)) continue;
        memcpy(field, &choices->value, sizeof(int));
        return true;
    }
    return false;
}

// Numbers with commas between them, none beyond `limit`: how many there are, or 0 if they are not that or more than
// `most`.
static int parse_numbers(const char* text, int most, double limit, double* values) {
    char word[64];
    int count = 0;
    for (;; text++) {
        size_t length = strcspn(text, ",");
        if (count == most || length >= sizeof word) return 0;
        memcpy(word, text, length);
        word[length] = 0;
        if (!parse_number(word, false, -limit, limit, &values[count++])) return 0;
        text += length;
        if (!*text) return count;
    }
}

static bool parse_vector(const char* text, float vector[3]) {
    double values[3];
    if (parse_numbers(text, 3, FLT_MAX, values) != 3) return false;
    for (int a = 0; a < 3; a++) vector[a] = (float)values[a];
    return true;
}

static bool parse_place(const char* text, double place[3]) { return parse_numbers(text, 3, FLT_MAX, place) == 3; }

static bool parse_origin(const char* text, sap_cli_options* options) {
    options->find_origin = !strcmp(text, "auto");
    memset(options->origin, 0, sizeof options->origin);
    return options->find_origin || parse_place(text, options->origin);
}

// A number of bytes, perhaps in KiB, MiB or GiB.
static bool parse_bytes(const char* text, int64_t* bytes) {
    static const char units[] = "KMGTkmgt";
    char digits[32];
    double value;
    const size_t length = strspn(text, "0123456789");
    const char* unit = text[length] ? strchr(units, text[length]) : NULL;
    if (length >= sizeof digits || (text[length] && (!unit || text[length + 1]))) return false;
    memcpy(digits, text, length);
    digits[length] = 0;
    if (!parse_number(digits, true, 1, 9007199254740992.0, &value)) return false;
    value *= unit ? ldexp(1, 10 * ((int)(unit - units) % 4 + 1)) : 1;
    if (value > 9007199254740992.0) return false;
    *bytes = (int64_t)value;
    return true;
}

// Whether there is something between all commas, and not too much.
static bool parse_columns(const char* text, const char** columns) {
    int count = 0;
    *columns = text;
    for (const char* at = text;; at++) {
        const size_t length = strcspn(at, ",");
        if (strspn(at, " \t") >= length || ++count > SAP_MAX_DIMS) return false;
        at += length;
        if (!*at) return true;
    }
}

static bool parse_sides(const char* text, int64_t sides[3]) {
    double values[3];
    if (parse_numbers(text, 3, FLT_MAX, values) != 3) return false;
    for (int a = 0; a < 3; a++) {
        if (!(values[a] >= 0 && values[a] <= INT32_MAX) || values[a] != floor(values[a])) return false;
        sides[a] = (int64_t)values[a];
    }
    return true;
}

static bool parse_extent(const char* text, double extent[4]) {
    double values[4];
    if (parse_numbers(text, 4, FLT_MAX, values) != 4 || !(values[0] < values[2] && values[1] < values[3])) return false;
    memcpy(extent, values, sizeof values);
    return true;
}

static bool parse_corner(const char* text, sap_cli_corner* corner) {
    corner->count = parse_numbers(text, SAP_MAX_DIMS, HUGE_VAL, corner->at);
    return corner->count > 0;
}

static bool parse_box(const char* text, sap_cli_numbers* box) {
    box->count = parse_numbers(text, 2 * SAP_MAX_DIMS, HUGE_VAL, box->at);
    return box->count > 0 && box->count % 2 == 0;
}

static bool parse_radii(const char* text, sap_cli_numbers* radii) {
    radii->count = parse_numbers(text, SAP_CLI_MOST_NUMBERS, FLT_MAX, radii->at);
    for (int32_t i = 0; i < radii->count; i++)
        if (radii->at[i] < (i ? radii->at[i - 1] : 0)) return false;
    return radii->count > 0;
}

static bool parse_size(const sap_cli_option* option, const char* text, int32_t size[2]) {
    char width[16];
    double values[2];
    size_t length = strcspn(text, "x");
    if (length >= sizeof width || !text[length]) return false;
    memcpy(width, text, length);
    width[length] = 0;
    if (!parse_number(width, true, option->lowest, option->highest, &values[0]) ||
        !parse_number(text + length + 1, true, option->lowest, option->highest, &values[1]))
        return false;
    for (int i = 0; i < 2; i++) size[i] = (int32_t)values[i];
    return true;
}

// Whole numbers with a colon between: the first of some, and the one after the last.
static bool parse_range(const char* text, int32_t range[2]) {
    char first[16];
    double values[2];
    const size_t length = strcspn(text, ":");
    if (length >= sizeof first || !text[length]) return false;
    memcpy(first, text, length);
    first[length] = 0;
    if (!parse_number(first, true, 0, INT32_MAX, &values[0]) ||
        !parse_number(text + length + 1, true, values[0] + 1, INT32_MAX, &values[1]))
        return false;
    for (int i = 0; i < 2; i++) range[i] = (int32_t)values[i];
    return true;
}

// Position, for an area light its side, and perhaps a colour.
static bool parse_light(const sap_cli_option* option, const char* text, sap_cli_options* options) {
    double values[7];
    int needed = (int)option->lowest, count = parse_numbers(text, needed + 3, FLT_MAX, values);
    sap_cli_light light = {.color = {1, 1, 1}};
    if (options->light_count == SAP_CLI_MOST_LIGHTS || (count != needed && count != needed + 3)) return false;
    for (int a = 0; a < 3; a++) light.position[a] = values[a];
    if (needed > 3) light.side = (float)values[3];
    for (int a = 0; a < count - needed; a++) light.color[a] = (float)values[needed + a];
    options->lights[options->light_count++] = light;
    return light.side >= 0;
}

bool sap_cli_take_value(const sap_cli_option* option, const char* text, sap_cli_options* options) {
    void* field = (char*)options + option->offset;
    double number = 0;
    bool whole = option->kind != SAP_KIND_REAL;
    switch (option->kind) {
    case SAP_KIND_FLAG: *(bool*)field = true; return true;
    case SAP_KIND_TEXT:
    case SAP_KIND_FILE: *(const char**)field = text; return *text != 0;
    case SAP_KIND_CHOICE: return parse_choice(text, option->choices, field);
    case SAP_KIND_DEVICE: return parse_device(text, option->highest > 0, options);
    case SAP_KIND_DEVICES: return parse_devices(text, options);
    case SAP_KIND_SIZE: return parse_size(option, text, field);
    case SAP_KIND_RANGE: return parse_range(text, field);
    case SAP_KIND_VECTOR: return parse_vector(text, field);
    case SAP_KIND_PLACE: return parse_place(text, field);
    case SAP_KIND_ORIGIN: return parse_origin(text, options);
    case SAP_KIND_BYTES: return parse_bytes(text, field);
    case SAP_KIND_COLUMNS: return parse_columns(text, field);
    case SAP_KIND_EXTENT: return parse_extent(text, field);
    case SAP_KIND_RADII: return parse_radii(text, field);
    case SAP_KIND_SIDES: return parse_sides(text, field);
    case SAP_KIND_CORNER: return parse_corner(text, field);
    case SAP_KIND_BOX: return parse_box(text, field);
    case SAP_KIND_LIGHT: return parse_light(option, text, options);
    default: break;
    }
    if (!parse_number(text, whole, option->lowest, option->highest, &number)) return false;
    if (option->kind == SAP_KIND_INT32)
        *(int32_t*)field = (int32_t)number;
    else if (option->kind == SAP_KIND_INT64)
        *(int64_t*)field = (int64_t)number;
    else
        *(double*)field = number;
    return true;
}

void sap_cli_show_wanted(FILE* stream, const sap_cli_option* option) {
    if (option->choices) {
        for (const sap_cli_choice* c = option->choices; c->name; c++)
            fprintf(stream, "%s%s", c == option->choices ? "" : c[1].name ? ", " : " or ", c->name);
    } else if (option->kind == SAP_KIND_INT32 || option->kind == SAP_KIND_INT64) {
        fprintf(stream, "a whole number from %.0f to %.0f, in digits", option->lowest, option->highest);
    } else if (option->kind == SAP_KIND_REAL && option->lowest == DBL_MIN && option->highest < HUGE_VAL) {
        fprintf(stream, "a number above 0, at most %g", option->highest);
    } else if (option->kind == SAP_KIND_REAL && option->lowest == DBL_MIN) {
        fputs("a number above 0", stream);
    } else if (option->kind == SAP_KIND_REAL && option->highest < HUGE_VAL) {
        fprintf(stream, "a number from %g to %g", option->lowest, option->highest);
    } else if (option->kind == SAP_KIND_REAL) {
        fputs("a number that is not negative", stream);
    } else if (option->kind == SAP_KIND_DEVICES) {
        fprintf(stream, "the numbers of up to %d GPUs, each once, counted from 0 and separated by commas, such as 0,1",
                SAP_CLI_MOST_DEVICES);
    } else if (option->kind == SAP_KIND_SIZE) {
        fprintf(stream, "width and height from %.0f to %.0f, such as 800x500", option->lowest, option->highest);
    } else if (option->kind == SAP_KIND_RANGE) {
        fputs("the first and the one after the last, whole numbers such as 0:120", stream);
    } else if (option->kind == SAP_KIND_VECTOR || option->kind == SAP_KIND_PLACE) {
        fprintf(stream, "three numbers separated by commas: %s", option->argument);
    } else if (option->kind == SAP_KIND_ORIGIN) {
        fputs("auto, or three numbers separated by commas: X,Y,Z", stream);
    } else if (option->kind == SAP_KIND_BYTES) {
        fputs("a whole number of bytes above 0, or of K, M, G or T (2^10 of the one before), such as 500M", stream);
    } else if (option->kind == SAP_KIND_COLUMNS) {
        fprintf(stream, "1 to %d names or numbers of columns, separated by commas", SAP_MAX_DIMS);
    } else if (option->kind == SAP_KIND_EXTENT) {
        fprintf(stream, "four numbers that floats hold, separated by commas: %s, X0 below X1 and Y0 below Y1",
                option->argument);
    } else if (option->kind == SAP_KIND_CORNER) {
        fprintf(stream, "as many numbers as points have coordinates, separated by commas, also -inf and inf: %s",
                option->argument);
    } else if (option->kind == SAP_KIND_BOX) {
        fprintf(stream, "the coordinates of two points, separated by commas, also -inf and inf: %s", option->argument);
    } else if (option->kind == SAP_KIND_RADII) {
        fprintf(stream, "up to %d numbers, none negative and none less than the one before, separated by commas: %s",
                SAP_CLI_MOST_NUMBERS, option->argument);
    } else if (option->kind == SAP_KIND_SIDES) {
        fprintf(stream, "three whole numbers from 0 to 2147483647 separated by commas, such as 256,256,108");
    } else if (option->kind == SAP_KIND_LIGHT) {
        fprintf(stream, "%s, at most %d lights in all", option->argument, SAP_CLI_MOST_LIGHTS);
    } else if (option->kind == SAP_KIND_TEXT) {
        fputs(!strcmp(option->name, "metric")    ? "l2, l1, linf or a number from 1 to 1000"
              : !strcmp(option->name, "weights") ? "a number for each axis, separated by commas"
              : !strcmp(option->name, "period")  ? "a number for each axis, 0 for none, separated by commas"
                                                 : "a name",
              stream);
    } else {
        fprintf(stream, "%s",
                option->kind != SAP_KIND_DEVICE ? "the path of a file"
                : option->highest > 0           ? "auto, cpu, gl, cuda or cuda:N, where N counts the GPUs from 0"
                                                : "auto, cpu, cuda or cuda:N, where N counts the GPUs from 0");
    }
}
