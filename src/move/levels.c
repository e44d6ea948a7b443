// The levels of a subdivision: each follows from the one before by counting alone (move/subdivision.h).
#include "base/assert.h"
#include "base/team.h"
#include "move/subdivision.h"

enum {
    GRAIN = 4096,
    // Entries of the programs of vertices on edges: six neighbours; two, and two sectors of four; two, and one sector.
    OF_SMOOTH = 6,
    OF_CREASE = 2 + 1 + 2 * (2 + 4),
    OF_BORDER = 2 + 1 + (2 + 4)
};

sap_loop_counts sap_loop_counts_next(const sap_loop_counts* c) {
    return (sap_loop_counts){.vertices = c->vertices + c->edges,
                             .triangles = 4 * c->triangles,
                             .edges = 2 * c->edges + 3 * c->triangles,
                             .creases = 2 * c->creases,
                             .borders = 2 * c->borders,
                             .entries = c->entries + OF_SMOOTH * (c->edges - c->creases - c->borders) +
                                        OF_CREASE * c->creases + OF_BORDER * c->borders};
}

// The half of an edge at one of its ends.
static int32_t half_of(const sap_loop_mesh* m, int32_t edge, int32_t vertex) {
    return 2 * edge + (m->edge[edge].to == vertex);
}

// The new edge that cuts off a corner.
static int32_t cut_of(const sap_loop_mesh* m, int32_t corner) { return (int32_t)(2 * m->counts.edges) + corner; }

// ---- Triangles

static void step_triangles(void* context, int64_t from, int64_t to, int32_t worker) {
    const sap_loop_step* s = context;
    const sap_loop_mesh* m = s->mesh;
    const int32_t old = (int32_t)m->counts.vertices;
    (void)worker;
    for (int64_t t = from; t < to; t++) {
        const int32_t *c = m->corners + 3 * t, *side = m->sides + 3 * t, at = (int32_t)(3 * t);
        int32_t* corners = s->corners + 12 * t;
        for (int j = 0; j < 3; j++) {
            const int before = (j + 2) % 3, next = (j + 1) % 3;
            corners[3 * j + j] = c[j];
            corners[3 * j + next] = old + side[j];
            corners[3 * j + before] = old + side[before];
            corners[9 + j] = old + side[j];
            if (!s->next) continue;
            int32_t* sides = s->next->sides + 12 * t;
            sides[3 * j + j] = half_of(m, side[j], c[j]);
            sides[3 * j + next] = cut_of(m, at + j);
            sides[3 * j + before] = half_of(m, side[before], c[j]);
            sides[9 + before] = cut_of(m, at + j); // from the vertex of the side before to that of side j
            // It leads that way in the middle triangle, and back in that of the corner.
            s->next->edge[cut_of(m, at + j)] = (sap_loop_edge){
                old + side[before], old + side[j], (int32_t)(12 * t) + 9 + before, (int32_t)(12 * t) + 3 * j + next};
            s->next->sharp[cut_of(m, at + j)] = 0;
        }
    }
}

// ---- Edges

// The side that leads out from a corner of a triangle in the smaller one that keeps that corner, and the one that leads
// in.
static int32_t side_out(int32_t corner) { return corner / 3 * 12 + corner % 3 * 4; }
static int32_t side_in(int32_t corner) { return corner / 3 * 12 + corner % 3 * 3 + (corner + 2) % 3; }

static void step_edges(void* context, int64_t from, int64_t to, int32_t worker) {
    const sap_loop_step* s = context;
    const sap_loop_mesh* m = s->mesh;
    (void)worker;
    for (int64_t e = from; e < to; e++) {
        const sap_loop_edge edge = m->edge[e];
        int32_t* quad = s->quads + 4 * e;
        // At the end of a crease the edge is as others.
        const bool ends = s->records[2 * (int64_t)edge.from + 1] >= SAP_LOOP_TABLE ||
                          s->records[2 * (int64_t)edge.to + 1] >= SAP_LOOP_TABLE;
        quad[0] = edge.from;
        quad[1] = edge.to;
        quad[2] = quad[3] = -1;
        if (edge.right >= 0 && (!m->sharp[e] || ends)) {
            quad[2] = m->corners[sap_loop_before(edge.left)];
            quad[3] = m->corners[sap_loop_before(edge.right)];
        }
        if (!s->next) continue;
        const int32_t middle = (int32_t)(m->counts.vertices + e), at_end = sap_loop_next(edge.left);
        const bool two = edge.right >= 0;
        s->next->edge[2 * e] =
            (sap_loop_edge){edge.from, middle, side_out(edge.left), two ? side_in(sap_loop_next(edge.right)) : -1};
        s->next->edge[2 * e + 1] = (sap_loop_edge){middle, edge.to, side_in(at_end), two ? side_out(edge.right) : -1};
        s->next->sharp[2 * e] = s->next->sharp[2 * e + 1] = m->sharp[e];
    }
}

// ---- Programs

