// Where paths hit the mesh: its materials, and where a path continues.
#ifndef SAPWOOD_RENDER_SURFACE_H
#define SAPWOOD_RENDER_SURFACE_H

#include "render/lighting.h"

// A triangle of the mesh.
typedef struct sap_facet {
    sap_vector corners[3];
    const int32_t* vertices;
    int32_t number;               // in the file
    const sap_standing* standing; // NULL: it is where it is
    float far;                    // standing: the largest number that its corners are made of
} sap_facet;

SAP_FN sap_facet sap_facet_of(const float* vertices, const int32_t* triangles, int32_t number) {
    sap_facet facet;
    SAP_ASSERT(number >= 0);
    facet.number = number;
    facet.standing = NULL;
    facet.far = 0;
    facet.vertices = triangles + 3 * (int64_t)number;
    for (int i = 0; i < 3; i++) facet.corners[i] = sap_vector_of(vertices + 3 * (int64_t)facet.vertices[i]);
    return facet;
}

// The place of triangle `number` of all that rays may hit.
SAP_FN const sap_standing* sap_standing_find(const sap_scene_data* scene, int32_t number) {
    int64_t low = 0, high = scene->standing_count - 1;
    while (low < high) {
        const int64_t half = low + (high - low + 1) / 2;
        if (scene->standings[half].first <= number)
            low = half;
        else
            high = half - 1;
    }
    return &scene->standings[low];
}

// The number in the file of triangle `number` of all that rays may hit.
SAP_FN int32_t sap_number_in_file(const sap_scene_data* scene, int32_t number) {
    if (!scene->standings) return number;
    const sap_standing* standing = sap_standing_find(scene, number);
    return number - standing->first + standing->triangle;
}

// In doubles, as files of scenes are read.
SAP_FN sap_vector sap_stand(const sap_standing* standing, sap_vector v) {
    const float* m = standing->transform;
    const double x = (double)v.x, y = (double)v.y, z = (double)v.z;
    return sap_vector_make((float)((double)m[0] * x + (double)m[1] * y + (double)m[2] * z + (double)m[3]),
                           (float)((double)m[4] * x + (double)m[5] * y + (double)m[6] * z + (double)m[7]),
                           (float)((double)m[8] * x + (double)m[9] * y + (double)m[10] * z + (double)m[11]));
}

// A triangle that rays may hit.
SAP_FN sap_facet sap_scene_facet(const sap_scene_data* scene, int32_t number) {
    if (!scene->standings) return sap_facet_of(scene->vertices, scene->triangles, number);
    const sap_standing* standing = sap_standing_find(scene, number);
    sap_facet facet = sap_facet_of(scene->vertices, scene->triangles, number - standing->first + standing->triangle);
    facet.standing = standing;
    for (int i = 0; i < 3; i++) {
        const float far = standing->scale * sap_largest_magnitude(facet.corners[i]) + standing->shift;
        if (far > facet.far) facet.far = far;
        facet.corners[i] = sap_stand(standing, facet.corners[i]);
    }
    return facet;
}

// The normal of a vertex of a facet.
SAP_FN sap_vector sap_vertex_normal(const sap_scene_data* scene, const sap_facet* facet, int32_t vertex) {
    const sap_vector n = sap_vector_of(scene->normals + 3 * (int64_t)vertex);
    if (!facet->standing) return n;
    const float* t = facet->standing->turn;
    return sap_unit(sap_vector_make(t[0] * n.x + t[1] * n.y + t[2] * n.z, t[3] * n.x + t[4] * n.y + t[5] * n.z,
                                    t[6] * n.x + t[7] * n.y + t[8] * n.z));
}

// Twice the area long. In doubles, which hold the products of any two floats.
SAP_FN void sap_area_normal(const sap_facet* facet, double normal[3]) {
    const sap_vector a = facet->corners[0], b = facet->corners[1], c = facet->corners[2];
    double ux = (double)b.x - (double)a.x, uy = (double)b.y - (double)a.y, uz = (double)b.z - (double)a.z;
    double vx = (double)c.x - (double)a.x, vy = (double)c.y - (double)a.y, vz = (double)c.z - (double)a.z;
    normal[0] = uy * vz - uz * vy;
    normal[1] = uz * vx - ux * vz;
    normal[2] = ux * vy - uy * vx;
}

SAP_FN sap_vector sap_unit_of(const double v[3]) {
    double length = sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
    if (!(length > 0)) return sap_vector_make(0, 0, 0);
    return sap_vector_make((float)(v[0] / length), (float)(v[1] / length), (float)(v[2] / length));
}

