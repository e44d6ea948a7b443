// Thinning by a grid: cells, means and choices are those of a plain loop, in both precisions and beyond any usual range.
#include "cases.h"
#include "sapwood/cloud.h"
#include "stage.h"

enum { MOST = 1000, WIDTH = 2 };

static double cell_along(double x, double origin, double size) { return floor((x - origin) / size); }

// Whether two points lie in one cell, and which cell comes first.
static int compare_cells(const cloud* points, const sap_voxels_options* o, int64_t i, int64_t j) {
    for (int32_t a = points->dims; a-- > 0;) {
        const double x = cell_along(cloud_get(points, i, a), o->origin[a], o->sizes[a]);
        const double y = cell_along(cloud_get(points, j, a), o->origin[a], o->sizes[a]);
        if (x != y) return x < y ? -1 : 1;
    }
    return 0;
}

static double mean_of(const double* values, int64_t count) {
    double sum = 0;
    for (int64_t i = 0; i < count; i++) sum += values[i] - values[0];
    return values[0] + sum / (double)count;
}

static double distance_to_middle(const cloud* points, const sap_voxels_options* o, int64_t i) {
    double sum = 0;
    for (int32_t a = 0; a < points->dims; a++) {
        const double x = cloud_get(points, i, a);
        const double middle = o->origin[a] + (cell_along(x, o->origin[a], o->sizes[a]) + 0.5) * o->sizes[a];
        sum += (x - middle) * (x - middle);
    }
    return sum;
}

static void check_attributes(const sap_voxels_options* o, const sap_thinned* v, int64_t cell, const int32_t* members,
                             int64_t count, int32_t chosen) {
    double values[MOST], mean[3], length = 0;
    for (int w = 0; w < WIDTH; w++) {
        for (int64_t i = 0; i < count; i++) values[i] = (double)o->attributes[members[i] * WIDTH + w];
        const float expected =
            o->point == SAP_VOXELS_CENTROID ? (float)mean_of(values, count) : o->attributes[chosen * WIDTH + w];
        CHECK(v->attributes[cell * WIDTH + w] == expected);
    }
    for (int a = 0; a < 3; a++) {
        for (int64_t i = 0; i < count; i++) values[i] = (double)o->normals[members[i] * 3 + a];
        mean[a] = mean_of(values, count);
        length += mean[a] * mean[a];
    }
    length = sqrt(length);
    for (int a = 0; a < 3; a++) {
        const float of_mean = length > 0 ? (float)(mean[a] / length) : 0;
        CHECK(v->normals[3 * cell + a] == (o->point == SAP_VOXELS_CENTROID ? of_mean : o->normals[chosen * 3 + a]));
    }
}

// The members of a cell, found by looking at every point.
static void check_cell(const cloud* points, const sap_voxels_options* o, const sap_thinned* v, int64_t cell) {
    int32_t members[MOST] = {0};
    double values[MOST];
    int64_t count = 0;
    for (int32_t i = 0; i < points->count; i++)
        if (compare_cells(points, o, i, v->ids[cell]) == 0) members[count++] = i;
    CHECK_EQUAL(v->counts[cell], count);
    int32_t chosen = members[0];
    for (int64_t i = 1; o->point == SAP_VOXELS_NEAREST && i < count; i++)
        if (distance_to_middle(points, o, members[i]) < distance_to_middle(points, o, chosen)) chosen = members[i];
    CHECK_EQUAL(v->ids[cell], chosen);
    for (int64_t i = 0; i < count; i++) CHECK_EQUAL(v->cell_of[members[i]], cell);
    for (int32_t a = 0; a < points->dims; a++) {
        for (int64_t i = 0; i < count; i++) values[i] = cloud_get(points, members[i], a);
        const double x = o->point == SAP_VOXELS_CENTROID ? mean_of(values, count) : cloud_get(points, chosen, a);
        if (points->real_bits == 64)
            CHECK(v->coords_f64[cell * points->dims + a] == x);
        else
            CHECK(v->coords[cell * points->dims + a] == (float)x);
    }
    check_attributes(o, v, cell, members, count, chosen);
}

static sap_status thin(sap_device* device, const cloud* points, const sap_voxels_options* o, sap_thinned** v) {
    return points->real_bits == 64 ? sap_cloud_voxels_f64(device, cloud_f64(points), o, v)
                                   : sap_cloud_voxels(device, cloud_f32(points), o, v);
}

