// demo [--data FILE | --generate N] [--name TEXT] [--picture FILE.png] [--view AZIMUTH,TILT]
//
// Builds a tree over a scan, finds the nearest and the 16 nearest neighbours of every point, checks them, prints what
// it took (beside nanoflann, where this build has it), and draws the scan.
#include "bench.h"
#include "demo_picture.h"

#include <getopt.h>
#include <math.h>
#include <sapwood/sapwood.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef DEMO_HAS_RIVALS
#include "rival.h"
#endif

enum { NEIGHBOURS = 16, MAX_PASSES = 5 };

typedef struct cloud {
    float* points; // [count * dims]
    int64_t count;
    int dims;
} cloud;

typedef struct answers {
    int32_t *nearest, *sixteen; // [count], [count * NEIGHBOURS]
    float *nearest2, *sixteen2; // squared distances
} answers;

static void complain(void* user, sap_status status, const char* sentence) {
    (void)user;
    fprintf(stderr, "demo: %s: %s\n", sap_status_string(status), sentence);
}

static void must(sap_status status) {
    if (status != SAP_OK) exit(1); // the log has said why
}

static sap_device* open_device(int threads) {
    sap_device_options options = {.processor = SAP_CPU, .threads = threads, .log = complain};
    sap_device* device = NULL;
    must(sap_device_open(&options, &device));
    return device;
}

// ---- The scan.

// Takes over the finite points of a set, as floats from its first point on: doubles keep their digits that way.
static cloud take_points(const sap_point_set* set) {
    cloud c = {.dims = set->dims};
    c.points = bench_memory((size_t)set->count * (size_t)set->dims, sizeof(float));
    double origin[SAP_MAX_DIMS] = {0};
    for (int64_t i = 0; i < set->count; i++) {
        bool finite = true;
        float* row = c.points + c.count * c.dims;
        for (int a = 0; a < c.dims; a++) {
            double value = set->coords_f64 ? set->coords_f64[i * c.dims + a] : (double)set->coords[i * c.dims + a];
            finite = finite && isfinite(value);
            if (set->coords_f64 && finite && c.count == 0) origin[a] = value;
            row[a] = (float)(value - origin[a]);
        }
        c.count += finite;
    }
    return c;
}

static cloud read_cloud(const char* path) {
    sap_device* device = open_device(1);
    sap_point_set* set = NULL;
    must(sap_points_read(device, path, SAP_FORMAT_AUTO, 0, &set));
    cloud c = take_points(set);
    if (c.count < set->count) {
        printf("left out %lld points that are not finite\n", (long long)(set->count - c.count));
    }
    sap_point_set_free(set);
    sap_device_close(device);
    if (c.count < 2) {
        fprintf(stderr, "demo: %s holds fewer than two points\n", path);
        exit(1);
    }
    return c;
}

// ---- What is timed. Sapwood leaves each point itself out; nanoflann finds one neighbour more instead.

typedef struct stage {
    const cloud* scan;
    sap_tree* tree;
    void* index; // of the rival
    answers* out;
    uint32_t* rival_ids;
    int k;
} stage;

static sap_points points_of(const cloud* c) {
    return (sap_points){.coords = c->points, .count = c->count, .dims = c->dims};
}

static void rebuild(stage* s) { must(sap_tree_rebuild(s->tree, points_of(s->scan))); }

static void search(stage* s) {
    sap_search what = {.k = s->k};
    bool one = s->k == 1;
    must(sap_nearest_self(s->tree, &what, one ? s->out->nearest : s->out->sixteen,
                          one ? s->out->nearest2 : s->out->sixteen2));
}

#ifdef DEMO_HAS_RIVALS
static void rival_rebuild(stage* s) { bench_main_rival()->rebuild(s->index); }

static void rival_search(stage* s) {
    bench_main_rival()->nearest(s->index, s->scan->points, (size_t)s->scan->count, s->k + 1, s->rival_ids);
}
#endif

static int ascending(const void* a, const void* b) {
    double x = *(const double*)a, y = *(const double*)b;
    return (x > y) - (x < y);
}

// Median seconds of a few passes after one to warm up; large scans are passed over once.
static double seconds_of(void (*pass)(stage*), stage* s) {
    double samples[MAX_PASSES];
    int passes = s->scan->count <= 1500000 ? MAX_PASSES : 1;
    if (passes > 1) pass(s);
    for (int i = 0; i < passes; i++) {
        double start = bench_seconds();
        pass(s);
        samples[i] = bench_seconds() - start;
    }
    qsort(samples, (size_t)passes, sizeof samples[0], ascending);
    return samples[passes / 2];
}

typedef struct column {
    char name[32];
    double first, build, nearest, sixteen; // seconds; first: the build in fresh memory
    double megabytes;                      // kept by the tree; 0: not known
} column;

static void time_searches(stage* s, void (*pass)(stage*), column* c) {
    s->k = 1;
    c->nearest = seconds_of(pass, s);
    s->k = NEIGHBOURS;
    c->sixteen = seconds_of(pass, s);
}

