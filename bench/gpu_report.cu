// Rows: found among the targets and the rivals' figures, printed, and written as CSV.
#include "gpu.cuh"

typedef struct gpu_target {
    const char* work;
    int64_t n;
    int dims, k;
    const char* order;
    double target, stretch; // at most, in the row's unit
} gpu_target;

static const gpu_target targets[] = {
    {"build", 1000000, 3, 0, "", 0.35, 0.3},
    {"build", 10000000, 3, 0, "", 3, 2.2},
    {"build", 100000000, 3, 0, "", 25, 18},
    {"table-build", 16777216, 4, 0, "", 5, 4},
    {"table-build", 16777216, 4, 0, "duplicates", 8, 5.5}, // 3 more
    {"table-build", 16777216, 4, 0, "verified", 9, 6.5},   // 1 more
    {"table-verify", 16777216, 4, 0, "", 1, 0},
    {"search-uniform", 1000000, 3, 1, "random", 0.45, 0.3},
    {"search-uniform", 1000000, 3, 8, "random", 1.1, 0.8},
    {"search-uniform", 1000000, 3, 16, "random", 1.7, 1.2},
    {"search-uniform", 1000000, 3, 1, "ordered", 0.28, 0.18},
    {"search-uniform", 1000000, 3, 8, "ordered", 0.7, 0.5},
    {"search-uniform", 1000000, 3, 16, "ordered", 1.3, 0.9},
    {"whole-uniform", 1000000, 3, 1, "random", 0.9, 0.6},
    {"whole-uniform", 1000000, 3, 8, "random", 1.6, 1.2},
    {"whole-uniform", 1000000, 3, 16, "random", 2.2, 1.7},
    {"whole-uniform", 10000000, 3, 16, "random", 30, 18},
    {"radius-collect", 1000000, 3, 0, "random", 3, 1.5},
    {"mesh-rebuild-bunny", 69451, 3, 0, "fast", 1.2, 0.6},
    {"mesh-rebuild-fairy", 171949, 3, 0, "fast", 2, 1},
    {"mesh-rebuild-dragon", 871414, 3, 0, "fast", 8, 4},
    {"mesh-rebuild-dragon", 871414, 3, 0, "high", 25, 15},
    {"frame-fairy", 171949, 3, 0, "fast", 5, 3},
    {"set-frame", 5000000, 3, 5, "", 3, 1.5},
    {"peak-build", 10000000, 3, 0, "coords+id", 2.2, 0},
    {"peak-build", 16777216, 4, 0, "coords+id", 2.2, 0},
    // 4,194,304 rays, at 8, 12 and 4.5, and at 2.5, 2.2 and 1 Grays/s; the stretch: at cuBQL's rates when the targets
    // were set
    {"rays-primary", 171949, 3, 0, "fairy", 0.5243, 0.3920},
    {"rays-primary", 76154, 3, 0, "sponza", 0.3495, 0.2558},
    {"rays-primary", 871414, 3, 0, "dragon", 0.9321, 0.6168},
    {"rays-bounce", 171949, 3, 0, "fairy", 1.6777, 1.3530},
    {"rays-bounce", 76154, 3, 0, "sponza", 1.9065, 1.4980},
    {"rays-bounce", 871414, 3, 0, "dragon", 4.1943, 2.9959},
};

bool gpu_wanted(const gpu_bench* b, const char* work, int64_t n) {
    if (b->quick && n > 1 << 20) return false;
    for (const char* only = b->only; only; only = strchr(only, ',') ? strchr(only, ',') + 1 : NULL)
        if (!strncmp(work, only, strcspn(only, ","))) return true;
    return !b->only;
}

gpu_row gpu_row_of(const char* work, const char* data, int64_t n, int dims) {
    gpu_row row = {};
    snprintf(row.work, sizeof row.work, "%s%s%s", work, *data ? "-" : "", data);
    row.n = n;
    row.dims = dims;
    row.walk = "";
    row.unit = "ms";
    return row;
}

static bool same_key(const gpu_row* a, const gpu_row* b) {
    return !strcmp(a->work, b->work) && a->n == b->n && a->dims == b->dims && a->k == b->k &&
           !strcmp(a->order, b->order);
}

// ---- Rivals

static bool read_rival(char* line, gpu_rival* rival) {
    char* field[7];
    for (int i = 0; i < 7; i++) {
        field[i] = line;
        line += strcspn(line, i < 6 ? "," : "\r\n");
        if (i < 6 && !*line) return false;
        *line++ = 0;
    }
    rival->row = gpu_row_of(field[0], "", atoll(field[1]), atoi(field[2]));
    rival->row.k = atoi(field[3]);
    snprintf(rival->row.order, sizeof rival->row.order, "%s", field[4]);
    snprintf(rival->name, sizeof rival->name, "%s", field[5]);
    rival->row.ms = atof(field[6]);
    return rival->row.ms > 0; // the line of names has none
}

