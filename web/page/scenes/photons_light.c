// What is seen in the room of the scene Photons, through mirrors and glass too, and the light there: photons are looked
// up at each place.
#include "photons.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    DEEPEST = 10,   // surfaces on the way to a place
    TOGETHER = 2048 // cells whose light is found by one call at least
};
static const float off_surface = 2e-4f;

typedef struct vector {
    float x, y, z;
} vector;

static vector vector_of(const float* v) { return (vector){v[0], v[1], v[2]}; }
static vector plus(vector a, vector b, float s) { return (vector){a.x + s * b.x, a.y + s * b.y, a.z + s * b.z}; }
static float dot(vector a, vector b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
static vector cross(vector a, vector b) {
    return (vector){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}
static vector unit(vector a) {
    const float length = sqrtf(dot(a, a));
    return length > 0 ? (vector){a.x / length, a.y / length, a.z / length} : a;
}

// ---- Paths from the eye

typedef struct path {
    float weight[3];
    int32_t cell;
    bool is_split; // it was one of glass's two ways
} path;

typedef struct walk {
    sap_ray* rays[2]; // of this step and of the next
    path* paths[2];
    sap_hit* hits;
    int32_t live, next;
    int now; // which of both is this step's
} walk;

static void go_on(walk* w, const path* p, const float weight[3], vector from, vector way, float t_min) {
    const int32_t at = w->next++;
    path* to = &w->paths[1 - w->now][at];
    sap_ray* ray = &w->rays[1 - w->now][at];
    *to = *p;
    for (int a = 0; a < 3; a++) to->weight[a] = p->weight[a] * weight[a];
    *ray = (sap_ray){{from.x, from.y, from.z}, t_min, {way.x, way.y, way.z}, INFINITY};
}

typedef struct meeting {
    vector in, at, face, normal; // both normals unit, turned to where the ray came from
    bool inside;                 // it came from behind
} meeting;

static meeting meet(const sap_ray* ray, const sap_hit* hit) {
    const photons_room* r = &photons_here;
    const int32_t* t = r->triangles + 3 * (int64_t)hit->triangle;
    const vector a = vector_of(r->vertices + 3 * (int64_t)t[0]), b = vector_of(r->vertices + 3 * (int64_t)t[1]),
                 c = vector_of(r->vertices + 3 * (int64_t)t[2]);
    meeting m = {.in = vector_of(ray->direction)};
    m.face = unit(cross(plus(b, a, -1), plus(c, a, -1)));
    m.at = plus(plus(plus((vector){0, 0, 0}, a, 1 - hit->u - hit->v), b, hit->u), c, hit->v);
    m.normal = m.face;
    if (hit->triangle >= PHOTONS_ROOM) {
        const vector smooth = unit(
            plus(plus(plus((vector){0, 0, 0}, unit(vector_of(r->normals + 3 * (int64_t)t[0])), 1 - hit->u - hit->v),
                      unit(vector_of(r->normals + 3 * (int64_t)t[1])), hit->u),
                 unit(vector_of(r->normals + 3 * (int64_t)t[2])), hit->v));
        if (dot(smooth, m.face) > 0.8f) m.normal = smooth; // else over a sharp edge
    }
    m.inside = dot(m.in, m.face) > 0;
    if (m.inside) {
        m.face = plus((vector){0, 0, 0}, m.face, -1);
        m.normal = plus((vector){0, 0, 0}, m.normal, -1);
    }
    if (dot(m.in, m.normal) >= 0) m.normal = m.face;
    return m;
}

static vector mirrored(const meeting* m) {
    const vector way = plus(m->in, m->normal, -2 * dot(m->in, m->normal));
    return dot(way, m->face) > 0 ? way : plus(m->in, m->face, -2 * dot(m->in, m->face));
}

// The part of the light that glass mirrors, 1 if all of it, and else the way of the rest.
static float refract(const meeting* m, float refraction, vector* through) {
    const float ratio = m->inside ? refraction : 1 / refraction, cosine = -dot(m->in, m->normal);
    const float rest2 = 1 - ratio * ratio * (1 - cosine * cosine);
    if (!(rest2 > 0)) return 1;
    const float rest = sqrtf(rest2);
    const float across = (ratio * cosine - rest) / (ratio * cosine + rest),
                along = (cosine - ratio * rest) / (cosine + ratio * rest);
    *through = unit(plus(plus((vector){0, 0, 0}, m->in, ratio), m->normal, ratio * cosine - rest));
    return 0.5f * (across * across + along * along);
}

static void put_place(photons_places* to, const path* p, const meeting* m, const float diffuse[3]) {
    const int64_t i = to->count++;
    memcpy(to->points + 3 * i, &m->at, 12);
    memcpy(to->normals + 3 * i, &m->normal, 12);
    to->seen[i].cell = p->cell;
    for (int a = 0; a < 3; a++) to->seen[i].weight[a] = p->weight[a] * diffuse[a] * 0.31830989f;
}

static void follow(walk* w, int32_t i, photons_places* places) {
    const sap_ray* ray = &w->rays[w->now][i];
    const sap_hit* hit = &w->hits[i];
    const path* p = &w->paths[w->now][i];
    const float all[3] = {1, 1, 1};
    if (hit->triangle < 0) return;
    const meeting m = meet(ray, hit);
    const sap_material* material = &photons_here.materials[photons_here.material_ids[hit->triangle]];
    if (hit->triangle < PHOTONS_ROOM && m.inside) { // a wall seen from without
        go_on(w, p, all, vector_of(ray->origin), m.in, hit->t * (1 + 1e-5f) + off_surface);
        return;
    }
    if (material->opacity > 0) {
        if (material->illum == 3)
            go_on(w, p, material->specular, m.at, mirrored(&m), off_surface);
        else
            put_place(places, p, &m, material->diffuse);
        return;
    }
    float left[3], part[3];
    vector through = m.in;
    const float back = refract(&m, material->refraction, &through);
    for (int a = 0; a < 3; a++) left[a] = m.inside ? expf(-material->absorption[a] * hit->t) : 1;
    path split = *p;
    split.is_split = true;
    const bool both = !p->is_split && back < 1;
    for (int a = 0; a < 3; a++) part[a] = left[a] * (both ? 1 - back : 1);
    if (both || back < 0.5f) go_on(w, &split, part, m.at, through, off_surface);
    for (int a = 0; a < 3; a++) part[a] = left[a] * (both ? back : 1);
    if (both || back >= 0.5f) go_on(w, back < 1 ? &split : p, part, m.at, mirrored(&m), off_surface);
}

static void begin(const double* asked, const float* at, int32_t count, walk* w) {
    page_space space = {0};
    photons_frame_room(&space);
    const page_view view = {asked[PHOTONS_LIGHT_YAW], asked[PHOTONS_LIGHT_PITCH], asked[PHOTONS_LIGHT_ZOOM],
                            asked[PHOTONS_LIGHT_SHIFT_X], asked[PHOTONS_LIGHT_SHIFT_Y]};
    const float wide = (float)asked[PHOTONS_LIGHT_WIDTH], high = (float)asked[PHOTONS_LIGHT_HEIGHT];
    page_space_look(&space, (int32_t)wide, (int32_t)high, &view);
    const vector right = vector_of(space.turn), up = vector_of(space.turn + 3), back = vector_of(space.turn + 6);
    for (int32_t i = 0; i < count; i++) {
        const float x = (2 * at[2 * i] / wide - 1) * space.tangent * wide / high,
                    y = (1 - 2 * at[2 * i + 1] / high) * space.tangent;
        const vector way = unit(plus(plus(plus((vector){0, 0, 0}, back, -1), right, x), up, y));
        w->paths[0][i] = (path){{1, 1, 1}, i, false};
        w->rays[0][i] = (sap_ray){{space.eye[0], space.eye[1], space.eye[2]}, 0, {way.x, way.y, way.z}, INFINITY};
    }
    w->live = count;
}

static bool make_places(photons_places* places, int64_t room) {
    *places = (photons_places){.points = malloc((size_t)room * 12),
                               .normals = malloc((size_t)room * 12),
                               .seen = malloc((size_t)room * sizeof *places->seen),
                               .room = room};
    return places->points && places->normals && places->seen;
}

void photons_places_free(photons_places* places) {
    free(places->points);
    free(places->normals);
    free(places->seen);
    memset(places, 0, sizeof *places);
}

sap_status photons_look(const double* asked, const float* at, int32_t count, photons_places* places) {
    const size_t most = 2 * (size_t)count + 1; // a path becomes two at most
    walk w = {.hits = malloc(most * sizeof(sap_hit))};
    const bool is_made = make_places(places, (int64_t)most);
    sap_status status = w.hits && is_made ? SAP_OK : photons_no_memory();
    for (int i = 0; i < 2; i++) {
        w.rays[i] = malloc(most * sizeof(sap_ray));
        w.paths[i] = malloc(most * sizeof(path));
        if (!w.rays[i] || !w.paths[i]) status = photons_no_memory();
    }
    if (status == SAP_OK) begin(asked, at, count, &w);
    for (int step = 0; step < DEEPEST && w.live && status == SAP_OK; step++) {
        w.next = 0;
        status = sap_trace(photons_here.tree, w.rays[w.now], w.live, w.hits);
        for (int32_t i = 0; i < w.live && status == SAP_OK; i++) follow(&w, i, places);
        w.live = w.next;
        w.now = 1 - w.now;
    }
    free(w.hits);
    for (int i = 0; i < 2; i++) {
        free(w.rays[i]);
        free(w.paths[i]);
    }
    if (status != SAP_OK) photons_places_free(places);
    return status;
}

// ---- The light of cells

sap_photon_search photons_search(const double* asked) {
    sap_photon_search search = {.k = (int32_t)asked[PHOTONS_LIGHT_K],
                                .radius = (float)asked[PHOTONS_LIGHT_RADIUS],
                                .filter = (sap_photon_filter)asked[PHOTONS_LIGHT_FILTER]};
    if (asked[PHOTONS_LIGHT_RENEWED] != 0) {
        const double part = sap_photon_radius(1, (int32_t)asked[PHOTONS_LIGHT_PASS]);
        search.shrink = (float)(part * part);
    }
    return search;
}

bool photons_asks(const double* asked, int swarm) {
    const int maps = (int)asked[PHOTONS_LIGHT_MAPS];
    if (swarm == PHOTONS_CAUSTICS) return (maps & PHOTONS_MAP_CAUSTICS) != 0;
    return (maps & PHOTONS_MAP_GLOBAL) != 0 && (swarm == PHOTONS_INDIRECT) == (asked[PHOTONS_LIGHT_RAYS] != 0);
}

static float part_of(double x) { return (float)(x - floor(x)); }

// Adds what comes to places straight from the lamp, a ray from each to a point of it: lamps are as bright as
// sap_light says.
static sap_status add_straight(const double* asked, const photons_places* places, float* cells) {
    const sap_light* lamp = &photons_here.lamp;
    const double pass = asked[PHOTONS_LIGHT_PASS], first = asked[PHOTONS_LIGHT_ROW];
    const size_t room = (size_t)places->count + 1;
    sap_ray* rays = malloc(room * sizeof *rays);
    sap_hit* hits = malloc(room * sizeof *hits);
    sap_status status = rays && hits ? SAP_OK : photons_no_memory();
    const vector middle = {0, 0, 0.5f * photons_room_upper[2]}, from = vector_of(lamp->position);
    const vector away = plus(from, middle, -1);
    for (int64_t p = 0; p < places->count && status == SAP_OK; p++) {
        const double seed = (double)places->seen[p].cell * 0.6180339887498949 + first * 0.4142135623730951;
        const vector side = plus(from, vector_of(lamp->side[0]), part_of(seed + pass * 0.7548776662466927) - 0.5f),
                     to = plus(side, vector_of(lamp->side[1]), part_of(7.3 * seed + pass * 0.5698402909980532) - 0.5f);
        const vector at = vector_of(places->points + 3 * p), way = plus(to, at, -1);
        rays[p] = (sap_ray){{at.x, at.y, at.z}, off_surface, {way.x, way.y, way.z}, 1};
    }
    if (status == SAP_OK) status = sap_trace(photons_here.tree, rays, places->count, hits);
    for (int64_t p = 0; p < places->count && status == SAP_OK; p++) {
        const vector way = vector_of(rays[p].direction);
        const float cosine = dot(way, vector_of(places->normals + 3 * p)), distance2 = dot(way, way);
        if (hits[p].triangle >= 0 || !(cosine > 0)) continue;
        const float light = 3.14159265f * cosine / sqrtf(distance2) * dot(away, away) / distance2;
        for (int a = 0; a < 3; a++)
            cells[4 * places->seen[p].cell + a] += places->seen[p].weight[a] * lamp->color[a] * light;
    }
    free(rays);
    free(hits);
    return status;
}

// Adds the light at some places to that of their cells, of four numbers each.
static sap_status add_light(const double* asked, photons_pass* pass, const photons_places* places, float* cells) {
    const sap_photon_search search = photons_search(asked);
    const sap_points points = {places->points, places->count, 3, 0};
    float* light = malloc((size_t)places->count * 12 + 12);
    sap_status status = light ? SAP_OK : photons_no_memory();
    if (status == SAP_OK && photons_asks(asked, PHOTONS_INDIRECT)) status = add_straight(asked, places, cells);
    for (int i = 0; i < 3 && status == SAP_OK; i++) {
        if (!photons_asks(asked, i) || !pass->swarms[i].count) continue;
        status = sap_photons_estimate(pass->swarms[i].map, points, places->normals, &search, light);
        // The power was divided among all photons, of which some may not have left yet.
        for (int64_t p = 0; p < places->count && status == SAP_OK; p++)
            for (int a = 0; a < 3; a++)
                cells[4 * places->seen[p].cell + a] +=
                    places->seen[p].weight[a] * light[3 * p + a] / (float)pass->share;
    }
    for (int64_t p = 0; p < places->count; p++) cells[4 * places->seen[p].cell + 3] = 1;
    free(light);
    return status;
}

// Of a picture whose cells are pixels.
photons_mean photons_sum;

void photons_begin_mean(void) {
    photons_sum.pass = 0;
    photons_sum.light = photons_sum.changed = 0;
}

static sap_status add_pass(float* cells, int64_t first, int64_t count, int64_t all, int32_t pass) {
    photons_mean* sum = &photons_sum;
    if (pass == 0 && sum->count != all) {
        float* more = realloc(sum->cells, (size_t)all * 16);
        if (!more) return photons_no_memory();
        sum->cells = more;
        sum->count = all;
    }
    if (sum->count != all) return page_fail(SAP_ERROR_ARGUMENT, "There is no first pass yet.");
    if (first == 0) sum->light = sum->changed = 0;
    sum->pass = pass;
    for (int64_t i = 0; i < 4 * count; i++) {
        float* to = &sum->cells[4 * first + i];
        const float before = pass ? *to / (float)pass : 0;
        *to = pass ? *to + cells[i] : cells[i];
        cells[i] = *to / (float)(pass + 1);
        if (i % 4 == 3) continue;
        sum->light += (double)cells[i];
        sum->changed += fabs((double)cells[i] - (double)before);
    }
    return SAP_OK;
}

// Places of pixels that spread evenly over all passes; the first is the middle.
static float offset(int32_t pass, double by) { return (float)(pass * by + 0.5 - floor(pass * by + 0.5)); }

// Rows of a picture (photons_light; photons_lit).
PAGE_EXPORT sap_status job_photons_light(page_job* job) {
    double asked[PAGE_MOST_NUMBERS];
    memcpy(asked, job->number, sizeof asked);
    const int32_t step = (int32_t)fmax(1, asked[PHOTONS_LIGHT_STEP]), pass = (int32_t)asked[PHOTONS_LIGHT_PASS];
    const int32_t wide = ((int32_t)asked[PHOTONS_LIGHT_WIDTH] + step - 1) / step,
                  high = ((int32_t)asked[PHOTONS_LIGHT_HEIGHT] + step - 1) / step;
    const int32_t first = (int32_t)asked[PHOTONS_LIGHT_ROW], rows = (TOGETHER + wide - 1) / wide;
    photons_pass* from = asked[PHOTONS_LIGHT_RENEWED] != 0 ? &photons_renewed : &photons_kept;
    const double begun = emscripten_get_now();
    if (!photons_here.tree || !(from->share > 0)) return photons_there_is_none();
    if (first < 0 || first >= high) return page_fail(SAP_ERROR_ARGUMENT, "The picture has no such row.");
    if (pass == 0 && first == 0) photons_begin_mean();
    sap_status status = photons_plant(asked, from);
    float* const cells = status == SAP_OK ? calloc((size_t)(high - first) * (size_t)wide, 16) : NULL;
    float* const at = malloc((size_t)rows * (size_t)wide * 8);
    if (status == SAP_OK && (!cells || !at)) status = photons_no_memory();
    int32_t row = first;
    double places_seen = 0;
    while (status == SAP_OK && row < high &&
           (row == first || emscripten_get_now() - begun < asked[PHOTONS_LIGHT_TIME])) {
        const int32_t end = row + rows < high ? row + rows : high, count = (end - row) * wide;
        for (int32_t i = 0; i < count; i++) {
            at[2 * i] = (float)step * ((float)(i % wide) + offset(pass, 0.7548776662466927));
            at[2 * i + 1] = (float)step * ((float)(row + i / wide) + offset(pass, 0.5698402909980532));
        }
        photons_places places;
        status = photons_look(asked, at, count, &places);
        if (status != SAP_OK) break;
        places_seen += (double)places.count;
        asked[PHOTONS_LIGHT_ROW] = row;
        status = add_light(asked, from, &places, cells + 4 * (int64_t)(row - first) * wide);
        photons_places_free(&places);
        row = end;
    }
    const int64_t done = (int64_t)(row - first) * wide;
    if (status == SAP_OK && step == 1)
        status = add_pass(cells, (int64_t)first * wide, done, (int64_t)high * wide, pass);
    void* to = status == SAP_OK ? page_answer(job, (size_t)done * 16) : NULL;
    if (status == SAP_OK && !to) status = SAP_ERROR_MEMORY;
    if (to) memcpy(to, cells, (size_t)done * 16);
    job->number[PHOTONS_LIT_ROWS] = row - first;
    job->number[PHOTONS_LIT_WIDE] = wide;
    job->number[PHOTONS_LIT_HIGH] = high;
    job->number[PHOTONS_LIT_PLACES] = places_seen;
    free(at);
    free(cells);
    return status;
}