static column time_sapwood(const cloud* scan, int threads, answers* out, sap_tree_info* info, bool check) {
    column c = {0};
    sap_device* device = open_device(threads);
    sap_device_info what;
    must(sap_device_describe(device, &what));
    snprintf(c.name, sizeof c.name, "Sapwood, %d thread%s", what.threads, what.threads == 1 ? "" : "s");
    stage s = {.scan = scan, .out = out};
    double start = bench_seconds();
    must(sap_tree_build(device, points_of(scan), NULL, &s.tree));
    c.first = bench_seconds() - start;
    c.build = seconds_of(rebuild, &s);
    time_searches(&s, search, &c);
    must(sap_tree_describe(s.tree, info));
    c.megabytes = (double)info->bytes * 1e-6;
    if (check) {
        must(sap_tree_verify(s.tree));
        printf("verified: the tree, whole (order, boxes, ids, depth)\n");
    }
    sap_tree_free(s.tree);
    sap_device_close(device);
    return c;
}

static bool time_rival(const cloud* scan, column* c) {
    bool timed = false;
#ifdef DEMO_HAS_RIVALS
    const bench_rival* rival = bench_main_rival();
    stage s = {.scan = scan};
    double start = bench_seconds();
    s.index = rival ? rival->build(scan->points, (size_t)scan->count, scan->dims) : NULL;
    if (s.index) {
        *c = (column){.first = bench_seconds() - start};
        snprintf(c->name, sizeof c->name, "%s, 1 thread", rival->name);
        s.rival_ids = bench_memory((size_t)scan->count * (NEIGHBOURS + 1), sizeof(uint32_t));
        c->build = seconds_of(rival_rebuild, &s);
        time_searches(&s, rival_search, c);
        free(s.rival_ids);
        rival->release(s.index);
        timed = true;
    }
#else
    (void)scan;
    (void)c;
#endif
    return timed;
}

// ---- The check.

static float squared_distance(const cloud* c, int64_t i, int64_t j) {
    float sum = 0;
    for (int a = 0; a < c->dims; a++) {
        float difference = c->points[i * c->dims + a] - c->points[j * c->dims + a];
        sum += difference * difference;
    }
    return sum;
}

// The NEIGHBOURS nearest of one point by looking at all, ascending by (squared distance, id).
static void look_at_all(const cloud* c, int64_t i, int32_t ids[NEIGHBOURS], float distance2[NEIGHBOURS]) {
    for (int j = 0; j < NEIGHBOURS; j++) {
        ids[j] = -1;
        distance2[j] = INFINITY;
    }
    for (int64_t other = 0; other < c->count; other++) {
        float d = squared_distance(c, i, other);
        if (other == i || !(d < distance2[NEIGHBOURS - 1])) continue;
        int at = NEIGHBOURS - 1;
        for (; at > 0 && distance2[at - 1] > d; at--) {
            distance2[at] = distance2[at - 1];
            ids[at] = ids[at - 1];
        }
        distance2[at] = d;
        ids[at] = (int32_t)other;
    }
}

// Compares answers with brute force, at points spread over the scan; ends the program at the first difference.
static void check_answers(const cloud* c, const answers* a) {
    const int64_t pair_tests = 1000000000;
    int64_t sample = pair_tests / c->count;
    sample = sample > c->count ? c->count : sample < 20 ? 20 : sample;
    if (sample > c->count) sample = c->count;
    for (int64_t s = 0; s < sample; s++) {
        int64_t i = s * c->count / sample;
        int32_t ids[NEIGHBOURS];
        float distance2[NEIGHBOURS];
        look_at_all(c, i, ids, distance2);
        bool same = a->nearest[i] == ids[0] && a->nearest2[i] == distance2[0];
        for (int j = 0; j < NEIGHBOURS; j++) {
            same = same && a->sixteen[i * NEIGHBOURS + j] == ids[j] && a->sixteen2[i * NEIGHBOURS + j] == distance2[j];
        }
        if (same) continue;
        fprintf(stderr, "demo: the neighbours of point %lld differ from brute force\n", (long long)i);
        exit(3);
    }
    printf("verified: 1 and %d neighbours of %lld points against all %lld points, bit for bit\n\n", NEIGHBOURS,
           (long long)sample, (long long)c->count);
}

// ---- The table.

static void print_row(const char* name, const char* unit, int digits, const double values[], int count, double ratio) {
    printf("%-36s", name);
    for (int i = 0; i < count; i++) {
        if (values[i] > 0)
            printf("%20.*f %-3s", digits, values[i], unit);
        else
            printf("%20s    ", "-");
    }
    if (ratio > 0) printf("%10.1fx", ratio);
    printf("\n");
}

