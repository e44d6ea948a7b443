#include "shades.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const sap_field* field_named(const sap_cli_points* points, const char* name) {
    for (int32_t f = 0; f < points->field_count; f++)
        if (!strcmp(points->fields[f].name, name)) return &points->fields[f];
    return NULL;
}

static bool is_real(const sap_field* field) { return field->type == SAP_FIELD_F32 || field->type == SAP_FIELD_F64; }

static double most_of(const sap_field* field, int64_t count) {
    double most = 0;
    for (int64_t i = 0; i < count; i++) {
        const double value = sap_cli_field_number(field, i);
        if (value > most) most = value;
    }
    return most;
}

// Real colours lie between 0 and 1 unless one is above; whole ones have 8 bits unless one has more.
static bool take_colors(const sap_cli_points* points, sap_cli_shades* s) {
    static const char* const names[] = {"red", "green", "blue"};
    double most = 0;
    for (int c = 0; c < 3; c++) {
        s->colors[c] = field_named(points, names[c]);
        if (!s->colors[c]) {
            memset(s->colors, 0, sizeof s->colors);
            return false;
        }
        most = fmax(most, most_of(s->colors[c], points->count));
    }
    s->most = is_real(s->colors[0]) && most <= 1 ? 1 : most <= 255 ? 255 : 65535;
    s->name = "rgb";
    return true;
}

static int ascending(const void* a, const void* b) {
    const double left = *(const double*)a, right = *(const double*)b;
    return (left > right) - (left < right);
}

// The scale leaves out a hundredth of the values at each end, which may be outliers.
static sap_cli_exit take_scale(sap_cli* cli, int64_t count, sap_cli_shades* s) {
    double* sorted = sap_cli_allocate(cli, count, sizeof *sorted);
    if (!sorted) return SAP_EXIT_FAILED;
    int64_t finite = 0;
    for (int64_t i = 0; i < count; i++)
        if (isfinite(s->values[i])) sorted[finite++] = s->values[i];
    qsort(sorted, (size_t)finite, sizeof *sorted, ascending);
    if (finite) {
        s->low = sorted[finite / 100];
        s->high = sorted[finite - 1 - finite / 100];
    }
    free(sorted);
    return SAP_EXIT_OK;
}

static sap_cli_exit take_field(sap_cli* cli, const sap_cli_points* points, const sap_field* field, sap_cli_shades* s) {
    static const char* const classes[] = {"cluster", "classification", "kind"};
    for (size_t i = 0; i < sizeof classes / sizeof *classes; i++)
        if (!is_real(field) && !strcmp(field->name, classes[i])) s->classes = field;
    for (int64_t i = 0; i < points->count; i++) s->values[i] = sap_cli_field_number(field, i);
    return s->classes ? SAP_EXIT_OK : take_scale(cli, points->count, s);
}

static sap_cli_exit no_field(sap_cli* cli, const sap_cli_points* points, const char* wanted) {
    const bool has_colors = field_named(points, "red") && field_named(points, "green") && field_named(points, "blue");
    char names[256] = "";
    for (int32_t f = 0; f < points->field_count; f++) {
        const size_t length = strlen(names);
        snprintf(names + length, sizeof names - length, ", %s", points->fields[f].name);
    }
    return sap_cli_usage(cli, "there is no field '%s'; --color takes height, x, y, z%s%s", wanted,
                         has_colors ? ", rgb" : "", names);
}

sap_cli_exit sap_cli_shades_choose(sap_cli* cli, const sap_cli_points* points, const float* places, const float up[3],
                                   sap_cli_shades* s) {
    const char* wanted = cli->options->color;
    *s = (sap_cli_shades){.name = wanted ? wanted : "height"};
    if ((!wanted || !strcmp(wanted, "rgb")) && take_colors(points, s)) return SAP_EXIT_OK;
    const bool height = !wanted || !strcmp(wanted, "height");
    const int axis = wanted && wanted[0] && !wanted[1] && strchr("xyz", wanted[0]) ? wanted[0] - 'x' : -1;
    const sap_field* field = wanted ? field_named(points, wanted) : NULL;
    if (!height && axis < 0 && !field) return no_field(cli, points, wanted);
    s->values = sap_cli_allocate(cli, points->count, sizeof *s->values);
    if (!s->values) return SAP_EXIT_FAILED;
    if (field) return take_field(cli, points, field, s);
    for (int64_t i = 0; i < points->count; i++) {
        const float* at = places + 3 * i;
        s->values[i] =
            axis >= 0 ? (double)at[axis]
                      : (double)at[0] * (double)up[0] + (double)at[1] * (double)up[1] + (double)at[2] * (double)up[2];
    }
    return take_scale(cli, points->count, s);
}

// From dark blue by way of green to yellow: brighter for more, so that it is told apart without colours, too.
static void on_scale(double part, double color[3]) {
    static const double stops[][3] = {{52, 38, 110},  {48, 84, 150},  {34, 130, 142},
                                      {60, 172, 112}, {150, 206, 68}, {250, 230, 62}};
    const int last = (int)(sizeof stops / sizeof *stops) - 1;
    const double place = (part < 0 ? 0 : part > 1 ? 1 : part) * last;
    const int at = place >= last ? last - 1 : (int)place;
    for (int c = 0; c < 3; c++) color[c] = stops[at][c] + (stops[at + 1][c] - stops[at][c]) * (place - at);
}

static void of_class(double number, double color[3]) {
    static const double palette[][3] = {{31, 119, 180},  {255, 127, 14}, {44, 160, 44},   {214, 39, 40},
                                        {148, 103, 189}, {140, 86, 75},  {227, 119, 194}, {188, 189, 34},
                                        {23, 190, 207},  {90, 120, 220}, {240, 180, 60},  {110, 190, 120}};
    const double colors = sizeof palette / sizeof *palette, grey = 150;
    const int at = number >= 0 ? (int)fmod(number, colors) : 0;
    for (int c = 0; c < 3; c++) color[c] = number >= 0 ? palette[at][c] : grey;
}

void sap_cli_shade(const sap_cli_shades* shades, int64_t point, double color[3]) {
    const double grey = 150;
    if (shades->colors[0]) {
        for (int c = 0; c < 3; c++) {
            const double value = sap_cli_field_number(shades->colors[c], point) / shades->most * 255;
            color[c] = value >= 0 ? fmin(value, 255) : 0;
        }
        return;
    }
    const double value = shades->values[point];
    const double range = shades->high / 2 - shades->low / 2; // the whole one may overflow
    if (shades->classes)
        of_class(value, color);
    else if (isfinite(value))
        on_scale(range > 0 ? (value / 2 - shades->low / 2) / range : 0.5, color);
    else
        for (int c = 0; c < 3; c++) color[c] = grey;
}
