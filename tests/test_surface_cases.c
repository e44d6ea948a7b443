// The table of marching cubes: derived anew from the sentences in surface/cases.h, and looked at from outside, cell by
// cell and pair of cells by pair.
#include "surface/lattice.h"
#include "test.h"

// ---- Cells

static int step_of(int edge, int axis) { return (int)sap_edge_step((SAP_BITS)edge, (SAP_BITS)axis); }

// The corner from which an edge leads.
static int owner_of(int edge) { return step_of(edge, 0) | step_of(edge, 1) << 1 | step_of(edge, 2) << 2; }

static int edge_between(int a, int b) {
    for (int e = 0; e < 12; e++) {
        int from = owner_of(e), to = from | 1 << sap_edge_axis((SAP_BITS)e);
        if ((from == a && to == b) || (from == b && to == a)) return e;
    }
    return -1;
}

// The corners of face f (0, 1 across x, 2, 3 across y, 4, 5 across z), counter-clockwise seen from outside.
static void face_corners(int f, int corners[4]) {
    int axis = f / 2, next = (axis + 1) % 3, last = (axis + 2) % 3, base = f % 2 << axis;
    int ring[4] = {base, base | 1 << next, base | 1 << next | 1 << last, base | 1 << last};
    for (int i = 0; i < 4; i++) corners[i] = ring[f % 2 ? i : 3 - i];
}

// Bit f: the edge lies in face f.
static unsigned faces_of(int edge) {
    unsigned faces = 0;
    for (int axis = 0; axis < 3; axis++)
        if (axis != (int)sap_edge_axis((SAP_BITS)edge)) faces |= 1u << (2 * axis + step_of(edge, axis));
    return faces;
}

TEST(edges) {
    for (int e = 0; e < 12; e++) {
        int axis = (int)sap_edge_axis((SAP_BITS)e), lower = axis == 0 ? 1 : 0, higher = axis == 2 ? 1 : 2;
        NOTE("edge %d", e);
        CHECK_EQUAL(axis, e / 4);
        CHECK_EQUAL(step_of(e, axis), 0);
        CHECK_EQUAL(step_of(e, lower), e & 1);
        CHECK_EQUAL(step_of(e, higher), e >> 1 & 1);
        CHECK_EQUAL(edge_between(owner_of(e), owner_of(e) | 1 << axis), e);
    }
}

// ---- By the rule

// next[e]: to which edge the line leads that comes in at edge e; -1: none does.
static void lines_of(int inside, int next[12]) {
    for (int e = 0; e < 12; e++) next[e] = -1;
    for (int f = 0; f < 6; f++) {
        int c[4];
        face_corners(f, c);
        for (int i = 0; i < 4; i++) {
            if (inside >> c[i] & 1 || !(inside >> c[(i + 1) % 4] & 1)) continue;
            int last = (i + 1) % 4; // of the run of inside corners
            while (inside >> c[(last + 1) % 4] & 1) last = (last + 1) % 4;
            next[edge_between(c[i], c[(i + 1) % 4])] = edge_between(c[last], c[(last + 1) % 4]);
        }
    }
}

// Whether a fan about loop[at] has a line in a face.
static bool lies_in_face(const int* loop, int count, int at) {
    for (int i = 2; i < count - 1; i++)
        if (faces_of(loop[at]) & faces_of(loop[(at + i) % count])) return true;
    return false;
}

static int fan(const int* loop, int count, int* corners) {
    int best = -1, written = 0;
    for (int at = 0; at < count; at++)
        if (!lies_in_face(loop, count, at) && (best < 0 || loop[at] < loop[best])) best = at;
    if (!CHECK(best >= 0)) return 0;
    for (int i = 1; i + 1 < count; i++) {
        corners[written++] = loop[best];
        corners[written++] = loop[(best + i) % count];
        corners[written++] = loop[(best + i + 1) % count];
    }
    return written;
}

static int derive(int inside, int corners[36]) {
    int next[12], loop[12], written = 0;
    lines_of(inside, next);
    for (int e = 0; e < 12; e++) {
        int count = 0;
        for (int at = e, to; (to = next[at]) >= 0; at = to) {
            next[at] = -1;
            loop[count++] = at;
        }
        if (count) written += fan(loop, count, corners + written);
    }
    return written;
}