static void try_case(sap_device* device, const search_case* c) {
    static float attributes[MOST * WIDTH], normals[MOST * 3];
    cloud points = case_points(c);
    double extent = 0, largest = 0;
    sap_voxels_options o = {.point = (sap_voxels_point)(c->chance % 3), .fewest = c->chance / 3 % 4 ? 0 : 2};
    for (int64_t i = 0; i < points.count; i++)
        for (int32_t a = 0; a < points.dims; a++) {
            const double from = cloud_get(&points, 0, a), x = cloud_get(&points, i, a);
            if (fabs(x - from) > extent) extent = fabs(x - from);
            if (fabs(x) > largest) largest = fabs(x);
        }
    // From a cell for all to cells for each; the coarsest that 2^52 allows where points are far away.
    const double parts[] = {0.5, 3, 10, 100, 1e6, 1e12};
    const double part = extent / parts[c->chance / 12 % 6], size = part > 0 ? part : extent > 0 ? extent : 1;
    for (int32_t a = 0; a < points.dims; a++) {
        o.sizes[a] = (size > largest * 0x1p-50 ? size : largest * 0x1p-50) * (a % 2 ? 1 : 1.5);
        o.origin[a] = c->chance / 72 % 2 && points.count ? cloud_get(&points, 0, a) : 0;
    }
    for (int64_t i = 0; i < points.count; i++) {
        for (int w = 0; w < WIDTH; w++) attributes[i * WIDTH + w] = (float)((i * 7 + w) % 13) / 3;
        for (int a = 0; a < 3; a++) normals[3 * i + a] = i % 5 ? (float)((i + a) % 3) - 1 : 0;
    }
    o.attributes = attributes;
    o.attribute_count = WIDTH;
    o.normals = normals;
    NOTE("%s n %d dims %d f%d size %g point %d fewest %d", family_name(c->kind), (int)c->size, c->dims, c->real_bits,
         o.sizes[0], (int)o.point, o.fewest);
    sap_thinned* v = NULL;
    CHECK_STATUS(thin(device, &points, &o, &v), SAP_OK);
    int64_t points_in_cells = 0, left_out = 0;
    for (int64_t i = 0; v && i < v->count; i++) {
        check_cell(&points, &o, v, i);
        points_in_cells += v->counts[i];
        CHECK(v->counts[i] >= o.fewest);
        if (i > 0) CHECK(compare_cells(&points, &o, v->ids[i - 1], v->ids[i]) < 0);
    }
    for (int64_t i = 0; v && i < points.count; i++) left_out += v->cell_of[i] == -1;
    CHECK_EQUAL(points_in_cells + left_out, points.count);
    if (o.fewest < 2) CHECK_EQUAL(left_out, 0);
    sap_thinned_free(v);
    cloud_free(&points);
}

TEST(cells_are_those_of_a_plain_loop) {
    sap_device* device = NULL;
    search_case c;
    CHECK_STATUS(sap_device_open(&(sap_device_options){.processor = SAP_CPU}, &device), SAP_OK);
    for (int i = 0, tried = 0; i < CASE_COUNT; i++) {
        if (!case_choose(i, &c) || c.size > MOST) continue;
        if (c.size > 70) c.size = 150;
        if (++tried % CASE_STEP == 0) try_case(device, &c);
    }
    sap_device_close(device);
}

TEST(points_that_are_not_finite_are_left_out) {
    stage s;
    open_stage(&s);
    float coords[] = {0, 0, 1, NAN, 2, 2, 0, -INFINITY};
    // What such a point has beside its coordinates is not looked at.
    const float normals[12] = {0, 0, 1, NAN, NAN, NAN, 0, 0, 1, INFINITY, 0, 0}, heats[4] = {1, NAN, 2, NAN};
    sap_voxels_options o = {
        .sizes = {10, 10}, .drop_nonfinite = true, .normals = normals, .attributes = heats, .attribute_count = 1};
    sap_thinned* v = NULL;
    CHECK_STATUS(sap_cloud_voxels(s.device, (sap_points){coords, 4, 2, 0}, &o, &v), SAP_OK);
    CHECK(v && v->count == 1 && v->counts[0] == 2 && v->coords[0] == 1 && v->coords[1] == 1);
    CHECK(v && v->normals[2] == 1 && v->attributes[0] == 1.5f);
    CHECK(v && v->cell_of[0] == 0 && v->cell_of[1] == -1 && v->cell_of[2] == 0 && v->cell_of[3] == -1);
    sap_thinned_free(v);
    v = NULL;
    o = (sap_voxels_options){.sizes = {10, 10}};
    REFUSED(sap_cloud_voxels(s.device, (sap_points){coords, 4, 2, 0}, &o, &v), SAP_ERROR_NOT_FINITE, "point 1");
    CHECK(v == NULL);
    sap_thinned_free(NULL);
    close_stage(&s);
}

