// Where paths meet the mesh: its materials, and where light goes on from there.
#include "render/picture.h"

#include <string.h>

// Normals over an edge are smoothed if each face stands less than about 37 degrees off them.
static const float blunt = 0.8f;
// Paths of less weight than this are of no account in 8 bits.
static const float too_little = 0x1p-11f;

typedef struct triangle {
    sap_vector corners[3];
    const int32_t* vertices;
} triangle;

static triangle triangle_of(const sap_mesh* mesh, int32_t number) {
    triangle t = {.vertices = mesh->triangles + 3 * (int64_t)number};
    for (int i = 0; i < 3; i++) t.corners[i] = sap_vector_of(mesh->vertices + 3 * (int64_t)t.vertices[i]);
    return t;
}

// Twice the area long. In doubles, which hold the products of any two floats.
static void area_normal(const triangle* t, double normal[3]) {
    const sap_vector *a = &t->corners[0], *b = &t->corners[1], *c = &t->corners[2];
    double u[3] = {(double)b->x - (double)a->x, (double)b->y - (double)a->y, (double)b->z - (double)a->z};
    double v[3] = {(double)c->x - (double)a->x, (double)c->y - (double)a->y, (double)c->z - (double)a->z};
    for (int i = 0; i < 3; i++) normal[i] = u[(i + 1) % 3] * v[(i + 2) % 3] - u[(i + 2) % 3] * v[(i + 1) % 3];
}

static sap_vector unit_of(const double v[3]) {
    double length = sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
    if (!(length > 0)) return (sap_vector){0, 0, 0};
    return (sap_vector){(float)(v[0] / length), (float)(v[1] / length), (float)(v[2] / length)};
}

// One after the other: sums of floats depend on their order.
void sap_normals_fill(const sap_mesh* mesh, float* normals) {
    memset(normals, 0, (size_t)mesh->vertex_count * 3 * sizeof *normals);
    double largest = 0;
    for (int64_t i = 0; i < mesh->vertex_count * 3; i++)
        if ((double)sap_magnitude(mesh->vertices[i]) > largest) largest = (double)sap_magnitude(mesh->vertices[i]);
    double scale = largest > 0 ? 1 / (largest * largest) : 1;
    for (int32_t i = 0; i < mesh->triangle_count; i++) {
        triangle t = triangle_of(mesh, i);
        double normal[3];
        area_normal(&t, normal);
        for (int corner = 0; corner < 3; corner++)
            for (int a = 0; a < 3; a++) normals[3 * (int64_t)t.vertices[corner] + a] += (float)(normal[a] * scale);
    }
    for (int64_t i = 0; i < mesh->vertex_count; i++) {
        sap_vector n = sap_unit(sap_vector_of(normals + 3 * i));
        memcpy(normals + 3 * i, &n, sizeof n);
    }
}

// A hit worked out.
typedef struct meeting {
    sap_vector in, face, normal; // unit; both normals are turned to where the ray came from
    sap_vector point;
    float reach; // how far rays begin off the surface
    bool inside; // the ray came from behind
    sap_material material;
} meeting;

static sap_vector blend(const sap_vector v[3], const sap_hit* hit) {
    return sap_plus(sap_times(v[0], 1 - hit->u - hit->v), sap_plus(sap_times(v[1], hit->u), sap_times(v[2], hit->v)));
}

static void find_material(const sap_picture* picture, const sap_hit* hit, const triangle* t, meeting* m) {
    static const sap_material plain = {
        .diffuse = {0.8f, 0.8f, 0.8f}, .shininess = 1, .opacity = 1, .refraction = 1, .illum = 2};
    const sap_mesh_file* file = picture->file;
    int32_t number = file->material_ids ? file->material_ids[hit->triangle] : -1;
    m->material = number >= 0 ? file->materials[number] : plain;
    if (number < 0 && file->colors) {
        sap_vector colors[3];
        for (int i = 0; i < 3; i++) colors[i] = sap_vector_of(file->colors + 3 * (int64_t)t->vertices[i]);
        sap_vector color = blend(colors, hit);
        memcpy(m->material.diffuse, &color, sizeof color);
    }
}

