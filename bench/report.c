#include "bench.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct scipy_time {
    char key[48];
    double seconds;
} scipy_time;

struct bench_report {
    const bench_options* options;
    bench_row rows[BENCH_MAX_ROWS];
    char keys[BENCH_MAX_ROWS][48], works[BENCH_MAX_ROWS][96]; // what the rows' texts point to
    int row_count;
    scipy_time scipy[32];
    int scipy_count;
    FILE* samples;
    int ok, missed, wrong;
};

static FILE* open_csv(const bench_options* options, const char* name) {
    char path[1024];
    int length = snprintf(path, sizeof path, "%s/%s", options->out, name);
    FILE* file = length > 0 && (size_t)length < sizeof path ? fopen(path, "w") : NULL;
    if (!file) {
        fprintf(stderr, "bench: cannot write %s/%s: %s\n", options->out, name, strerror(errno));
        exit(1);
    }
    return file;
}

static void read_scipy(bench_report* report, const char* path) {
    FILE* file = fopen(path, "r");
    if (!file) return;
    const int most = (int)(sizeof report->scipy / sizeof report->scipy[0]);
    scipy_time* time = report->scipy;
    while (report->scipy_count < most && fscanf(file, " %47[^,],%lf", time->key, &time->seconds) == 2) {
        report->scipy_count++;
        time++;
    }
    fclose(file);
}

bench_report* bench_report_open(const bench_options* options) {
    bench_report* report = bench_memory(1, sizeof *report);
    *report = (bench_report){.options = options};
    if (options->scipy) read_scipy(report, options->scipy);
    report->samples = open_csv(options, "samples.csv");
    fprintf(report->samples, "key,library,pass,seconds\n");
    printf("%-50s %11s %11s %8s %8s %-7s %11s\n", "work", "sapwood", "rival", "ratio", "target", "", "floor");
    return report;
}

int bench_report_other(const bench_report* report, const char* name) {
    for (int i = 0; i < BENCH_OTHERS; i++) {
        if (strcmp(name, report->options->others[i]) == 0) return i;
    }
    return -1;
}

static double shown(const bench_row* row, double value) {
    switch (row->unit) {
    case BENCH_RATE:
    case BENCH_LEAST_RATE: return row->operations / value * 1e-6;
    case BENCH_MICROSECONDS: return value * 1e6;
    case BENCH_NANOSECONDS: return value * 1e9;
    case BENCH_MEGABYTES: return value * 1e-6;
    default: return value;
    }
}

static const char* suffix(const bench_row* row) {
    switch (row->unit) {
    case BENCH_RATE:
    case BENCH_LEAST_RATE: return "M/s";
    case BENCH_SECONDS: return "s";
    case BENCH_MICROSECONDS: return "us";
    case BENCH_NANOSECONDS: return "ns";
    case BENCH_MEGABYTES: return "MB";
    default: return "";
    }
}

typedef struct cell {
    char text[32];
} cell;

static cell value_cell(const bench_row* row, double value) {
    cell c = {"-"};
    if (value > 0 || row->unit == BENCH_COUNT || (row->unit == BENCH_MEGABYTES && value == 0)) {
        double number = shown(row, value);
        int digits = row->unit == BENCH_COUNT ? 0 : fabs(number) < 0.1 ? 4 : fabs(number) < 10 ? 3 : 1;
        snprintf(c.text, sizeof c.text, "%.*f %s", digits, number, suffix(row));
    }
    return c;
}

static bool is_limit(const bench_row* row) {
    return row->unit == BENCH_MICROSECONDS || row->unit == BENCH_MEGABYTES || row->unit == BENCH_COUNT ||
           row->unit == BENCH_NUMBER;
}

static bool is_least(const bench_row* row) { return row->unit == BENCH_LEAST_RATE; }

static double ratio_of(const bench_row* row) {
    return row->rival > 0 && row->subject > 0 ? row->rival / row->subject : 0;
}

static bool has_target(const bench_row* row) {
    return row->unit == BENCH_COUNT || (row->target > 0 && (is_limit(row) || is_least(row) || row->rival > 0));
}

static const char* verdict_of(const bench_report* report, const bench_row* row) {
    if (report->options->quick || !has_target(row)) return "";
    double reaches = is_least(row) ? shown(row, row->subject) : ratio_of(row);
    bool reached = is_limit(row) ? shown(row, row->subject) <= row->target : reaches >= row->target;
    return reached ? "ok" : "missed";
}

void bench_report_row(bench_report* report, const bench_row* given) {
    if (report->row_count == BENCH_MAX_ROWS) {
        fprintf(stderr, "bench: more than %d rows\n", BENCH_MAX_ROWS);
        exit(1);
    }
    int at = report->row_count++;
    bench_row* row = &report->rows[at];
    *row = *given;
    snprintf(report->keys[at], sizeof report->keys[at], "%s", given->key);
    snprintf(report->works[at], sizeof report->works[at], "%s", given->work);
    row->key = report->keys[at];
    row->work = report->works[at];
    for (int i = 0; i < report->scipy_count; i++) {
        int place = bench_report_other(report, "scipy");
        if (strcmp(report->scipy[i].key, row->key) == 0) row->others[place] = report->scipy[i].seconds;
    }
    const char* verdict = verdict_of(report, row);
    report->ok += strcmp(verdict, "ok") == 0;
    report->missed += strcmp(verdict, "missed") == 0;
    cell ratio = {"-"}, target = {"-"};
    if (ratio_of(row) > 0) snprintf(ratio.text, sizeof ratio.text, "%.2f", ratio_of(row));
    const char* sign = is_limit(row) ? "<= " : is_least(row) ? ">= " : "";
    if (has_target(row)) snprintf(target.text, sizeof target.text, "%s%g", sign, row->target);
    cell rival = row->rival > 0 ? value_cell(row, row->rival) : (cell){"-"};
    cell floor = row->floor > 0 ? value_cell(row, row->floor) : (cell){"-"};
    printf("%-50s %11s %11s %8s %8s %-7s %11s\n", row->work, value_cell(row, row->subject).text, rival.text, ratio.text,
           target.text, verdict, floor.text);
    fflush(stdout);
}

