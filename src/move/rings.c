// The programs of a mesh's own vertices: neighbours counter-clockwise, cut where edges are sharp; and the weights of
// vertices and sectors by the number of their neighbours.
#include "base/assert.h"
#include "move/subdivision.h"

// ---- Weights

// The cosine of a part of a whole turn, part / whole: by the same operations on every processor.
static double turn_cosine(int64_t part, int64_t whole) {
    if (part < 0) part = -part;
    part %= whole;
    if (2 * part > whole) part = whole - part;
    const bool is_left = 4 * part > whole;
    if (is_left) part = whole - 2 * part, whole *= 2; // the angle from the other side
    const double pi = 3.14159265358979323846;
    const bool is_steep = 8 * part > whole; // then as a sine of the rest of a quarter
    const double angle =
        is_steep ? 2 * pi * (double)(whole - 4 * part) / (4 * (double)whole) : 2 * pi * (double)part / (double)whole;
    double term = is_steep ? angle : 1, sum = term;
    for (int k = is_steep ? 3 : 2; k < 22; k += 2) {
        term *= -(angle * angle) / (k * (k - 1));
        sum += term;
    }
    return is_left ? -sum : sum;
}

static double turn_sine(int64_t part, int64_t whole) { return turn_cosine(4 * part - whole, 4 * whole); }

// Loop's weight of each of n neighbours, and that for the limit, and the tangents (Hoppe and others 1994).
static void fill_ring(int64_t n, float* to) {
    const double c = 0.375 + 0.25 * turn_cosine(1, n), weight = (0.625 - c * c) / (double)n;
    to[0] = sap_float_of_bits((uint32_t)n);
    to[1] = (float)weight;
    to[2] = (float)(1 / (0.375 / weight + (double)n));
    for (int64_t i = 0; i < n; i++) {
        to[3 + 2 * i] = (float)turn_cosine(i, n);
        to[4 + 2 * i] = (float)turn_sine(i, n);
    }
}

// The tangent across a crease, from it into a sector of n neighbours, is the sum of these times the ways to them. It
// belongs to the eigenvalue 3/8 + cos(a) / 4, where a = pi / (n - 1), of neighbours that are refined beside a B-spline;
// for two neighbours to 1/4. With four it is (-1, 2, 2, -1).
static void fill_fan(int64_t n, float* to) {
    const int64_t triangles = n - 1;
    const double c = turn_cosine(1, 2 * triangles), s = turn_sine(1, 2 * triangles);
    for (int64_t i = 0; i < n; i++) to[i] = n == 2 ? 1 : (float)turn_sine(i, 2 * triangles);
    if (n > 2) to[0] = to[n - 1] = (float)(-c * s / ((1 - c) * (1 + 2 * c)));
}

void sap_loop_weights_fill(const sap_loop_weights* weights, float* table) {
    for (int i = 0; i < SAP_LOOP_TABLE; i++) table[i] = 0;
    for (int64_t n = 0; n <= weights->most; n++) {
        if (weights->of_ring[n]) fill_ring(n, table + weights->of_ring[n]);
        if (weights->of_fan[n]) fill_fan(n, table + weights->of_fan[n]);
    }
}

// ---- Fans: the triangles of a vertex that edges join

// The corner of the next triangle about the vertex of a corner, counter-clockwise; -1: a border comes first.
static int32_t turn(const sap_loop_mesh* m, int32_t corner) {
    const int32_t side = sap_loop_before(corner);
    const sap_loop_edge edge = m->edge[m->sides[side]];
    return edge.left == side ? edge.right : edge.left;
}

// Adds the fan that begins at a corner.
static void add_fan(sap_loop_rings* r, int32_t corner, int64_t* fans) {
    const sap_loop_mesh* m = r->mesh;
    int32_t now = corner, next = corner, at = r->starts[*fans];
    do {
        now = next;
        r->seen[now] = 1;
        r->edges[at++] = m->sides[now];
        next = turn(m, now);
    } while (next >= 0 && next != corner);
    r->closed[*fans] = next >= 0;
    if (next < 0) r->edges[at++] = m->sides[sap_loop_before(now)];
    r->starts[++*fans] = at;
}

// Finds the fans of a vertex: first those that begin at a border. Returns how many there are.
static int64_t find_fans(sap_loop_rings* r, int64_t vertex) {
    const sap_loop_mesh* m = r->mesh;
    int64_t fans = 0;
    r->starts[0] = 0;
    for (int32_t i = r->first[vertex]; i < r->first[vertex + 1]; i++) r->seen[r->around[i]] = 0;
    for (int border = 1; border >= 0; border--)
        for (int32_t i = r->first[vertex]; i < r->first[vertex + 1]; i++) {
            const int32_t corner = r->around[i];
            if (!r->seen[corner] && (!border || m->edge[m->sides[corner]].right < 0)) add_fan(r, corner, &fans);
        }
    return fans;
}

