// Searches on OpenGL devices tell how far they are, and stop where they are asked to.
#include "test.h"

#if defined(SAP_HAVE_GL)
#include "allocator.h"
#include "calls.h"
#include "gl_pictures.h"
#include "gl_tools.h"
#include "sapwood/sapwood.h"
#include <stdlib.h>
#include <string.h>

enum { WIDTH = 40, HEIGHT = 30, COUNT = 300 };

typedef struct host {
    watch w;
    int left; // reports until it asks to stop; 0: never
    int reports;
    double last;
    bool falls; // a report told less than the one before
    sap_device* device;
    sap_status inside; // of a call that the callback made
} host;

static bool report(void* user, double done) {
    host* h = user;
    sap_gl_info info;
    h->falls = h->falls || done < h->last || done > 1;
    h->last = done;
    h->reports++;
    // Between the parts of a call the device is free.
    if (h->device) h->inside = sap_gl_describe(h->device, &info);
    if (h->device && h->inside == SAP_OK) h->inside = sap_device_wait(h->device);
    return !h->left || --h->left > 0;
}

enum { SEARCHES = 5 };

// A search for a grid, for queries, of counts, of rows and over a tree in bytes, by its number.
static sap_status search(const sap_tree* tree, sap_device* device, const sap_rgba8_tree* form, const cloud* points,
                         int which) {
    static int32_t ids[WIDTH * HEIGHT * 2];
    static float distance2[WIDTH * HEIGHT * 2];
    static int64_t counts[COUNT];
    const sap_points queries = {points->coords, points->count, points->dims, 0};
    sap_neighbors* rows = NULL;
    sap_status status = SAP_OK;
    if (which == 0) {
        status = sap_nearest_grid(tree, grid_over(points, WIDTH, HEIGHT), &(sap_search){.k = 2}, ids, distance2);
    } else if (which == 1) {
        status = sap_nearest(tree, queries, &(sap_search){.k = 1}, ids, distance2);
    } else if (which == 2) {
        status = sap_radius_count(tree, queries, 0.2, counts);
    } else if (which == 3) {
        status = sap_radius(tree, queries, 0.2, &rows);
        CHECK((status == SAP_OK) == (rows != NULL));
        sap_neighbors_free(rows);
    } else {
        status = sap_gl_nearest_rgba8(device, form, grid_over(points, WIDTH, HEIGHT), NULL, ids, distance2);
    }
    return status;
}

static void cancel_everywhere(bool computes) {
    cloud points = cloud_of_family(FAMILY_UNIFORM, COUNT, 2, 32, 0, 5);
    host h = {.left = 0};
    sap_device* device = NULL;
    sap_tree *tree = NULL, *fine = NULL;
    sap_rgba8_tree* form = NULL;
    gl_tools_reset();
    gl_tools.no_compute = !computes;
    sap_device_options options = watched(&h.w);
    options.processor = SAP_GL;
    options.progress = report;
    options.progress_user = &h;
    if (!CHECK_STATUS(gl_tools_open(&options, &device), SAP_OK)) return;
    h.device = device;
    CHECK_STATUS(build(device, &points, NULL, &tree), SAP_OK);
    CHECK_STATUS(build(device, &points, &(sap_tree_options){.leaf_size = 1}, &fine), SAP_OK);
    CHECK_STATUS(sap_rgba8_tree_build(fine, (double[2]){-1, -1}, 3, &form), SAP_OK);
    for (int which = 0; which < SEARCHES; which++) {
        h.reports = h.left = 0;
        h.last = 0;
        h.falls = false;
        NOTE("computes %d, search %d", computes, which);
        CHECK_STATUS(search(tree, device, form, &points, which), SAP_OK);
        CHECK(h.reports > 0 && h.last == 1 && !h.falls);
        CHECK_STATUS(h.inside, SAP_OK);
        const int reports = h.reports;
        for (int n = 1; n <= reports; n++) {
            h.left = n;
            h.reports = 0;
            CHECK_STATUS(search(tree, device, form, &points, which), SAP_ERROR_CANCELLED);
            CHECK_EQUAL(h.reports, n);
        }
        h.left = 0;
        h.last = 0;
        CHECK_STATUS(search(tree, device, form, &points, which), SAP_OK);
    }
    sap_rgba8_tree_free(form);
    sap_tree_free(fine);
    sap_tree_free(tree);
    sap_device_close(device);
    CHECK_EQUAL(h.w.blocks, 0);
    CHECK_EQUAL(gl_tools.textures, 0);
    CHECK_EQUAL(gl_tools.buffers, 0);
    cloud_free(&points);
}

TEST(every_search_can_be_cancelled) {
    if (!gl_tools_present()) SKIP("no OpenGL ES");
    cancel_everywhere(true);
    cancel_everywhere(false);
}
#else
TEST(no_opengl) { SKIP("this build has no OpenGL ES"); }
#endif

TEST_MAIN()