// A hit worked out.
typedef struct sap_meeting {
    sap_vector in, face, normal; // unit; both normals are turned to where the ray came from
    sap_vector point;
    float reach; // how far rays begin off the surface
    bool inside; // the ray came from behind
    // The material, named as in sap_material.
    sap_vector diffuse, specular, emission, absorption;
    float shininess, opacity, refraction;
    int32_t illum;
} sap_meeting;

SAP_FN sap_vector sap_blend(const sap_vector v[3], const sap_hit* hit) {
    return sap_plus(sap_times(v[0], 1 - hit->u - hit->v), sap_plus(sap_times(v[1], hit->u), sap_times(v[2], hit->v)));
}

SAP_FN void sap_find_material(const sap_scene_data* scene, const sap_hit* hit, const sap_facet* facet, sap_meeting* m) {
    int32_t number = scene->material_ids ? scene->material_ids[facet->number] : -1;
    if (number >= 0) {
        const sap_material* material = &scene->materials[number];
        m->diffuse = sap_vector_of(material->diffuse);
        m->specular = sap_vector_of(material->specular);
        m->emission = sap_vector_of(material->emission);
        m->absorption = sap_vector_of(material->absorption);
        m->shininess = material->shininess;
        m->opacity = material->opacity;
        m->refraction = material->refraction;
        m->illum = material->illum;
        return;
    }
    m->diffuse = sap_vector_make(0.8f, 0.8f, 0.8f);
    m->specular = m->emission = m->absorption = sap_vector_make(0, 0, 0);
    m->shininess = m->opacity = m->refraction = 1;
    m->illum = 2;
    if (scene->colors) {
        sap_vector colors[3];
        for (int i = 0; i < 3; i++) colors[i] = sap_vector_of(scene->colors + 3 * (int64_t)facet->vertices[i]);
        m->diffuse = sap_blend(colors, hit);
    }
}

SAP_FN sap_meeting sap_meet(const sap_scene_data* scene, sap_vector direction, const sap_hit* hit) {
    const float blunt = 0.8f; // normals over an edge are smoothed if each face stands less than about 37 degrees off
    sap_meeting m;
    m.in = sap_unit(direction);
    sap_facet facet = sap_scene_facet(scene, hit->triangle);
    double normal[3];
    sap_area_normal(&facet, normal);
    m.face = sap_unit_of(normal);
    m.normal = m.face;
    if (scene->normals) {
        sap_vector corners[3];
        for (int i = 0; i < 3; i++) {
            corners[i] = sap_vertex_normal(scene, &facet, facet.vertices[i]);
            if (!(sap_dot(corners[i], m.face) > blunt)) corners[i] = m.face;
        }
        m.normal = sap_unit(sap_blend(corners, hit));
    }
    m.inside = sap_dot(m.face, m.in) > 0;
    if (m.inside) {
        m.face = sap_times(m.face, -1);
        m.normal = sap_times(m.normal, -1);
    }
    m.point = sap_blend(facet.corners, hit);
    // A few of the last bits of the largest number that goes into the point: that is how far off it may lie.
    m.reach = facet.far;
    for (int i = 0; i < 3; i++) {
        float size = sap_largest_magnitude(facet.corners[i]);
        if (size > m.reach) m.reach = size;
    }
    m.reach *= 0x1p-19f;
    sap_find_material(scene, hit, &facet, &m);
    return m;
}

// What is left of light that came by the ray: glass that it meets from behind has absorbed some (Beer and Lambert's law).
SAP_FN sap_vector sap_unabsorbed(const sap_meeting* m, const sap_ray* ray, const sap_hit* hit) {
    if (!m->inside || !(m->opacity < 1) || !(sap_largest(m->absorption) > 0)) return sap_vector_make(1, 1, 1);
    const double distance = sap_length(sap_vector_of(ray->direction)) * (double)hit->t;
    return sap_vector_make(sap_decay((double)m->absorption.x * distance), sap_decay((double)m->absorption.y * distance),
                           sap_decay((double)m->absorption.z * distance));
}

// ---- Where a path goes on.

SAP_FN sap_ray sap_send(const sap_meeting* m, sap_vector direction, bool through) {
    sap_vector from = sap_plus(m->point, sap_times(m->face, through ? -m->reach : m->reach));
    return sap_ray_make(from, direction, INFINITY);
}