void bench_report_samples(bench_report* report, const char* key, const char* who, const bench_side* side) {
    for (int i = 0; i < side->count; i++) {
        fprintf(report->samples, "%s,%s,%d,%.9f\n", key, who, i, side->samples[i]);
    }
    fflush(report->samples);
}

void bench_report_note(bench_report* report, const char* format, ...) {
    (void)report;
    va_list arguments;
    va_start(arguments, format);
    printf("  ");
    vprintf(format, arguments); // NOLINT(clang-analyzer-valist.Uninitialized): va_start set it
    printf("\n");
    va_end(arguments);
    fflush(stdout);
}

void bench_report_wrong(bench_report* report, const char* key, const char* format, ...) {
    va_list arguments;
    report->wrong++;
    va_start(arguments, format);
    printf("  WRONG ANSWER in %s: ", key);
    vprintf(format, arguments); // NOLINT(clang-analyzer-valist.Uninitialized): va_start set it
    printf("\n");
    va_end(arguments);
    fflush(stdout);
}

static void print_beside(const bench_report* report) {
    bool any = false;
    for (int i = 0; i < report->row_count; i++) {
        const bench_row* row = &report->rows[i];
        bool has = false;
        for (int j = 0; j < BENCH_OTHERS; j++) has = has || row->others[j] > 0;
        if (!has) continue;
        if (!any) {
            printf("\n%-50s %11s %13s", "beside them", "sapwood", report->options->rival);
            for (int j = 0; j < BENCH_OTHERS; j++) printf(" %13s", report->options->others[j]);
            printf("\n");
            any = true;
        }
        cell rival = row->rival > 0 ? value_cell(row, row->rival) : (cell){"-"};
        printf("%-50s %11s %13s", row->work, value_cell(row, row->subject).text, rival.text);
        for (int j = 0; j < BENCH_OTHERS; j++) {
            cell other = row->others[j] > 0 ? value_cell(row, row->others[j]) : (cell){"-"};
            printf(" %13s", other.text);
        }
        printf("\n");
    }
}

static void write_rows(const bench_report* report) {
    FILE* file = open_csv(report->options, "results.csv");
    fprintf(file, "key,work,versus,unit,sapwood,rival,ratio,target,verdict,floor");
    for (int j = 0; j < BENCH_OTHERS; j++) fprintf(file, ",%s", report->options->others[j]);
    fprintf(file, "\n");
    for (int i = 0; i < report->row_count; i++) {
        const bench_row* row = &report->rows[i];
        fprintf(file, "%s,\"%s\",%s,%s,%.6g", row->key, row->work, row->versus ? row->versus : report->options->rival,
                suffix(row), shown(row, row->subject));
        const double values[2] = {row->rival, row->floor};
        for (int j = 0; j < 2; j++) {
            fprintf(file, ",");
            if (values[j] > 0) fprintf(file, "%.6g", shown(row, values[j]));
            if (j > 0) continue;
            fprintf(file, ",");
            if (ratio_of(row) > 0) fprintf(file, "%.4f", ratio_of(row));
            fprintf(file, ",");
            if (has_target(row)) fprintf(file, "%g", row->target);
            fprintf(file, ",%s", verdict_of(report, row));
        }
        for (int j = 0; j < BENCH_OTHERS; j++) {
            fprintf(file, ",");
            if (row->others[j] > 0) fprintf(file, "%.6g", shown(row, row->others[j]));
        }
        fprintf(file, "\n");
    }
    fclose(file);
}

// What plot.gp draws: ratios with their targets, and rates of all libraries.
static void write_plots(const bench_report* report) {
    FILE* ratios = open_csv(report->options, "ratios.csv");
    FILE* rates = open_csv(report->options, "rates.csv");
    fprintf(rates, "key,Sapwood,%s", report->options->rival);
    for (int j = 0; j < BENCH_OTHERS; j++) fprintf(rates, ",%s", report->options->others[j]);
    fprintf(rates, "\n");
    for (int i = 0; i < report->row_count; i++) {
        const bench_row* row = &report->rows[i];
        if (row->versus || !(row->rival > 0)) continue;
        if (row->target > 0 && !is_limit(row)) {
            fprintf(ratios, "%s,%.4f,%g\n", row->key, ratio_of(row), row->target);
        }
        // Meshes are many and alike.
        if (row->unit != BENCH_RATE || strncmp(row->key, "mesh", 4) == 0) continue;
        fprintf(rates, "%s,%.4f,%.4f", row->key, shown(row, row->subject), shown(row, row->rival));
        for (int j = 0; j < BENCH_OTHERS; j++) {
            fprintf(rates, ",");
            if (row->others[j] > 0) fprintf(rates, "%.4f", shown(row, row->others[j]));
        }
        fprintf(rates, "\n");
    }
    fclose(ratios);
    fclose(rates);
}

int bench_report_close(bench_report* report) {
    print_beside(report);
    write_rows(report);
    write_plots(report);
    fclose(report->samples);
    if (!report->options->quick) printf("\n%d targets reached, %d missed", report->ok, report->missed);
    printf("%s%s; wrote %s/results.csv and samples.csv\n", report->options->quick ? "\n" : "; ",
           report->wrong > 0 ? "SOME ANSWERS ARE WRONG" : "all answers agree", report->options->out);
    int wrong = report->wrong;
    free(report);
    return wrong;
}
