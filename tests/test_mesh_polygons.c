// Polygons of any shape and size become triangles that cover them.
#include "mesh_reading.h"

TEST(polygons) {
    // Points in the plane y = 1 (so that one axis has to be left out), and what becomes of them.
    static const struct {
        const char* name;
        int count;
        int at[10][2];
        const char* triangles;
    } cases[] = {{"square", 4, {{0, 0}, {2, 0}, {2, 2}, {0, 2}}, "0 1 2  0 2 3"},
                 {"square the other way round", 4, {{0, 2}, {2, 2}, {2, 0}, {0, 0}}, "0 1 2  0 2 3"},
                 {"arrow, the notch first", 4, {{1, 1}, {3, 0}, {1, 4}, {0, 0}}, "0 1 2  0 2 3"},
                 {"arrow, the notch second", 4, {{0, 0}, {1, 1}, {3, 0}, {1, 4}}, NULL},
                 {"L", 6, {{0, 0}, {2, 0}, {2, 1}, {1, 1}, {1, 2}, {0, 2}}, NULL},
                 {"comb", 10, {{0, 0}, {9, 0}, {9, 4}, {7, 1}, {6, 4}, {5, 1}, {4, 4}, {3, 1}, {2, 4}, {0, 4}}, NULL},
                 {"corners in a row", 6, {{0, 0}, {1, 0}, {2, 0}, {2, 2}, {1, 1}, {0, 2}}, NULL},
                 {"hole by a bridge",
                  10,
                  {{0, 0}, {6, 0}, {6, 6}, {0, 6}, {0, 0}, {2, 2}, {2, 4}, {4, 4}, {4, 2}, {2, 2}},
                  NULL},
                 {"no area", 4, {{0, 0}, {1, 1}, {2, 2}, {1, 1}}, "0 1 2  0 2 3"}};
    reading r;
    begin(&r);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[512];
        size_t length = 0;
        double area2 = 0, covered2 = 0;
        for (int j = 0; j < cases[i].count; j++) {
            const int *a = cases[i].at[j], *b = cases[i].at[(j + 1) % cases[i].count];
            area2 += a[0] * b[1] - a[1] * b[0];
            length += (size_t)snprintf(text + length, sizeof text - length, "v %d 1 %d\n", a[0], a[1]);
        }
        length += (size_t)snprintf(text + length, sizeof text - length, "f");
        for (int j = 1; j <= cases[i].count; j++)
            length += (size_t)snprintf(text + length, sizeof text - length, " %d", j);
        if (cases[i].triangles) expect_triangles(&r, SAP_FORMAT_OBJ, text, cases[i].triangles);
        NOTE("%s", cases[i].name);
        sap_mesh_file* file = parse_text(&r, SAP_FORMAT_OBJ, text);
        if (!file) continue;
        CHECK_EQUAL(file->mesh.triangle_count, cases[i].count - 2);
        // Triangles that turn as the polygon does and have its area together cover it without overlap.
        for (const int32_t* t = file->mesh.triangles; t < file->mesh.triangles + 3 * file->mesh.triangle_count;
             t += 3) {
            const int *a = cases[i].at[t[0]], *b = cases[i].at[t[1]], *c = cases[i].at[t[2]];
            double turn = (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]);
            CHECK(area2 < 0 ? turn <= 0 : turn >= 0);
            covered2 += turn;
        }
        CHECK(covered2 == area2);
        sap_mesh_file_free(file);
    }
    end(&r);
}

// A strip wound up to a spiral has two ears at most, one at each end.
TEST(spiral) {
    enum { TURNS = 500, ROOM = 2 * TURNS * 60 };
    reading r;
    begin(&r);
    char* text = malloc(ROOM);
    size_t length = 0;
    if (!text) return;
    for (int i = 0; i < 2 * TURNS; i++) {
        int step = i < TURNS ? i : 2 * TURNS - 1 - i;
        double angle = step * 0.125, radius = (1 + step * 0.0625) * (i < TURNS ? 1 : 0.984375);
        length +=
            (size_t)snprintf(text + length, ROOM - length, "v 0 %.6f %.6f\n", radius * cos(angle), radius * sin(angle));
    }
    length += (size_t)snprintf(text + length, ROOM - length, "f");
    for (int i = 1; i <= 2 * TURNS; i++) length += (size_t)snprintf(text + length, ROOM - length, " %d", i);
    sap_mesh_file* file = parse_text(&r, SAP_FORMAT_OBJ, text);
    free(text);
    if (file && CHECK_EQUAL(file->mesh.triangle_count, 2 * TURNS - 2)) {
        bool turned = true; // as the polygon
        for (const int32_t* t = file->mesh.triangles; t < file->mesh.triangles + 3 * file->mesh.triangle_count;
             t += 3) {
            const float *a = file->mesh.vertices + (ptrdiff_t)3 * t[0], *b = file->mesh.vertices + (ptrdiff_t)3 * t[1],
                        *c = file->mesh.vertices + (ptrdiff_t)3 * t[2];
            turned &= (b[1] - a[1]) * (c[2] - a[2]) - (b[2] - a[2]) * (c[1] - a[1]) >= 0;
        }
        CHECK(turned);
    }
    sap_mesh_file_free(file);
    end(&r);
}

// A star of many corners, and one that cuts itself: as many triangles as ever, the same each time.
TEST(large_polygons) {
    enum { CORNERS = 3000, ROOM = CORNERS * 40 };
    reading r;
    begin(&r);
    for (int jump = 1; jump <= 1001; jump += 1000) {
        char* text = malloc(ROOM);
        size_t length = 0;
        double area = 0;
        if (!text) return;
        for (int i = 0; i < CORNERS; i++) {
            double angle = 2 * 3.14159265358979 * i * jump / CORNERS, radius = i % 2 ? 1 : 3;
            length += (size_t)snprintf(text + length, ROOM - length, "v %.6f %.6f 7\n", radius * cos(angle),
                                       radius * sin(angle));
        }
        length += (size_t)snprintf(text + length, ROOM - length, "f");
        for (int i = 1; i <= CORNERS; i++) length += (size_t)snprintf(text + length, ROOM - length, " %d", i);
        sap_mesh_file *file = parse_text(&r, SAP_FORMAT_OBJ, text), *again = parse_text(&r, SAP_FORMAT_OBJ, text);
        free(text);
        if (!file || !again) return;
        CHECK_EQUAL(file->mesh.triangle_count, CORNERS - 2);
        CHECK(!memcmp(file->mesh.triangles, again->mesh.triangles, (CORNERS - 2) * 3 * sizeof(int32_t)));
        const float* v = file->mesh.vertices;
        for (int64_t i = 0; i < file->mesh.triangle_count; i++) {
            const float *a = v + 3 * file->mesh.triangles[3 * i], *b = v + 3 * file->mesh.triangles[3 * i + 1],
                        *c = v + 3 * file->mesh.triangles[3 * i + 2];
            area += fabs((double)((b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]))) / 2;
        }
        if (jump == 1) CHECK(fabs(area - CORNERS * 0.5 * 3 * sin(2 * 3.14159265358979 / CORNERS)) < 1e-3);
        sap_mesh_file_free(file);
        sap_mesh_file_free(again);
    }
    end(&r);
}

TEST_MAIN()
