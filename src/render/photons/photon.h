// Photons: where they begin, what surfaces do with them, and how much they count. C and CUDA share this text.
#ifndef SAPWOOD_RENDER_PHOTONS_PHOTON_H
#define SAPWOOD_RENDER_PHOTONS_PHOTON_H

#include "render/surface.h"
#include "sapwood/photons.h"

#define SAP_PI 3.141592653589793

// What sends photons: a lamp, a triangle that shines, or the sky.
typedef enum sap_source_kind { SAP_SOURCE_LAMP, SAP_SOURCE_FACE, SAP_SOURCE_SKY } sap_source_kind;
typedef struct sap_source {
    double
        until; // the part of all power that is aimed, by largest colours, of this and the sources before it; the last: 1
    int32_t kind, number;
    float aimed;      // the part of its power that it sends to the target, as seen from its middle
    sap_vector power; // of a photon, were it the only one and were all power aimed so; of the sky: times its light
} sap_source;

// Photons leave towards a ball, outside of which nothing that they meet first matters.
typedef struct sap_source_table {
    const sap_source* sources; // [count], at least one
    int32_t count;
    sap_vector middle; // of the target
    float radius;
    float start;   // how far from the middle photons of the sky begin: twice the radius of the ball around the scene
    float share;   // of the power of a source that a photon has
    uint32_t seed; // hashed
} sap_source_table;

// A photon on its way.
typedef struct sap_flight {
    sap_vector power;
    int32_t slot;    // in its batch
    uint32_t number; // of all
    uint32_t kind;   // what it would be if it hit a dull surface now
} sap_flight;

SAP_FN int32_t sap_source_find(const sap_source_table* table, double part) {
    int32_t low = 0, high = table->count - 1;
    while (low < high) {
        int32_t half = low + (high - low) / 2;
        if (part < table->sources[half].until)
            high = half;
        else
            low = half + 1;
    }
    return low;
}

// All directions alike.
SAP_FN sap_vector sap_any_direction(sap_pair at) {
    float cosine, sine, height = 1 - 2 * at.x, rest = 1 - height * height, radius = rest > 0 ? sqrtf(rest) : 0;
    sap_circle((double)at.y, &cosine, &sine);
    return sap_vector_make(radius * cosine, radius * sine, height);
}

// 1 minus the cosine of the angle from the way `to` the middle of a ball up to its edge; 2, all ways, from within.
SAP_FN float sap_ball_cap(sap_vector to, float radius) {
    const double x = (double)to.x, y = (double)to.y, z = (double)to.z, d2 = x * x + y * y + z * z;
    const double sine2 = (double)radius * (double)radius * (1 + 0x1p-16) / d2; // a little wider, for roundings
    return sine2 < 1 ? (float)(sine2 / (1 + sqrt(1 - sine2))) : 2;
}

// All directions alike within such an angle.
SAP_FN sap_vector sap_direction_within(sap_vector to, float cap, sap_pair at) {
    if (cap >= 2) return sap_any_direction(at);
    sap_vector u, v, ahead = sap_unit(to);
    float cosine, sine;
    const float rest = at.x * cap, radius = sqrtf(rest * (2 - rest));
    sap_circle((double)at.y, &cosine, &sine);
    sap_frame_of(ahead, &u, &v);
    return sap_plus(sap_times(ahead, 1 - rest), sap_plus(sap_times(u, radius * cosine), sap_times(v, radius * sine)));
}

// From a face that shines, a cone this wide or wider is no better than the cosine lobe.
SAP_FN bool sap_face_aims(float cap) { return cap < 0.5f; }

// A photon leaves a face that shines: *part becomes the part of all power there that goes the way of such photons.
SAP_FN sap_ray sap_photon_from_face(const sap_scene_data* scene, const sap_source_table* table, int32_t face,
                                    float side, sap_pair place, sap_pair way, float* part) {
    sap_hit hit;
    float root = sqrtf(place.x);
    hit.t = 0;
    hit.u = root * (1 - place.y);
    hit.v = root * place.y;
    hit.triangle = face;
    const sap_facet facet = sap_facet_of(scene->vertices, scene->triangles, face);
    const sap_vector to = sap_minus(table->middle, sap_blend(facet.corners, &hit));
    const float cap = sap_ball_cap(to, table->radius);
    const bool aims = sap_face_aims(cap);
    double normal[3];
    sap_area_normal(&facet, normal);
    const sap_vector up = sap_unit_of(normal);
    const sap_vector out = aims ? sap_direction_within(to, cap, way) : side < 0.5f ? sap_times(up, -1) : up;
    sap_meeting m = sap_meet(scene, sap_times(out, -1), &hit);
    m.normal = m.face; // light leaves the triangle, not its smoothed neighbourhood
    *part = aims ? cap * sap_magnitude(sap_dot(out, up)) : 1;
    return aims ? sap_send(&m, out, false) : sap_send_scattered(&m, way);
}

