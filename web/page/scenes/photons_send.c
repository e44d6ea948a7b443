// Photons of the scene Photons, sent a part at a time.
#include "photons.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { FLIGHTS = 160 }; // of a part and a map that are shown

photons_pass photons_kept, photons_renewed;

void photons_forget(photons_pass* pass) {
    for (int i = 0; i < 3; i++) {
        sap_photons_free(pass->swarms[i].map);
        free(pass->swarms[i].photons);
    }
    memset(pass, 0, sizeof *pass);
}

// The photons of the global map that did not come straight from the lamp, in their order.
static sap_status keep_indirect(photons_pass* pass) {
    const photons_swarm* from = &pass->swarms[PHOTONS_GLOBAL];
    photons_swarm* s = &pass->swarms[PHOTONS_INDIRECT];
    sap_photon* more = realloc(s->photons, (size_t)from->count * sizeof *more + sizeof *more);
    if (!more) return photons_no_memory();
    s->photons = more;
    s->count = 0;
    for (int64_t i = 0; i < from->count; i++)
        if (from->photons[i].kind != SAP_PHOTON_LAMP) s->photons[s->count++] = from->photons[i];
    return SAP_OK;
}

sap_status photons_plant(const double* asked, photons_pass* pass) {
    sap_status status = SAP_OK;
    for (int i = 0; i < 3 && status == SAP_OK; i++) {
        photons_swarm* s = &pass->swarms[i];
        if (!photons_asks(asked, i) || (s->map && !s->changed)) continue;
        if (i == PHOTONS_INDIRECT) status = keep_indirect(pass);
        if (status != SAP_OK) break;
        sap_photons* map = NULL;
        status = sap_photons_make(page_cpu(), s->photons, s->count, &map);
        if (status != SAP_OK) break;
        sap_photons_free(s->map);
        s->map = map;
        s->changed = false;
    }
    return status;
}

static sap_status keep(photons_swarm* s, const sap_photon* photons, int64_t count) {
    if (s->count + count > s->room) {
        const int64_t room = s->count + count + s->room / 2;
        sap_photon* more = realloc(s->photons, (size_t)room * sizeof *more);
        if (!more) return photons_no_memory();
        s->photons = more;
        s->room = room;
    }
    if (count) memcpy(s->photons + s->count, photons, (size_t)count * sizeof *photons);
    s->count += count;
    s->changed = true;
    return SAP_OK;
}

// The photons `from` to `to` of one map of a pass of `all`.
static sap_status send(photons_swarm* s, int32_t swarm, int32_t pass, int64_t from, int64_t to, int64_t all,
                       int32_t bounces) {
    const photons_room* r = &photons_here;
    const sap_mesh_file file = {.mesh = {r->vertices, r->vertex_count, r->triangles, r->triangle_count},
                                .material_ids = r->material_ids,
                                .materials = r->materials,
                                .material_count = PHOTONS_MATERIALS};
    const sap_scene scene = {.tree = r->tree, .file = &file, .lights = &r->lamp, .light_count = 1};
    const uint32_t dull = SAP_PHOTON_LAMP | SAP_PHOTON_INDIRECT;
    const sap_photon_options options = {.first = pass * all + from,
                                        .count = to - from,
                                        .total = all,
                                        .kinds = swarm == PHOTONS_CAUSTICS ? SAP_PHOTON_CAUSTIC : dull,
                                        .bounces = bounces > 0 ? bounces : -1,
                                        .ambient = -1};
    sap_photons* found = NULL;
    sap_photons_info info;
    sap_status status = sap_photons_trace(&scene, &options, &found);
    if (status == SAP_OK) status = sap_photons_describe(found, &info);
    if (status == SAP_OK) status = keep(s, info.photons, info.count);
    if (status == SAP_OK) s->rays += info.rays;
    sap_photons_free(found);
    return status;
}

// ---- Dots

static uint8_t byte_of(double part) { return (uint8_t)(255 * fmax(0, fmin(1, part)) + 0.5); }

// A colour as bright as colours get: powers differ by colour alone, but for what surfaces take.
static void put_dot(const sap_photon* p, const double at[3], bool end, uint32_t* to) {
    const float largest = fmaxf(p->power[0], fmaxf(p->power[1], p->power[2]));
    const enum photons_way way = p->kind == SAP_PHOTON_LAMP      ? PHOTONS_WAY_LAMP
                                 : p->kind == SAP_PHOTON_CAUSTIC ? PHOTONS_WAY_CAUSTIC
                                                                 : PHOTONS_WAY_INDIRECT;
    int8_t normal[4] = {0, 0, 0, end ? 127 : 0};
    uint8_t color[4] = {0, 0, 0, (uint8_t)way};
    float place[3];
    for (int a = 0; a < 3; a++) {
        place[a] = (float)at[a];
        normal[a] = (int8_t)lrintf(127 * p->normal[a]);
        color[a] = byte_of(largest > 0 ? sqrt((double)(p->power[a] / largest)) : 0);
    }
    memcpy(to + PHOTONS_DOT_X, place, sizeof place);
    memcpy(to + PHOTONS_DOT_NORMAL, normal, sizeof normal);
    memcpy(to + PHOTONS_DOT_COLOR, color, sizeof color);
}