TEST(table_follows_from_the_rule) {
    for (int inside = 0; inside < 256; inside++) {
        int corners[36], count = derive(inside, corners);
        NOTE("case %d", inside);
        CHECK_EQUAL(3 * sap_cube_triangles((SAP_BITS)inside), count);
        for (int i = 0; i < count && i < 15; i++) CHECK_EQUAL(sap_cube_edge((SAP_BITS)inside, (SAP_BITS)i), corners[i]);
    }
}

// ---- From outside

// Sides of the triangles of a case: how often each pair of edges is run through from the first to the second.
static void count_sides(int inside, int sides[12][12]) {
    memset(sides, 0, 144 * sizeof(int));
    for (SAP_BITS t = 0; t < sap_cube_triangles((SAP_BITS)inside); t++)
        for (SAP_BITS i = 0; i < 3; i++)
            sides[sap_cube_edge((SAP_BITS)inside, 3 * t + i)][sap_cube_edge((SAP_BITS)inside, 3 * t + (i + 1) % 3)]++;
}

// In a cell, a side lies in a face or belongs to two triangles; a vertex stands on just the edges that are crossed.
TEST(cells) {
    for (int inside = 0; inside < 256; inside++) {
        int sides[12][12];
        NOTE("case %d", inside);
        count_sides(inside, sides);
        for (int a = 0; a < 12; a++) {
            int used = 0, from = owner_of(a), to = from | 1 << sap_edge_axis((SAP_BITS)a);
            for (int b = 0; b < 12; b++) {
                used += sides[a][b];
                CHECK(sides[a][b] <= 1);
                if (sides[a][b]) CHECK_EQUAL(sides[b][a], !(faces_of(a) & faces_of(b)));
            }
            CHECK_EQUAL(used > 0, (inside >> from & 1) != (inside >> to & 1));
        }
        CHECK_EQUAL(sap_cube_triangles((SAP_BITS)inside) == 0, inside == 0 || inside == 255);
    }
}

// Edge e of a cell as its neighbour behind it along an axis numbers it.
static int edge_behind(int e, int axis) {
    int from = owner_of(e), to = from | 1 << sap_edge_axis((SAP_BITS)e);
    return edge_between(from & ~(1 << axis), to & ~(1 << axis));
}

// Two cells and their twelve corners: what one has in the common face, the other has the other way round.
TEST(pairs_of_cells) {
    for (int axis = 0; axis < 3; axis++) {
        for (int lower = 0; lower < 256; lower++) {
            int sides[12][12];
            count_sides(lower, sides);
            for (int upper = 0; upper < 256; upper++) {
                int behind[12][12];
                bool is_pair = true;
                for (int c = 0; c < 8; c++)
                    if (c >> axis & 1 && (lower >> c & 1) != (upper >> (c & ~(1 << axis)) & 1)) is_pair = false;
                if (!is_pair) continue;
                NOTE("axis %d, cases %d and %d", axis, lower, upper);
                count_sides(upper, behind);
                for (int a = 0; a < 12; a++)
                    for (int b = 0; b < 12; b++)
                        if (faces_of(a) & faces_of(b) & 1u << (2 * axis + 1))
                            CHECK_EQUAL(sides[a][b], behind[edge_behind(b, axis)][edge_behind(a, axis)]);
            }
        }
    }
}

// The front looks from inside to outside: a triangle about one corner shows it its back.
TEST(fronts) {
    for (int c = 0; c < 8; c++) {
        double p[3][3], normal[3], away = 0;
        for (int i = 0; i < 3; i++) {
            int e = (int)sap_cube_edge((SAP_BITS)(1 << c), (SAP_BITS)i);
            for (int a = 0; a < 3; a++) p[i][a] = step_of(e, a) + (a == (int)sap_edge_axis((SAP_BITS)e) ? 0.5 : 0);
        }
        for (int a = 0; a < 3; a++) {
            int b = (a + 1) % 3, d = (a + 2) % 3;
            normal[a] = (p[1][b] - p[0][b]) * (p[2][d] - p[0][d]) - (p[1][d] - p[0][d]) * (p[2][b] - p[0][b]);
            away += normal[a] * (p[0][a] - (c >> a & 1));
        }
        NOTE("corner %d", c);
        CHECK(away > 0);
    }
}

TEST_MAIN()