void gpu_rivals_read(gpu_bench* b) {
    FILE* file = fopen(b->rivals, "r");
    char line[512];
    if (!file) fprintf(stderr, "gpu: %s cannot be read: no rivals' figures beside ours\n", b->rivals);
    while (file && fgets(line, sizeof line, file)) {
        if (line[0] == '#' || b->rival_count == GPU_MOST_RIVALS) continue;
        if (read_rival(line, &b->rival[b->rival_count])) b->rival_count++;
    }
    if (file) fclose(file);
}

double gpu_rival_ms(const gpu_bench* b, const gpu_row* row, const char* beginning) {
    for (const gpu_rival* r = b->rival; r < b->rival + b->rival_count; r++)
        if (same_key(&r->row, row) && !strncmp(r->name, beginning, strlen(beginning))) return r->row.ms;
    return 0;
}

static void find_rival(const gpu_bench* b, gpu_row* row) {
    for (const gpu_rival* r = b->rival; r < b->rival + b->rival_count; r++) {
        if (!same_key(&r->row, row) || (row->rival_ms > 0 && r->row.ms >= row->rival_ms)) continue;
        row->rival_ms = r->row.ms;
        snprintf(row->rival, sizeof row->rival, "%s", r->name);
    }
}

// ---- Targets

// Other data: at most a tenth above the uniform points of this run.
static void find_target_of_data(const gpu_bench* b, gpu_row* row) {
    static const int ks[] = {1, 8, 16};
    bool other = !strcmp(row->work, "search-clustered") || !strcmp(row->work, "search-surface");
    for (int i = 0; i < 3 && other; i++)
        if (row->k == ks[i]) row->target = 1.1 * b->uniform[i][!strcmp(row->order, "ordered")];
}

static void find_target(const gpu_bench* b, gpu_row* row) {
    for (const gpu_target& t : targets) {
        if (strcmp(t.work, row->work) || strcmp(t.order, row->order)) continue;
        if (t.n != row->n || t.dims != row->dims || t.k != row->k) continue;
        row->target = t.target;
        row->stretch = t.stretch;
    }
    find_target_of_data(b, row);
}

// ---- Printing

void gpu_heading(void) {
    printf("%-18s %10s %9s %4s %3s %-10s %-9s %4s %10s %-4s %8s %8s %-7s %9s %7s %9s  %s\n", "work", "n", "queries",
           "dims", "k", "order", "walk", "leaf", "measured", "", "target", "stretch", "reached", "floor", "ratio",
           "rival", "best rival");
}

static void print_number(double value, int width) {
    if (value > 0)
        printf(" %*.*f", width, value < 10 ? 3 : value < 1000 ? 2 : 0, value);
    else
        printf(" %*s", width, "");
}

static void print_whole(int64_t value, int width) {
    if (value > 0)
        printf(" %*lld", width, (long long)value);
    else
        printf(" %*s", width, "");
}

static const char* outcome(gpu_bench* b, const gpu_row* row) {
    if (row->target <= 0) return "";
    bool reached = row->ms <= row->target;
    b->reached += reached;
    b->missed += !reached;
    return !reached ? "no" : row->stretch > 0 && row->ms <= row->stretch ? "stretch" : "yes";
}

static void write_csv(const gpu_bench* b, const gpu_row* r) {
    if (!b->csv) return;
    fprintf(b->csv, "%s,%lld,%d,%d,%s,%s,%d,%.6g,%.6g,%.6g,%.6g,%.6g,%s,%.6g,%.6g,%lld,%d,%s\n", r->work,
            (long long)r->n, r->dims, r->k, r->order, r->walk, r->leaf, r->ms, r->least, r->most, r->target, r->stretch,
            r->rival, r->rival_ms, r->floor_ms, (long long)r->queries, r->depth, r->unit);
    fflush(b->csv);
}

void gpu_report(gpu_bench* b, gpu_row row, gpu_times times) {
    row.ms = times.median;
    row.least = times.least;
    row.most = times.most;
    // Chosen walks and leaves are there to be compared with one another, not with others.
    bool plain = !*row.walk || !strcmp(row.walk, "auto");
    if (plain && row.target <= 0) find_target(b, &row);
    if (plain) find_rival(b, &row);
    if (b->rows++ == 0 && b->csv)
        fprintf(b->csv, "work,n,dims,k,order,walk,leaf,ms,min,max,target,stretch,rival,rival_ms,floor_ms,queries,"
                        "depth,unit\n");
    printf("%-18s", row.work);
    print_whole(row.n, 10);
    print_whole(row.queries, 9);
    print_whole(row.dims, 4);
    print_whole(row.k, 3);
    printf(" %-10s %-9s", row.order, row.walk);
    print_whole(row.leaf, 4);
    print_number(row.ms, 10);
    printf(" %-4s", row.unit);
    print_number(row.target, 8);
    print_number(row.stretch, 8);
    printf(" %-7s", outcome(b, &row));
    print_number(row.floor_ms, 9);
    print_number(row.rival_ms > 0 ? row.rival_ms / row.ms : 0, 7);
    print_number(row.rival_ms, 9);
    printf("  %s\n", row.rival);
    fflush(stdout);
    write_csv(b, &row);
}