SAP_FN sap_flight sap_photon_begin(const sap_scene_data* scene, const sap_source_table* table, uint32_t number,
                                   int32_t slot, sap_ray* ray) {
    const sap_pair choice = sap_sample(table->seed, number, 0), place = sap_sample(table->seed, number, 1),
                   way = sap_sample(table->seed, number, 2);
    const sap_source* source = &table->sources[sap_source_find(table, (double)choice.x)];
    sap_flight flight;
    flight.power = sap_times(source->power, table->share);
    flight.slot = slot;
    flight.number = number;
    flight.kind = source->kind == SAP_SOURCE_LAMP ? SAP_PHOTON_LAMP : SAP_PHOTON_SHINE;
    if (source->kind == SAP_SOURCE_LAMP) {
        const sap_lamp* lamp = &scene->lamps[source->number];
        sap_vector off = sap_plus(sap_times(lamp->side[0], place.x - 0.5f), sap_times(lamp->side[1], place.y - 0.5f));
        const sap_vector from = sap_plus(lamp->position, off), to = sap_minus(table->middle, from);
        const float cap = sap_ball_cap(to, table->radius);
        *ray = sap_ray_make(from, sap_direction_within(to, cap, way), INFINITY);
        flight.power = sap_times(flight.power, cap / 2 / source->aimed);
    } else if (source->kind == SAP_SOURCE_FACE) {
        float part;
        *ray = sap_photon_from_face(scene, table, source->number, choice.y, place, way, &part);
        flight.power = sap_times(flight.power, part / source->aimed);
    } else {
        sap_vector to = sap_any_direction(way), u, v;
        float cosine, sine, off = table->radius * sqrtf(place.x);
        sap_circle((double)place.y, &cosine, &sine);
        sap_frame_of(to, &u, &v);
        sap_vector from = sap_plus(table->middle, sap_times(to, table->start));
        from = sap_plus(from, sap_plus(sap_times(u, off * cosine), sap_times(v, off * sine)));
        flight.power = sap_filter(flight.power, sap_sky(scene, to));
        *ray = sap_ray_make(from, sap_times(to, -1), INFINITY);
    }
    return flight;
}

SAP_FN void sap_vector_put(sap_vector v, float to[3]) {
    to[0] = v.x;
    to[1] = v.y;
    to[2] = v.z;
}

// A photon has hit a surface: what is to be kept of it, and where it goes on. *kept has kind 0 if it is not to be kept.
// Whether it goes on.
SAP_FN bool sap_photon_meet(const sap_scene_data* scene, const sap_source_table* table, const sap_hit* hit,
                            int32_t bounce, sap_flight* flight, sap_ray* ray, sap_photon* kept) {
    kept->kind = 0;
    if (hit->triangle < 0) return false;
    const sap_meeting m = sap_meet(scene, sap_vector_of(ray->direction), hit);
    flight->power = sap_filter(flight->power, sap_unabsorbed(&m, ray, hit));
    if (!(sap_largest(flight->power) > 0)) return false;
    if (sap_largest(m.diffuse) > 0 && m.opacity > 0) {
        sap_vector_put(m.point, kept->position);
        sap_vector_put(m.face, kept->normal);
        sap_vector_put(m.in, kept->direction);
        sap_vector_put(flight->power, kept->power);
        kept->number = (int32_t)flight->number;
        kept->kind = (uint16_t)flight->kind;
        kept->bounce = (uint16_t)bounce;
    }
    const sap_pair choice = sap_sample(table->seed, flight->number, 3 + 2 * (uint32_t)bounce);
    const float clear = 1 - m.opacity, before = sap_largest(flight->power);
    const uint32_t by_glass = flight->kind == SAP_PHOTON_INDIRECT ? SAP_PHOTON_INDIRECT : SAP_PHOTON_CAUSTIC;
    if (clear > 0 && choice.x < clear) {
        *ray = sap_send_through(&m, choice.y);
        flight->kind = by_glass;
        return true;
    }
    // Each part goes on as often as it reflects power, at most always.
    const sap_vector mirrored = sap_filter(flight->power, sap_mirrored_part(&m)),
                     dull = sap_filter(flight->power, m.diffuse);
    float bright = sap_largest(mirrored) / before, grey = sap_largest(dull) / before, all = bright + grey;
    if (!(all > 0)) return false;
    if (all > 1) {
        bright /= all;
        grey /= all;
    }
    if (choice.y < bright) {
        flight->power = sap_times(mirrored, 1 / bright);
        flight->kind = by_glass;
        *ray = sap_send_mirrored(&m);
        return true;
    }
    if (!(choice.y < bright + grey)) return false;
    flight->power = sap_times(dull, 1 / grey);
    flight->kind = SAP_PHOTON_INDIRECT;
    *ray = sap_send_scattered(&m, sap_sample(table->seed, flight->number, 4 + 2 * (uint32_t)bounce));
    return true;
}

// Caustics are looked up where the camera sees surfaces; other photons there, or where rays from there end.
SAP_FN bool sap_is_lit(const sap_scene_data* scene, const sap_surface* surface, bool by_caustics) {
    if (!(sap_largest(surface->diffuse) > 0)) return false;
    const bool seen = surface->exponent > 0;
    return by_caustics || scene->beyond == SAP_BEYOND_PHOTONS ? seen : !seen;
}

// A dull surface sends out its irradiance over pi.
SAP_FN void sap_add_irradiance(const sap_surface* surface, const float* irradiance, sap_vector* found) {
    *found = sap_plus(*found, sap_filter(surface->diffuse, sap_times(sap_vector_of(irradiance), SAP_OVER_PI)));
}

// Whether a photon came from the side to which the normal points.
SAP_FN bool sap_photon_counts(const sap_photon* photon, const float* normal) {
    const sap_vector n = sap_vector_of(normal);
    return sap_dot(sap_vector_of(photon->direction), n) < 0 && sap_dot(sap_vector_of(photon->normal), n) > 0;
}

SAP_FN double sap_photon_weight(int filter, double distance2, double radius2) {
    SAP_ASSERT(radius2 > 0);
    if (filter == SAP_PHOTON_CONE) return 3 * (1 - sqrt(distance2 / radius2));
    if (filter == SAP_PHOTON_EPANECHNIKOV) return 2 * (1 - distance2 / radius2);
    return 1;
}

#endif