// ---- Programs

typedef struct writer {
    const sap_loop_mesh* mesh;
    int32_t vertex;
    int32_t *edges, *neighbours; // NULL: it only counts
    int64_t at;
} writer;

static void put(writer* w, int32_t edge, int32_t neighbour) {
    if (w->edges) {
        w->edges[w->at] = edge;
        w->neighbours[w->at] = neighbour;
    }
    w->at++;
}

static void put_edge(writer* w, int32_t edge) { put(w, edge, sap_loop_across(w->mesh->edge[edge], w->vertex)); }

// A fan as a sequence of edges that begins at a sharp one, if there is any, and comes back to it if it goes all round.
typedef struct sequence {
    const int32_t* edges;
    int64_t count, start, length;
} sequence;

static sequence sequence_of(const sap_loop_rings* r, int64_t fan) {
    sequence s = {r->edges + r->starts[fan], r->starts[fan + 1] - r->starts[fan], 0, 0};
    s.length = s.count + r->closed[fan];
    while (s.start < s.count && !r->mesh->sharp[s.edges[s.start]]) s.start++;
    if (s.start == s.count) s.start = 0;
    return s;
}

static int32_t edge_of(const sequence* s, int64_t i) { return s->edges[(s->start + i) % s->count]; }

// Writes the sectors of a fan, or counts them where w is NULL; those beside creases have weights.
static int32_t put_sectors(const sap_loop_rings* r, int64_t fan, bool crease, const sap_loop_weights* weights,
                           writer* w) {
    const sequence s = sequence_of(r, fan);
    int32_t sectors = 0;
    int64_t from = 0;
    for (int64_t i = 1; i < s.length; i++) {
        if (i + 1 < s.length && !r->mesh->sharp[edge_of(&s, i)]) continue;
        const int64_t count = i + 1 - from;
        if (w) {
            const int32_t mask = crease ? (int32_t)weights->of_fan[count] : 0;
            put(w, (int32_t)count, (int32_t)count);
            put(w, mask, mask);
            for (int64_t j = from; j <= i; j++) put_edge(w, edge_of(&s, j));
        }
        if (crease && !weights->of_fan[count]) weights->of_fan[count] = 1; // for now: it is wanted
        sectors++;
        from = i;
    }
    return sectors;
}

// Writes the program of a vertex, or counts its entries and marks the weights that it needs. Returns its mask.
static uint32_t put_program(sap_loop_rings* r, const sap_loop_weights* weights, writer* w) {
    const int64_t v = w->vertex, fans = find_fans(r, v);
    const uint8_t sharp = r->sharp[v];
    const bool counts = !w->edges, at_tip = r->options->border == SAP_BORDER_CORNERS && fans == 1 && !r->closed[0] &&
                                            r->first[v + 1] - r->first[v] == 1;
    const bool corner = r->is_corner[v] || fans != 1 || sharp > 2 || at_tip, crease = !corner && sharp == 2;
    if (!corner && !crease) {
        for (int32_t i = 0; i < r->starts[1]; i++) put_edge(w, r->edges[i]);
        if (counts) weights->of_ring[r->starts[1]] = 1;
        return weights->of_ring[r->starts[1]];
    }
    int32_t sectors = 0;
    if (crease)
        for (int32_t i = 0; i < r->starts[1]; i++)
            if (r->mesh->sharp[r->edges[i]]) put_edge(w, r->edges[i]);
    for (int64_t f = 0; f < fans; f++) sectors += put_sectors(r, f, crease, weights, NULL);
    put(w, sectors, sectors);
    for (int64_t f = 0; f < fans; f++) put_sectors(r, f, crease, weights, w);
    return crease ? SAP_LOOP_CREASE : SAP_LOOP_CORNER;
}

// ---- All vertices

static void sort_corners(sap_loop_rings* r) {
    const sap_loop_mesh* m = r->mesh;
    const int64_t corners = 3 * m->counts.triangles, vertices = m->counts.vertices;
    for (int64_t v = 0; v <= vertices; v++) r->first[v] = 0;
    for (int64_t c = 0; c < corners; c++) r->first[m->corners[c]]++;
    int32_t sum = 0;
    for (int64_t v = 0; v <= vertices; v++) {
        sum += r->first[v];
        r->first[v] = sum;
    }
    for (int64_t c = corners - 1; c >= 0; c--) r->around[--r->first[m->corners[c]]] = (int32_t)c;
}