static uint32_t* put_dots(const photons_swarm* s, int64_t from, uint32_t* to) {
    for (int64_t i = from; i < s->count; i++, to += PHOTONS_DOT_FIELDS) {
        const float* p = s->photons[i].position;
        put_dot(&s->photons[i], (double[3]){(double)p[0], (double)p[1], (double)p[2]}, true, to);
    }
    return to;
}

// Where photons came from: a ray back finds it, or they left the lamp.
static sap_status put_flights(const photons_swarm* s, int64_t from, uint32_t** to) {
    const photons_room* r = &photons_here;
    const int64_t all = s->count - from, count = all < FLIGHTS ? all : FLIGHTS;
    sap_ray rays[FLIGHTS];
    sap_hit hits[FLIGHTS];
    if (count == 0) return SAP_OK;
    for (int64_t i = 0; i < count; i++) {
        const sap_photon* p = &s->photons[from + i * all / count];
        rays[i] = (sap_ray){.t_min = 1e-3f, .t_max = INFINITY};
        memcpy(rays[i].origin, p->position, 12);
        for (int a = 0; a < 3; a++) rays[i].direction[a] = -p->direction[a];
    }
    const sap_status status = sap_trace(r->tree, rays, count, hits);
    for (int64_t i = 0; i < count && status == SAP_OK; i++) {
        const sap_photon* p = &s->photons[from + i * all / count];
        double lamp2 = 0, at[3];
        for (int a = 0; a < 3; a++) {
            const double off = (double)r->lamp.position[a] - (double)p->position[a];
            lamp2 += off * off;
        }
        const double far = p->kind == SAP_PHOTON_LAMP ? sqrt(lamp2) : hits[i].triangle < 0 ? 0 : (double)hits[i].t;
        for (int a = 0; a < 3; a++) at[a] = (double)p->position[a] + far * (double)rays[i].direction[a];
        put_dot(p, at, false, *to);
        for (int a = 0; a < 3; a++) at[a] = (double)p->position[a];
        put_dot(p, at, true, *to + PHOTONS_DOT_FIELDS);
        *to += 2 * PHOTONS_DOT_FIELDS;
    }
    return status;
}

// The photons from numbers `from` on as dots.
static sap_status answer(page_job* job, const int64_t from[2]) {
    const photons_pass* p = &photons_kept;
    const photons_swarm *global = &p->swarms[PHOTONS_GLOBAL], *caustics = &p->swarms[PHOTONS_CAUSTICS];
    const int64_t more = global->count - from[0] + caustics->count - from[1];
    uint32_t* to = page_answer(job, (size_t)more * PHOTONS_DOT_FIELDS * 4);
    if (!to) return SAP_ERROR_MEMORY;
    put_dots(caustics, from[1], put_dots(global, from[0], to));
    uint32_t* const first = page_answer(job, (size_t)4 * FLIGHTS * PHOTONS_DOT_FIELDS * 4);
    if (!first) return SAP_ERROR_MEMORY;
    to = first;
    sap_status status = put_flights(global, from[0], &to);
    if (status == SAP_OK) status = put_flights(caustics, from[1], &to);
    job->out_bytes[PHOTONS_BUFFER_FLIGHTS] = (uint32_t)((to - first) * 4);
    job->number[PHOTONS_SENT_GLOBAL] = (double)global->count;
    job->number[PHOTONS_SENT_CAUSTICS] = (double)caustics->count;
    job->number[PHOTONS_SENT_MORE] = (double)(global->count - from[0]);
    job->number[PHOTONS_SENT_RAYS] = (double)(global->rays + caustics->rays);
    job->number[PHOTONS_SENT_SHARE] = p->share;
    return status;
}

// Sends a part of the photons of a pass (photons_send; photons_sent).
PAGE_EXPORT sap_status job_photons_send(page_job* job) {
    const double* n = job->number;
    const int32_t number = (int32_t)n[PHOTONS_SEND_PASS], bounces = (int32_t)n[PHOTONS_SEND_BOUNCES];
    const int64_t part = (int64_t)n[PHOTONS_SEND_PART], parts = (int64_t)n[PHOTONS_SEND_PARTS];
    const int64_t all[2] = {(int64_t)n[PHOTONS_SEND_GLOBAL], (int64_t)n[PHOTONS_SEND_CAUSTICS]};
    photons_pass* pass = number ? &photons_renewed : &photons_kept;
    if (!photons_here.tree) return photons_there_is_none();
    if (part == 0) photons_forget(pass);
    if (part == 0 && number == 0) photons_begin_mean();
    pass->number = number;
    pass->swarms[PHOTONS_INDIRECT].changed = true;
    const int64_t before[2] = {pass->swarms[0].count, pass->swarms[1].count};
    sap_status status = SAP_OK;
    for (int i = 0; i < 2 && status == SAP_OK; i++)
        status = send(&pass->swarms[i], i, number, all[i] * part / parts, all[i] * (part + 1) / parts, all[i], bounces);
    if (status != SAP_OK) return status;
    pass->share = (double)(part + 1) / (double)parts;
    return number ? SAP_OK : answer(job, before);
}

// All photons once more (photons_sent).
PAGE_EXPORT sap_status job_photons_again(page_job* job) {
    if (!photons_here.tree) return photons_there_is_none();
    return answer(job, (int64_t[2]){0, 0});
}
