// scene FILE.obj: writes a scene to draw: a knot of gold, balls of glass, mirror and clay on polished tiles. The
// materials go into FILE.mtl.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double full_turn = 6.283185307179586;

typedef struct point {
    double x, y, z;
} point;

// A scene being written. Vertices of an OBJ count from 1.
typedef struct scene {
    FILE* file;
    int vertices;
} scene;

static point plus(point a, point b, double s) { return (point){a.x + b.x * s, a.y + b.y * s, a.z + b.z * s}; }
static point cross(point a, point b) {
    return (point){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}
static point unit(point a) {
    double length = sqrt(a.x * a.x + a.y * a.y + a.z * a.z);
    return (point){a.x / length, a.y / length, a.z / length};
}

static void put_vertex(scene* s, point p) {
    fprintf(s->file, "v %.5f %.5f %.5f\n", p.x, p.y, p.z);
    s->vertices++;
}

// Quadrilaterals between `rows` rings of `columns` vertices, the last of which were just put. closed: the last ring is
// joined to the first.
static void put_rings(scene* s, int rows, int columns, int closed) {
    int first = s->vertices - rows * columns + 1;
    for (int r = 0; r < (closed ? rows : rows - 1); r++) {
        for (int c = 0; c < columns; c++) {
            int below = first + r * columns, above = first + (r + 1) % rows * columns, next = (c + 1) % columns;
            fprintf(s->file, "f %d %d %d %d\n", below + c, below + next, above + next, above + c);
        }
    }
}

static void put_ball(scene* s, const char* material, point middle, double radius, int rows) {
    fprintf(s->file, "usemtl %s\n", material);
    put_vertex(s, plus(middle, (point){0, -1, 0}, radius));
    for (int r = 1; r < rows; r++) {
        double tilt = full_turn / 2 * r / rows;
        for (int c = 0; c < 2 * rows; c++) {
            double turn = -full_turn * c / (2 * rows);
            point to = {sin(tilt) * cos(turn), -cos(tilt), sin(tilt) * sin(turn)};
            put_vertex(s, plus(middle, to, radius));
        }
    }
    put_rings(s, rows - 1, 2 * rows, 0);
    put_vertex(s, plus(middle, (point){0, 1, 0}, radius));
    int top = s->vertices, bottom = top - (rows - 1) * 2 * rows - 1, last = top - 2 * rows;
    for (int c = 0; c < 2 * rows; c++) {
        int next = (c + 1) % (2 * rows);
        fprintf(s->file, "f %d %d %d\nf %d %d %d\n", bottom, bottom + 1 + next, bottom + 1 + c, last + c, last + next,
                top);
    }
}

// The curve of a torus knot that goes three times round and twice through.
static point knot_at(double part) {
    double turn = full_turn * part, radius = 1.1 + 0.45 * cos(3 * turn);
    return (point){radius * cos(2 * turn), 1.35 + 0.55 * sin(3 * turn), radius * sin(2 * turn)};
}

static void put_knot(scene* s, int rows, int columns) {
    fputs("usemtl gold\n", s->file);
    for (int r = 0; r < rows; r++) {
        double part = (double)r / rows;
        point at = knot_at(part), along = unit(plus(knot_at(part + 1e-4), at, -1));
        point out = unit(cross(along, (point){0, 1, 0})), side = cross(along, out);
        for (int c = 0; c < columns; c++) {
            double turn = full_turn * c / columns;
            put_vertex(s, plus(plus(at, out, 0.24 * cos(turn)), side, 0.24 * sin(turn)));
        }
    }
    put_rings(s, rows, columns, 1);
}

static void put_tiles(scene* s, int count, double side) {
    for (int color = 0; color < 2; color++) {
        fprintf(s->file, "usemtl %s\n", color ? "dark" : "light");
        for (int x = 0; x < count; x++) {
            for (int z = (x + color) % 2; z < count; z += 2) {
                double left = (x - count / 2.0) * side, back = (z - count / 2.0) * side;
                put_vertex(s, (point){left, 0, back});
                put_vertex(s, (point){left, 0, back + side});
                put_vertex(s, (point){left + side, 0, back + side});
                put_vertex(s, (point){left + side, 0, back});
                fprintf(s->file, "f %d %d %d %d\n", s->vertices - 3, s->vertices - 2, s->vertices - 1, s->vertices);
            }
        }
    }
}

static const char materials[] = "newmtl gold\nKd 0.62 0.37 0.09\nKs 0.42 0.30 0.14\nNs 60\nillum 3\n"
                                "newmtl glass\nKd 0 0 0\nKs 0.8 0.8 0.8\nNs 900\nd 0\nNi 1.5\nillum 7\n"
                                "newmtl mirror\nKd 0.02 0.02 0.02\nKs 0.92 0.93 0.95\nNs 900\nillum 3\n"
                                "newmtl clay\nKd 0.62 0.14 0.09\nKs 0.08 0.08 0.08\nNs 20\nillum 2\n"
                                "newmtl light\nKd 0.55 0.56 0.58\nKs 0.12 0.12 0.12\nNs 200\nillum 5\n"
                                "newmtl dark\nKd 0.10 0.14 0.20\nKs 0.12 0.12 0.12\nNs 200\nillum 5\n";

// FILE.mtl beside FILE.obj; false if it could not be written.
static int write_materials(const char* path, const char** name) {
    static char other[4096];
    size_t length = strlen(path);
    if (length < 5 || length >= sizeof other || strcmp(path + length - 4, ".obj") != 0) return 0;
    snprintf(other, sizeof other, "%.*s.mtl", (int)length - 4, path);
    *name = strrchr(other, '/') ? strrchr(other, '/') + 1 : other;
    FILE* file = fopen(other, "w");
    if (!file) return 0;
    int good = fputs(materials, file) >= 0;
    return !fclose(file) && good;
}

int main(int argc, char** argv) {
    const char* name = NULL;
    if (argc != 2) {
        fputs("usage: scene FILE.obj\n", stderr);
        return 2;
    }
    scene s = {0};
    if (write_materials(argv[1], &name)) s.file = fopen(argv[1], "w");
    if (s.file) {
        fprintf(s.file, "mtllib %s\n", name);
        put_tiles(&s, 14, 0.5);
        put_knot(&s, 480, 40);
        put_ball(&s, "mirror", (point){-2.1, 0.6, -0.9}, 0.6, 48);
        put_ball(&s, "glass", (point){1.55, 0.55, 1.75}, 0.55, 48);
        put_ball(&s, "clay", (point){-1.15, 0.35, 1.9}, 0.35, 40);
        if (!ferror(s.file) && !fclose(s.file)) return 0;
    }
    fprintf(stderr, "scene: cannot write %s and its .mtl\n", argv[1]);
    return 1;
}