static meeting meet(const sap_picture* picture, const sap_ray* ray, const sap_hit* hit) {
    meeting m = {.in = sap_unit(sap_vector_of(ray->direction))};
    triangle t = triangle_of(&picture->file->mesh, hit->triangle);
    double normal[3];
    area_normal(&t, normal);
    m.face = unit_of(normal);
    m.normal = m.face;
    if (picture->normals) {
        sap_vector corners[3];
        for (int i = 0; i < 3; i++) {
            corners[i] = sap_vector_of(picture->normals + 3 * (int64_t)t.vertices[i]);
            if (!(sap_dot(corners[i], m.face) > blunt)) corners[i] = m.face;
        }
        m.normal = sap_unit(blend(corners, hit));
    }
    m.inside = sap_dot(m.face, m.in) > 0;
    if (m.inside) {
        m.face = sap_times(m.face, -1);
        m.normal = sap_times(m.normal, -1);
    }
    m.point = blend(t.corners, hit);
    // A few of the last bits of the largest number that goes into the point: that is how far off it may lie.
    for (int i = 0; i < 3; i++) {
        float size = sap_largest_magnitude(t.corners[i]);
        if (size > m.reach) m.reach = size;
    }
    m.reach *= 0x1p-19f;
    find_material(picture, hit, &t, &m);
    return m;
}

static void send(const meeting* m, sap_vector direction, bool through, sap_ray* ray) {
    sap_vector from = sap_plus(m->point, sap_times(m->face, through ? -m->reach : m->reach));
    *ray = (sap_ray){{from.x, from.y, from.z}, 0, {direction.x, direction.y, direction.z}, INFINITY};
}

static void send_mirrored(const meeting* m, sap_ray* ray) {
    sap_vector out = sap_minus(m->in, sap_times(m->normal, 2 * sap_dot(m->in, m->normal)));
    // A smoothed normal may point it into the surface.
    if (!(sap_dot(out, m->face) > 0)) out = sap_minus(m->in, sap_times(m->face, 2 * sap_dot(m->in, m->face)));
    send(m, out, false, ray);
}

static void send_scattered(const meeting* m, sap_pair at, sap_ray* ray) {
    sap_vector u, v;
    float cosine, sine, radius = sqrtf(at.x), height = sqrtf(1 - at.x);
    sap_circle((double)at.y, &cosine, &sine);
    sap_frame_of(m->normal, &u, &v);
    sap_vector out = sap_plus(sap_times(u, radius * cosine), sap_times(v, radius * sine));
    out = sap_plus(out, sap_times(m->normal, height));
    float depth = sap_dot(out, m->face);
    if (depth <= 0) out = sap_minus(out, sap_times(m->face, 2 * depth));
    send(m, out, false, ray);
}

// Glass: Snell's law, and Fresnel's equations for how much is mirrored.
static void send_through(const meeting* m, float choice, sap_ray* ray) {
    float index = m->material.refraction > 0 ? m->material.refraction : 1, ratio = m->inside ? index : 1 / index;
    float in = -sap_dot(m->in, m->normal);
    if (in < 0) in = 0;
    float sine2 = ratio * ratio * (1 - in * in);
    if (sine2 >= 1) {
        send_mirrored(m, ray);
        return;
    }
    float out = sqrtf(1 - sine2);
    float parallel = (in - ratio * out) / (in + ratio * out), upright = (ratio * in - out) / (ratio * in + out);
    if (choice < (parallel * parallel + upright * upright) / 2) {
        send_mirrored(m, ray);
        return;
    }
    sap_vector direction = sap_plus(sap_times(m->in, ratio), sap_times(m->normal, ratio * in - out));
    if (sap_dot(direction, m->face) >= 0) direction = m->in;
    send(m, direction, true, ray);
}