TEST(bad_arguments_are_refused) {
    stage s;
    open_stage(&s);
    const sap_points points = {s.coords, 10, 3, 0};
    const sap_voxels_options good = {.sizes = {1, 1, 1}};
    float bad[30] = {0};
    bad[7] = NAN;
    sap_thinned* v = NULL;
    sap_voxels_options o = good;
    CHECK_STATUS(sap_cloud_voxels(NULL, points, &good, &v), SAP_ERROR_ARGUMENT);
    REFUSED(sap_cloud_voxels(s.device, points, NULL, &v), SAP_ERROR_ARGUMENT, "options");
    REFUSED(sap_cloud_voxels(s.device, points, &good, NULL), SAP_ERROR_ARGUMENT, "voxels");
    REFUSED(sap_cloud_voxels(s.device, (sap_points){NULL, 10, 3, 0}, &good, &v), SAP_ERROR_ARGUMENT, "points");
    o.sizes[2] = 0;
    REFUSED(sap_cloud_voxels(s.device, points, &o, &v), SAP_ERROR_ARGUMENT, "options.sizes[2]");
    o.sizes[2] = (double)INFINITY;
    REFUSED(sap_cloud_voxels(s.device, points, &o, &v), SAP_ERROR_ARGUMENT, "options.sizes[2]");
    o = good;
    o.sizes[0] = 1e-30;
    REFUSED(sap_cloud_voxels(s.device, points, &o, &v), SAP_ERROR_RANGE, "options.sizes[0]");
    o = good;
    o.origin[1] = (double)NAN;
    REFUSED(sap_cloud_voxels(s.device, points, &o, &v), SAP_ERROR_ARGUMENT, "options.origin[1]");
    o = good;
    o.point = (sap_voxels_point)3;
    REFUSED(sap_cloud_voxels(s.device, points, &o, &v), SAP_ERROR_ARGUMENT, "options.point");
    o = good;
    o.fewest = -1;
    REFUSED(sap_cloud_voxels(s.device, points, &o, &v), SAP_ERROR_ARGUMENT, "options.fewest");
    o = good;
    o.attributes = bad;
    REFUSED(sap_cloud_voxels(s.device, points, &o, &v), SAP_ERROR_ARGUMENT, "options.attribute_count");
    o.attribute_count = 3;
    REFUSED(sap_cloud_voxels(s.device, points, &o, &v), SAP_ERROR_NOT_FINITE, "attributes: nan in row 2");
    o = good;
    o.normals = bad;
    REFUSED(sap_cloud_voxels(s.device, points, &o, &v), SAP_ERROR_NOT_FINITE, "normals: nan in row 2");
    // What is not finite is at fault, not what is beside it; and no mean of what cannot be squared is infinite.
    const float mixed[6] = {1, 1, 1, 1e30f, NAN, 1};
    const double large[6] = {1, 1, 1, 1, 1e300, 1};
    o = good;
    o.sizes[0] = o.sizes[1] = 1e290;
    REFUSED(sap_cloud_voxels(s.device, (sap_points){mixed, 2, 3, 0}, &o, &v), SAP_ERROR_NOT_FINITE,
            "coordinate 1 of point 1 is not finite");
    o.drop_nonfinite = true;
    REFUSED(sap_cloud_voxels_f64(s.device, (sap_points_f64){large, 2, 3, 0}, &o, &v), SAP_ERROR_NOT_FINITE,
            "coordinate 1 of point 1 is 1e+300, too large to square");
    o = good;
    o.reserved[3] = 1;
    REFUSED(sap_cloud_voxels(s.device, points, &o, &v), SAP_ERROR_ARGUMENT, "options.reserved");
    CHECK(v == NULL);
    close_stage(&s);
}

TEST(memory_may_run_out) {
    stage s;
    open_stage(&s);
    const sap_voxels_options o = {.sizes = {2, 2, 2}};
    for (int64_t n = 1;; n++) {
        sap_device_trim(s.device);
        s.w.requests = 0;
        s.w.fail_from = n;
        sap_thinned* v = NULL;
        const sap_status status = sap_cloud_voxels(s.device, (sap_points){s.coords, 10, 3, 0}, &o, &v);
        const bool reached = s.w.requests >= n;
        s.w.fail_from = 0;
        CHECK_STATUS(status, reached ? SAP_ERROR_MEMORY : SAP_OK);
        CHECK((v != NULL) == !reached);
        sap_thinned_free(v);
        if (!reached) break;
    }
    close_stage(&s);
}

TEST_MAIN()