SAP_FN sap_ray sap_send_mirrored(const sap_meeting* m) {
    sap_vector out = sap_minus(m->in, sap_times(m->normal, 2 * sap_dot(m->in, m->normal)));
    // A smoothed normal may point it into the surface.
    if (!(sap_dot(out, m->face) > 0)) out = sap_minus(m->in, sap_times(m->face, 2 * sap_dot(m->in, m->face)));
    return sap_send(m, out, false);
}

SAP_FN sap_ray sap_send_scattered(const sap_meeting* m, sap_pair at) {
    sap_vector u, v;
    float cosine, sine, radius = sqrtf(at.x), height = sqrtf(1 - at.x);
    sap_circle((double)at.y, &cosine, &sine);
    sap_frame_of(m->normal, &u, &v);
    sap_vector out = sap_plus(sap_times(u, radius * cosine), sap_times(v, radius * sine));
    out = sap_plus(out, sap_times(m->normal, height));
    float depth = sap_dot(out, m->face);
    if (depth <= 0) out = sap_minus(out, sap_times(m->face, 2 * depth));
    return sap_send(m, out, false);
}

// Glass: Snell's law, and Fresnel's equations for how much is mirrored.
SAP_FN sap_ray sap_send_through(const sap_meeting* m, float choice) {
    float index = m->refraction > 0 ? m->refraction : 1, ratio = m->inside ? index : 1 / index;
    float in = -sap_dot(m->in, m->normal);
    if (in < 0) in = 0;
    float sine2 = ratio * ratio * (1 - in * in);
    if (sine2 >= 1) return sap_send_mirrored(m);
    float out = sqrtf(1 - sine2);
    float parallel = (in - ratio * out) / (in + ratio * out), upright = (ratio * in - out) / (ratio * in + out);
    if (choice < (parallel * parallel + upright * upright) / 2) return sap_send_mirrored(m);
    sap_vector direction = sap_plus(sap_times(m->in, ratio), sap_times(m->normal, ratio * in - out));
    if (sap_dot(direction, m->face) >= 0) direction = m->in;
    return sap_send(m, direction, true);
}

// What the material mirrors: nothing with illum below 3, more at grazing angles with 5.
SAP_FN sap_vector sap_mirrored_part(const sap_meeting* m) {
    if (m->illum < 3) return sap_vector_make(0, 0, 0);
    if (m->illum != 5) return m->specular;
    float away = 1 + sap_dot(m->in, m->normal), power = away > 0 ? away * away * away * away * away : 0;
    sap_vector rest = sap_minus(sap_vector_make(1, 1, 1), m->specular);
    return sap_plus(m->specular, sap_times(rest, power < 1 ? power : 1));
}

// Whether light may leave the material by a mirror's or glass's way.
SAP_FN bool sap_begins_caustics(const sap_material* m) {
    return m->opacity < 1 || m->illum == 5 || (m->illum >= 3 && sap_largest(sap_vector_of(m->specular)) > 0);
}

// How often sap_go_on scatters a path.
SAP_FN float sap_scatter_part(const sap_meeting* m) {
    const float dull = sap_largest(m->diffuse), all = dull + sap_largest(sap_mirrored_part(m));
    return all > 0 ? m->opacity * dull / all : 0;
}

// Chooses where the path goes on. False: nowhere.
SAP_FN bool sap_go_on(const sap_meeting* m, sap_pair choice, sap_pair direction, sap_path* path, sap_ray* ray) {
    const float too_little = 0x1p-11f; // paths of less weight are of no account in 8 bits
    float clear = 1 - m->opacity;
    path->density = 0;
    if (clear > 0 && choice.x < clear) {
        *ray = sap_send_through(m, choice.y);
        if (path->scattered) path->scattered = SAP_SCATTERED_MIRRORED;
        return true;
    }
    sap_vector mirrored = sap_mirrored_part(m);
    float dull = sap_largest(m->diffuse), bright = sap_largest(mirrored), all = dull + bright;
    if (!(all > 0)) return false;
    if (choice.y * all < bright) {
        path->weight = sap_times(sap_filter(path->weight, mirrored), all / bright);
        *ray = sap_send_mirrored(m);
        if (path->scattered) path->scattered = SAP_SCATTERED_MIRRORED;
    } else {
        path->weight = sap_times(sap_filter(path->weight, m->diffuse), all / dull);
        path->scattered = SAP_SCATTERED;
        *ray = sap_send_scattered(m, direction);
        const float cosine = sap_dot(sap_vector_of(ray->direction), m->normal);
        if (cosine > 0) path->density = sap_scatter_part(m) * cosine * SAP_OVER_PI;
    }
    return sap_largest(path->weight) > too_little;
}