typedef struct writer {
    const sap_loop_step* step;
    int64_t at;
} writer;

static void put_number(writer* w, int32_t number) {
    w->step->list[w->at] = number;
    if (w->step->next) w->step->next->list[w->at] = number;
    w->at++;
}

static void put_edge(writer* w, int32_t edge, int32_t neighbour) {
    w->step->list[w->at] = neighbour;
    if (w->step->next) w->step->next->list[w->at] = edge;
    w->at++;
}

// The neighbour of an old vertex along an old edge is the vertex on that edge.
static void put_old(writer* w, int32_t vertex, int64_t count) {
    const sap_loop_mesh* m = w->step->mesh;
    for (int64_t i = 0; i < count; i++) {
        const int32_t edge = m->list[w->at];
        put_edge(w, half_of(m, edge, vertex), (int32_t)m->counts.vertices + edge);
    }
}

static void step_old(void* context, int64_t from, int64_t to, int32_t worker) {
    const sap_loop_step* s = context;
    (void)worker;
    for (int64_t v = from; v < to; v++) {
        const uint32_t mask = s->records[2 * v + 1];
        writer w = {s, s->records[2 * v]};
        if (mask >= SAP_LOOP_TABLE) {
            const int64_t end = v + 1 < s->mesh->counts.vertices ? s->records[2 * v + 2] : s->mesh->counts.entries;
            put_old(&w, (int32_t)v, end - w.at);
            continue;
        }
        if (mask == SAP_LOOP_CREASE) put_old(&w, (int32_t)v, 2);
        const int32_t sectors = s->mesh->list[w.at];
        put_number(&w, sectors);
        for (int32_t i = 0; i < sectors; i++) {
            const int32_t count = s->mesh->list[w.at];
            put_number(&w, count);
            put_number(&w, s->mesh->list[w.at]);
            put_old(&w, (int32_t)v, count);
        }
    }
}

// The neighbours of the vertex on a side of a triangle that lie in it: its end, two more, its start. Without the ends,
// or with the one or both.
static void put_side(writer* w, int32_t side, bool with_end, bool with_start) {
    const sap_loop_mesh* m = w->step->mesh;
    const int32_t edge = m->sides[side], next = sap_loop_next(side), before = sap_loop_before(side),
                  old = (int32_t)m->counts.vertices;
    if (with_end) put_edge(w, half_of(m, edge, m->corners[next]), m->corners[next]);
    put_edge(w, cut_of(m, next), old + m->sides[next]);
    put_edge(w, cut_of(m, side), old + m->sides[before]);
    if (with_start) put_edge(w, half_of(m, edge, m->corners[side]), m->corners[side]);
}

static void put_sector(writer* w, int32_t side) {
    put_number(w, 4);
    put_number(w, (int32_t)w->step->weights->of_fan[4]);
    put_side(w, side, true, true);
}

static void put_new(writer* w, int64_t e) {
    const sap_loop_mesh* m = w->step->mesh;
    const sap_loop_edge edge = m->edge[e];
    if (!m->sharp[e]) {
        put_side(w, edge.left, true, true);
        put_side(w, edge.right, false, false);
        return;
    }
    put_edge(w, (int32_t)(2 * e) + 1, edge.to);
    put_edge(w, (int32_t)(2 * e), edge.from);
    put_number(w, edge.right < 0 ? 1 : 2);
    put_sector(w, edge.left);
    if (edge.right >= 0) put_sector(w, edge.right);
}

static void step_new(void* context, int64_t from, int64_t to, int32_t worker) {
    const sap_loop_step* s = context;
    (void)worker;
    for (int64_t e = from; e < to; e++) {
        writer w = {s, s->records[2 * (s->mesh->counts.vertices + e)]};
        put_new(&w, e);
    }
}

// Where the programs of new vertices begin.
static void make_records(const sap_loop_step* s) {
    const sap_loop_mesh* m = s->mesh;
    int64_t at = m->counts.entries;
    for (int64_t e = 0; e < m->counts.edges; e++) {
        uint32_t* record = s->records + 2 * (m->counts.vertices + e);
        record[0] = (uint32_t)at;
        record[1] = m->sharp[e] ? SAP_LOOP_CREASE : s->weights->of_ring[6];
        at += !m->sharp[e] ? OF_SMOOTH : m->edge[e].right < 0 ? OF_BORDER : OF_CREASE;
    }
    SAP_ASSERT(at == sap_loop_counts_next(&m->counts).entries);
}

void sap_loop_step_make(sap_loop_step* s) {
    const sap_loop_counts* c = &s->mesh->counts;
    make_records(s);
    sap_team_loop(s->threads, c->triangles, GRAIN, step_triangles, s);
    sap_team_loop(s->threads, c->edges, GRAIN, step_edges, s);
    sap_team_loop(s->threads, c->vertices, GRAIN, step_old, s);
    sap_team_loop(s->threads, c->edges, GRAIN, step_new, s);
}