static sap_status mark(const sap_device* device, sap_loop_rings* r) {
    const sap_loop_mesh* m = r->mesh;
    const sap_subdivision_options* o = r->options;
    const int64_t vertices = m->counts.vertices;
    for (int64_t v = 0; v < vertices; v++) r->is_corner[v] = r->sharp[v] = 0;
    for (int64_t i = 0; i < o->corner_count; i++) {
        if (o->corners[i] < 0 || o->corners[i] >= vertices)
            return sap_fail(device, SAP_ERROR_RANGE, "options.corners: %lld is vertex %d, not one of 0 to %lld",
                            (long long)i, (int)o->corners[i], (long long)vertices - 1);
        r->is_corner[o->corners[i]] = 1;
    }
    for (int64_t e = 0; e < m->counts.edges; e++)
        for (int end = 0; end < 2 && m->sharp[e]; end++) {
            uint8_t* count = r->sharp + (end ? m->edge[e].to : m->edge[e].from);
            *count = (uint8_t)(*count < 3 ? *count + 1 : 3);
        }
    return SAP_OK;
}

static bool reserve(const sap_device* device, sap_loop_rings* r) {
    const size_t vertices = (size_t)r->mesh->counts.vertices, corners = 3 * (size_t)r->mesh->counts.triangles,
                 first = sap_align((vertices + 1) * sizeof(int32_t)), around = sap_align(corners * sizeof(int32_t));
    r->bytes = first + around + 2 * vertices + corners;
    r->memory = sap_memory_allocate(device, r->bytes);
    if (!r->memory) return false;
    r->first = (int32_t*)(void*)r->memory;
    r->around = (int32_t*)(void*)(r->memory + first);
    r->is_corner = r->memory + first + around;
    r->sharp = r->is_corner + vertices;
    r->seen = r->sharp + vertices;
    return true;
}

// Room for the fans of one vertex, and for the places of weights.
static bool reserve_fans(const sap_device* device, const sap_loop_rings* r, sap_loop_weights* weights) {
    weights->most = 6; // vertices on edges have four or six
    for (int64_t v = 0; v < r->mesh->counts.vertices; v++)
        if (r->first[v + 1] - r->first[v] >= weights->most) weights->most = r->first[v + 1] - r->first[v] + 1;
    const size_t each = (size_t)weights->most + 1;
    weights->bytes = 5 * each * sizeof(int32_t) + each;
    weights->memory = sap_memory_allocate_zero(device, weights->bytes);
    if (!weights->memory) return false;
    weights->of_ring = (uint32_t*)(void*)weights->memory;
    weights->of_fan = weights->of_ring + each;
    return true;
}

sap_status sap_loop_rings_open(const sap_device* device, sap_loop_mesh* mesh, const sap_subdivision_options* options,
                               sap_loop_rings* r, sap_loop_weights* weights) {
    r->mesh = mesh;
    r->options = options;
    if (!reserve(device, r))
        return sap_fail(device, SAP_ERROR_MEMORY, "no memory for what is about %lld vertices",
                        (long long)mesh->counts.vertices);
    const sap_status status = mark(device, r);
    if (status != SAP_OK) return status;
    sort_corners(r);
    if (!reserve_fans(device, r, weights))
        return sap_fail(device, SAP_ERROR_MEMORY, "no memory for the weights of %lld neighbours",
                        (long long)weights->most);
    const size_t each = (size_t)weights->most + 1;
    r->edges = (int32_t*)(void*)(weights->of_fan + each);
    r->starts = r->edges + 2 * each;
    r->closed = (uint8_t*)(r->starts + each);
    weights->of_ring[6] = weights->of_fan[4] = 1;
    writer w = {.mesh = mesh};
    for (int64_t v = 0; v < mesh->counts.vertices; v++) {
        w.vertex = (int32_t)v;
        put_program(r, weights, &w);
    }
    mesh->counts.entries = w.at;
    weights->floats = SAP_LOOP_TABLE;
    for (int64_t n = 0; n <= weights->most; n++) {
        const int64_t ring = weights->of_ring[n] ? 3 + 2 * n : 0, fan = weights->of_fan[n] ? n : 0;
        if (ring) weights->of_ring[n] = (uint32_t)weights->floats;
        if (fan) weights->of_fan[n] = (uint32_t)(weights->floats + ring);
        weights->floats += ring + fan;
    }
    return weights->floats > INT32_MAX
               ? sap_fail(device, SAP_ERROR_RANGE, "triangles: vertices have too many neighbours")
               : SAP_OK;
}

void sap_loop_rings_fill(sap_loop_rings* r, const sap_loop_weights* weights, uint32_t* records, int32_t* list) {
    writer w = {.mesh = r->mesh, .edges = r->mesh->list, .neighbours = list};
    for (int64_t v = 0; v < r->mesh->counts.vertices; v++) {
        w.vertex = (int32_t)v;
        records[2 * v] = (uint32_t)w.at;
        records[2 * v + 1] = put_program(r, weights, &w);
    }
    SAP_ASSERT(w.at == r->mesh->counts.entries);
}

void sap_loop_rings_close(const sap_device* device, sap_loop_rings* r) {
    sap_memory_release(device, r->memory, r->bytes);
}