// What the material mirrors: nothing with illum below 3, more at grazing angles with 5.
static sap_vector mirrored_part(const meeting* m) {
    sap_vector part = sap_vector_of(m->material.specular);
    if (m->material.illum < 3) return (sap_vector){0, 0, 0};
    if (m->material.illum != 5) return part;
    float away = 1 + sap_dot(m->in, m->normal), power = away > 0 ? away * away * away * away * away : 0;
    return sap_plus(part, sap_times(sap_minus((sap_vector){1, 1, 1}, part), power < 1 ? power : 1));
}

// Chooses where the path goes on. False: nowhere.
static bool go_on(const meeting* m, sap_pair choice, sap_pair direction, sap_path* path, sap_ray* ray) {
    float clear = 1 - m->material.opacity;
    if (clear > 0 && choice.x < clear) {
        send_through(m, choice.y, ray);
        return true;
    }
    sap_vector diffuse = sap_vector_of(m->material.diffuse), mirrored = mirrored_part(m);
    float dull = sap_largest(diffuse), bright = sap_largest(mirrored), all = dull + bright;
    if (!(all > 0)) return false;
    if (choice.y * all < bright) {
        path->weight = sap_times(sap_filter(path->weight, mirrored), all / bright);
        send_mirrored(m, ray);
    } else {
        path->weight = sap_times(sap_filter(path->weight, diffuse), all / dull);
        path->scattered = true;
        send_scattered(m, direction, ray);
    }
    return sap_largest(path->weight) > too_little;
}

static sap_surface surface_of(const meeting* m, const sap_path* path) {
    float opaque = m->material.opacity, shininess = m->material.shininess;
    sap_vector point = sap_plus(m->point, sap_times(m->face, m->reach));
    sap_surface s = {.point = point, .normal = m->normal, .view = sap_times(m->in, -1)};
    s.diffuse = sap_times(sap_filter(path->weight, sap_vector_of(m->material.diffuse)), opaque);
    // After a dull surface the highlight of another is a rare bright dot: noise.
    if (!path->scattered) s.highlight = sap_filter(path->weight, sap_vector_of(m->material.specular));
    s.exponent = shininess > 1 ? (int32_t)(shininess < 10000 ? shininess : 10000) : 1;
    return s;
}

static sap_vector background(const sap_picture* picture, const sap_path* path, int32_t bounce, const sap_ray* ray) {
    if (bounce == 0 && picture->options.background) return sap_vector_of(picture->options.background);
    sap_vector sky = sap_sky(picture, sap_vector_of(ray->direction));
    return path->scattered ? sap_times(sky, picture->options.ambient) : sky;
}

void sap_shade(const sap_picture* picture, sap_batch* batch, int32_t bounce, bool last) {
    uint32_t purpose = 4 * (uint32_t)bounce; // 0 is the place in the pixel, 1 and 2 are for this
#pragma omp parallel for schedule(dynamic, 256) num_threads(picture->threads)
    for (int64_t i = 0; i < batch->live; i++) {
        sap_path* path = &batch->paths[i];
        sap_ray* ray = &batch->rays[i];
        sap_vector* found = &batch->found[path->slot];
        batch->surfaces[i] = (sap_surface){.exponent = 0};
        if (batch->hits[i].triangle < 0) {
            *found = sap_plus(*found, sap_filter(path->weight, background(picture, path, bounce, ray)));
            ray->t_max = -1;
            continue;
        }
        meeting m = meet(picture, ray, &batch->hits[i]);
        *found = sap_plus(*found, sap_filter(path->weight, sap_vector_of(m.material.emission)));
        batch->surfaces[i] = surface_of(&m, path);
        sap_pair choice = sap_sample(path->pixel, path->sample, purpose + 1);
        sap_pair direction = sap_sample(path->pixel, path->sample, purpose + 2);
        if (last || !go_on(&m, choice, direction, path, ray)) ray->t_max = -1;
    }
}