SAP_FN sap_surface sap_surface_of(const sap_meeting* m, const sap_path* path) {
    sap_surface s;
    s.point = sap_plus(m->point, sap_times(m->face, m->reach));
    s.normal = m->normal;
    s.view = sap_times(m->in, -1);
    s.diffuse = sap_times(sap_filter(path->weight, m->diffuse), m->opacity);
    // After a dull surface the highlight of another is a rare bright dot: noise.
    s.highlight = path->scattered ? sap_vector_make(0, 0, 0) : sap_filter(path->weight, m->specular);
    s.scatter = sap_scatter_part(m);
    s.exponent = m->shininess > 1 ? (int32_t)(m->shininess < 10000 ? m->shininess : 10000) : 1;
    return s;
}

SAP_FN double sap_face_area(const sap_scene_data* scene, int32_t number) {
    const sap_facet facet = sap_scene_facet(scene, number);
    double n[3];
    sap_area_normal(&facet, n);
    return sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]) / 2;
}

// The area of a triangle times its brightest colour, if it shines; else 0.
SAP_FN double sap_face_power(const sap_scene_data* scene, int32_t number) {
    const int32_t material = scene->materials ? scene->material_ids[sap_number_in_file(scene, number)] : -1;
    if (material < 0) return 0;
    const float bright = sap_largest(sap_vector_of(scene->materials[material].emission));
    return bright > 0 ? sap_face_area(scene, number) * (double)bright : 0;
}

// How much of the light of a shining face that a scattered path has hit counts: render/shine.h finds it, too.
SAP_FN float sap_shine_weight(const sap_scene_data* scene, const sap_meeting* m, const sap_path* path,
                              const sap_ray* ray) {
    const float bright = sap_largest(m->emission), cosine = -sap_dot(m->in, m->face);
    if (scene->shiner_count == 0 || !(path->density > 0) || !(bright > 0) || !(cosine > 0)) return 1;
    const double distance = sap_length(sap_minus(m->point, sap_vector_of(ray->origin)));
    const float direct = (float)((double)bright * scene->shine_part * distance * distance) / cosine;
    return path->density / (path->density + direct);
}

// A path has hit a surface, or nothing: adds the light from there to `found`, prepares the surface for lamps, and,
// unless this is the last bounce, chooses the next ray. Whether the path continues.
SAP_FN bool sap_shade(const sap_scene_data* scene, const sap_hit* hit, int32_t bounce, bool last, sap_path* path,
                      sap_ray* ray, sap_surface* surface, sap_vector* found) {
    sap_vector direction = sap_vector_of(ray->direction);
    const bool ends = scene->beyond && path->scattered; // photons know what comes from here on
    const bool caustic = scene->beyond && path->scattered == SAP_SCATTERED_MIRRORED; // and what shines from here
    if (hit->triangle < 0) {
        if (!caustic)
            *found = sap_plus(*found, sap_filter(path->weight, sap_past_mesh(scene, path, bounce, direction)));
        surface->diffuse = surface->highlight = sap_vector_make(0, 0, 0);
        return false;
    }
    const uint32_t purpose = 4 * (uint32_t)bounce; // 0 is the place in the pixel; 1 and 2 choose the next ray
    const sap_meeting m = sap_meet(scene, direction, hit);
    path->weight = sap_filter(path->weight, sap_unabsorbed(&m, ray, hit));
    if (!caustic) {
        const sap_vector shine = sap_times(m.emission, sap_shine_weight(scene, &m, path, ray));
        *found = sap_plus(*found, sap_filter(path->weight, shine));
    }
    *surface = sap_surface_of(&m, path);
    if (ends) surface->exponent = 0;
    if (ends && scene->beyond == SAP_BEYOND_PHOTONS) surface->diffuse = sap_vector_make(0, 0, 0);
    if (last) surface->scatter = 0;
    if (last || (ends && scene->beyond == SAP_BEYOND_PHOTONS)) return false;
    const bool on = sap_go_on(&m, sap_sample(path->pixel, path->sample, purpose + 1),
                              sap_sample(path->pixel, path->sample, purpose + 2), path, ray);
    return on && !(ends && path->scattered == SAP_SCATTERED);
}

#endif