static void print_table(const cloud* scan, const column columns[], int count, bool rival) {
    double first[3] = {0}, build[3] = {0}, nearest[3] = {0}, sixteen[3] = {0}, memory[3] = {0};
    printf("%-36s", "");
    for (int i = 0; i < count; i++) {
        printf("%24s", columns[i].name);
        first[i] = columns[i].first * 1e3;
        build[i] = columns[i].build * 1e3;
        nearest[i] = (double)scan->count / columns[i].nearest * 1e-6;
        sixteen[i] = (double)scan->count / columns[i].sixteen * 1e-6;
        memory[i] = columns[i].megabytes;
    }
    int last = count - 1;
    printf("%s\n", rival ? "    nanoflann's time over Sapwood's" : "");
    print_row("first build", "ms", 1, first, count, rival ? first[last] / first[0] : 0);
    print_row("build again", "ms", 1, build, count, rival ? build[last] / build[0] : 0);
    print_row("nearest neighbour of every point", "M/s", 2, nearest, count, rival ? nearest[0] / nearest[last] : 0);
    print_row("16 nearest of every point", "M/s", 2, sixteen, count, rival ? sixteen[0] / sixteen[last] : 0);
    print_row("memory kept, own copy included", "MB", 1, memory, count, 0);
    printf("\n%.1f million neighbours found in each pass over the scan.\n",
           (double)scan->count * (NEIGHBOURS + 1) * 1e-6);
}

static void draw(const cloud* scan, const answers* a, const char* path, const char* view) {
    float* distances = bench_memory((size_t)scan->count, sizeof(float));
    for (int64_t i = 0; i < scan->count; i++) {
        // A scan of few points has fewer neighbours: the farthest there is.
        int last = NEIGHBOURS - 1;
        while (last > 0 && a->sixteen[i * NEIGHBOURS + last] < 0) last--;
        distances[i] = sqrtf(a->sixteen2[i * NEIGHBOURS + last]);
    }
    picture p = {
        .points = scan->points, .count = scan->count, .dims = scan->dims, .distances = distances, .width = 1600};
    picture_choose_view(&p);
    if (view && sscanf(view, "%lf,%lf", &p.azimuth, &p.tilt) != 2) {
        fprintf(stderr, "demo: --view takes AZIMUTH,TILT in degrees, not \"%s\"\n", view);
        exit(2);
    }
    bool written = picture_choose_scale(&p) && picture_write(&p, path);
    free(distances);
    if (!written) {
        fprintf(stderr, "demo: cannot write %s\n", path);
        exit(1);
    }
    printf("picture, coloured by the distance to the 16th neighbour: %s\n", path);
}

int main(int argc, char** argv) {
    static const struct option names[] = {
        {"data", required_argument, NULL, 'd'}, {"generate", required_argument, NULL, 'g'},
        {"name", required_argument, NULL, 'n'}, {"picture", required_argument, NULL, 'p'},
        {"view", required_argument, NULL, 'v'}, {NULL, 0, NULL, 0}};
    const char *data = NULL, *name = NULL, *picture_path = "demo.png", *view = NULL;
    int64_t generated = 1000000;
    for (int option; (option = getopt_long(argc, argv, "", names, NULL)) != -1;) {
        switch (option) {
        case 'd': data = optarg; break;
        case 'g': generated = strtoll(optarg, NULL, 10); break;
        case 'n': name = optarg; break;
        case 'p': picture_path = optarg; break;
        case 'v': view = optarg; break;
        default: generated = 0;
        }
    }
    if (generated < 2 || generated > INT32_MAX || optind < argc) {
        fprintf(stderr, "usage: demo [--data FILE | --generate N] [--name TEXT] [--picture FILE.png] "
                        "[--view AZIMUTH,TILT]\n");
        return 2;
    }
    cloud scan = {.dims = 3, .count = generated};
    if (data)
        scan = read_cloud(data);
    else
        scan.points = bench_scan(generated, 11);
    printf("scan: %s, %lld points, %d-D\n", name ? name : data ? data : "generated", (long long)scan.count, scan.dims);

    size_t rows = (size_t)scan.count;
    answers found = {.nearest = bench_memory(rows, sizeof(int32_t)),
                     .sixteen = bench_memory(rows * NEIGHBOURS, sizeof(int32_t)),
                     .nearest2 = bench_memory(rows, sizeof(float)),
                     .sixteen2 = bench_memory(rows * NEIGHBOURS, sizeof(float))};
    column columns[3] = {0};
    int count = 0;
    sap_tree_info info;
    columns[count++] = time_sapwood(&scan, 1, &found, &info, true);
    column all = time_sapwood(&scan, 0, &found, &info, false);
    if (strcmp(all.name, columns[0].name) != 0) columns[count++] = all;
    check_answers(&scan, &found);
    bool rival = time_rival(&scan, &columns[count]);
    if (rival)
        count++;
    else
        printf("nanoflann is not in this build, or does not search %d-D points here: no comparison\n", scan.dims);
    print_table(&scan, columns, count, rival);
    draw(&scan, &found, picture_path, view);
    free(found.nearest);
    free(found.sixteen);
    free(found.nearest2);
    free(found.sixteen2);
    free(scan.points);
    return 0;
}
