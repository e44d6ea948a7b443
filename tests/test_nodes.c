// The classical tree that is exported: every node is the lower median of its points in the total order of its axis.
#include "cases.h"
#include "test.h"

// A node and the points below it: places [begin, end) of the list.
typedef struct range {
    int32_t node;
    int64_t begin, end;
    int32_t depth;
} range;

typedef struct exported {
    const cloud* points;
    const sap_tree_node* nodes;
    int32_t* ids; // all points, rearranged on the way down
    int64_t count;
    bool cycle;
} exported;

static bool before(const cloud* points, int32_t axis, int32_t p, int32_t q) {
    for (int32_t c = 0; c < points->dims; c++) {
        int32_t a = (axis + c) % points->dims;
        double x = cloud_get(points, p, a), y = cloud_get(points, q, a);
        if (x != y) return x < y;
    }
    return p < q;
}

// How far the points of a range spread along an axis, in the points' own precision.
static double extent(const exported* e, const range* r, int32_t axis) {
    double lower = INFINITY, upper = -INFINITY;
    for (int64_t i = r->begin; i < r->end; i++) {
        lower = fmin(lower, cloud_get(e->points, e->ids[i], axis));
        upper = fmax(upper, cloud_get(e->points, e->ids[i], axis));
    }
    return e->points->real_bits == 64 ? upper - lower : (double)((float)upper - (float)lower);
}

static void check_axis(const exported* e, const range* r, int32_t axis) {
    if (e->cycle) {
        CHECK_EQUAL(axis, r->depth % e->points->dims);
        return;
    }
    double widest = extent(e, r, axis);
    for (int32_t a = 0; a < e->points->dims; a++) {
        double other = extent(e, r, a);
        CHECK(a < axis ? other < widest : other <= widest);
    }
}

// Checks a node and divides its points; false if its children make no sense.
static bool check_node(const exported* e, const range* r, range* less, range* greater) {
    const sap_tree_node* n = &e->nodes[r->node];
    if (!CHECK(n->axis >= 0 && n->axis < e->points->dims) || !CHECK(n->point >= 0 && n->point < e->points->count))
        return false;
    check_axis(e, r, n->axis);
    int64_t smaller = r->begin, end = r->end, own = 0;
    for (int64_t i = r->begin; i < end;) {
        int32_t id = e->ids[i];
        if (id == n->point) own++;
        if (id != n->point && before(e->points, n->axis, id, n->point)) {
            e->ids[i++] = e->ids[smaller];
            e->ids[smaller++] = id;
        } else if (id == n->point) {
            e->ids[i] = e->ids[--end];
        } else {
            i++;
        }
    }
    if (!CHECK_EQUAL(own, 1)) return false;
    CHECK_EQUAL(smaller - r->begin, (r->end - r->begin - 1) / 2);
    *less = (range){n->less, r->begin, smaller, r->depth + 1};
    *greater = (range){n->greater, smaller, end, r->depth + 1};
    // Preorder: the smaller points' node comes next, the greater ones' after all of those.
    bool good = CHECK_EQUAL(n->less, smaller > r->begin ? r->node + 1 : -1);
    return CHECK_EQUAL(n->greater, end > smaller ? r->node + 1 + (smaller - r->begin) : -1) && good;
}

static void check_nodes(exported* e) {
    range waiting[64] = {{0, 0, e->count, 0}};
    int64_t seen = 0;
    for (int height = e->count > 0; height > 0;) {
        range r = waiting[--height], less, greater;
        if (!check_node(e, &r, &less, &greater)) return;
        seen++;
        if (greater.begin < greater.end) waiting[height++] = greater;
        if (less.begin < less.end) waiting[height++] = less;
    }
    CHECK_EQUAL(seen, e->count);
}

static void export_case(const search_case* c, const devices* on) {
    cloud points = case_points(c);
    uint8_t* dropped = calloc((size_t)c->size + 1, 1);
    exported e = {.points = &points, .cycle = c->options.axis == SAP_AXIS_CYCLE};
    e.ids = malloc(((size_t)c->size + 1) * sizeof *e.ids);
    sap_tree_node *nodes = malloc(((size_t)c->size + 1) * sizeof *nodes), *first = NULL;
    if (c->options.drop_duplicates) oracle_duplicates(&points, dropped);
    for (int64_t i = 0; i < c->size; i++) {
        if (!dropped[i]) e.ids[e.count++] = (int32_t)i;
    }
    for (int d = 0; d < on->count; d++) {
        sap_tree* tree = NULL;
        NOTE("%s n %d dims %d f%d split %d axis %d leaf %d drop %d device %d", family_name(c->kind), (int)c->size,
             c->dims, c->real_bits, (int)c->options.split, (int)c->options.axis, c->options.leaf_size,
             c->options.drop_duplicates, d);
        nodes[e.count].point = -5;
        CHECK_STATUS(build(on->open[d], &points, &c->options, &tree), SAP_OK);
        CHECK_STATUS(sap_tree_nodes(tree, nodes), SAP_OK);
        CHECK_EQUAL(nodes[e.count].point, -5);
        if (first) CHECK(!memcmp(first, nodes, (size_t)e.count * sizeof *nodes));
        if (!first) {
            e.nodes = first = nodes;
            check_nodes(&e);
            nodes = malloc(((size_t)c->size + 1) * sizeof *nodes);
        }
        sap_tree_free(tree);
    }
    free(nodes);
    free(first);
    free(e.ids);
    free(dropped);
    cloud_free(&points);
}

TEST(exported_trees_are_classical) {
    devices on = devices_open(1);
    search_case c;
    for (int i = 0; i < CASE_COUNT; i++) {
        if (case_choose(i, &c) && (c.size <= 100 || c.chance >> 36 & 1)) export_case(&c, &on);
    }
    devices_close(&on);
}

// Trees large enough for several threads to share the work.
TEST(several_threads) {
    devices on = devices_open(0);
    for (int i = 0; i < FAMILY_COUNT; i += CASE_STEP) {
        search_case c = {
            .kind = (family)i, .size = 30000, .dims = 1 + i % 4, .real_bits = i % 3 ? 32 : 64, .chance = 1};
        export_case(&c, &on);
    }
    devices_close(&on);
}

TEST_MAIN()
