// The passes of a picture of a mesh between those of ray.glsl: the steps of render/steps_cpu.c, a texel for each pixel.
//
// SAP_PASS  0: rays from the camera; 1: a ray to a lamp from where the rays have met something; 2: the light of those
//           that nothing stopped; 3: the next rays; 4: light is added to its pixel; 5: counts of visited nodes are; 6:
//           the picture; 7: it is shown
#include "math/dialect.h"
#if SAP_PASS == 1 || SAP_PASS == 3
#include "mesh/texture.h"
#include "render/view/sample_glsl.h"
#include "render/view/shade_glsl.h"
#elif SAP_PASS == 0
#include "render/view/sample_glsl.h"
#endif

// The tile's state, RGBA32UI.
uniform usampler2D origins;    // x, y, z, t_min
uniform usampler2D directions; // x, y, z, t_max
uniform usampler2D paths;      // weight, 1: alive + 2: scattered
uniform usampler2D lights;     // what has been found
uniform usampler2D place;      // as ray.glsl writes them
uniform usampler2D found;
uniform usampler2D lit;   // light of a lamp where nothing is between
uniform usampler2D sum;   // of all samples so far, of the whole picture
uniform ivec2 corner;     // of the tile in the picture
uniform ivec2 size;       // of the picture
uniform int number;       // of the sample
uniform int bounce;
uniform bool is_last;     // bounce
uniform bool is_plain;    // nothing is left to chance

ivec2 here() { return ivec2(gl_FragCoord.xy); }

#if SAP_PASS == 0
layout(location = 0) out uvec4 out_origin;
layout(location = 1) out uvec4 out_direction;
layout(location = 2) out uvec4 out_path;
layout(location = 3) out uvec4 out_light;
uniform vec3 eye;
uniform vec3 forward;
uniform vec3 right;
uniform vec3 up;
uniform float cut;

void main() {
    ivec2 at = corner + here();
    vec2 within = view_sample(view_pixel_seed(at), uint(number), 0u);
    vec2 across = 2.0 * (vec2(at) + (is_plain && number == 0 ? vec2(0.5) : within)) / vec2(size) - 1.0;
    vec3 direction = right * across.x - up * across.y + forward;
    out_origin = uvec4(floatBitsToUint(vec4(eye, cut)));
    out_direction = uvec4(floatBitsToUint(direction), 0x7f800000u);
    out_path = uvec4(floatBitsToUint(vec3(1.0)), 1u);
    out_light = uvec4(0u);
}
#endif

#if SAP_PASS == 1 || SAP_PASS == 3
view_path path_here() {
    uvec4 at = texelFetch(paths, here(), 0);
    view_path path;
    path.weight = uintBitsToFloat(at.xyz);
    path.is_alive = (at.w & 1u) != 0u;
    path.is_scattered = (at.w & 2u) != 0u;
    return path;
}

view_meeting meeting_here(uvec4 hit) {
    vec3 direction = uintBitsToFloat(texelFetch(directions, here(), 0).xyz);
    return view_meet(direction, texelFetch(place, here(), 0).z, hit);
}
#endif

#if SAP_PASS == 1
layout(location = 0) out uvec4 out_origin;
layout(location = 1) out uvec4 out_direction;
layout(location = 2) out uvec4 out_lit;
uniform vec3 lamp_position;
uniform vec3 lamp_color;
uniform vec3 lamp_side_u;
uniform vec3 lamp_side_v;
uniform float lamp_reach;
uniform int purpose;
uniform bool casts_shadows;

void main() {
    uvec4 hit = texelFetch(found, here(), 0);
    view_path path = path_here();
    out_origin = uvec4(0u);
    out_direction = uvec4(0u, 0u, 0u, 0xbf800000u); // t_max -1: meets nothing
    out_lit = uvec4(0u);
    if (!path.is_alive || int(hit.w) < 0) return;
    view_meeting m = meeting_here(hit);
    vec3 diffuse = path.weight * m.diffuse * m.opacity;
    vec3 highlight = path.is_scattered ? vec3(0.0) : path.weight * m.specular;
    vec2 at = vec2(0.0);
    if (!is_plain) at = view_sample(view_pixel_seed(corner + here()), uint(number), uint(purpose)) - 0.5;
    vec3 point = m.point + m.face * m.reach;
    vec3 to = lamp_position + (lamp_side_u * at.x + lamp_side_v * at.y) - point;
    vec3 direction = view_unit(to);
    float cosine = dot(direction, m.normal);
    float far = length(to / lamp_reach);
    if (!(cosine > 0.0) || !(far > 0.0)) return;
    float shine = view_largest(highlight) > 0.0 ? view_highlight(m, direction, cosine) : 0.0;
    out_lit = uvec4(floatBitsToUint((diffuse * cosine + highlight * shine) * lamp_color / (far * far)), 0u);
    if (!casts_shadows) return;
    out_origin = uvec4(floatBitsToUint(point), 0u);
    out_direction = uvec4(floatBitsToUint(to), 0x3f800000u);
}
#endif

#if SAP_PASS == 2
layout(location = 0) out uvec4 out_light;

void main() {
    bool is_dark = int(texelFetch(found, here(), 0).w) >= 0;
    vec3 light = uintBitsToFloat(texelFetch(lights, here(), 0).xyz);
    if (!is_dark) light += uintBitsToFloat(texelFetch(lit, here(), 0).xyz);
    out_light = uvec4(floatBitsToUint(light), 0u);
}
#endif

#if SAP_PASS == 3
layout(location = 0) out uvec4 out_origin;
layout(location = 1) out uvec4 out_direction;
layout(location = 2) out uvec4 out_path;
layout(location = 3) out uvec4 out_light;

const float too_little = 4.8828125e-4; // 2^-11: of no account in 8 bits

void send(view_path path, view_meeting m, vec4 to) {
    vec3 from = m.point + m.face * (to.w > 0.0 ? -m.reach : m.reach);
    out_origin = uvec4(floatBitsToUint(from), 0u);
    out_direction = uvec4(floatBitsToUint(to.xyz), 0x7f800000u);
    out_path = uvec4(floatBitsToUint(path.weight), 1u + (path.is_scattered ? 2u : 0u));
}

// As render/surface.h chooses: one of what is let through, mirrored and scattered.
void go_on_by_chance(view_path path, view_meeting m) {
    uint seed = view_pixel_seed(corner + here());
    vec2 choice = view_sample(seed, uint(number), 4u * uint(bounce) + 1u);
    vec3 mirrored = view_mirrored_part(m);
    float dull = view_largest(m.diffuse);
    float bright = view_largest(mirrored);
    float both = dull + bright;
    if (choice.x < 1.0 - m.opacity) {
        send(path, m, view_through(m, choice.y));
    } else if (both > 0.0) {
        bool is_mirrored = choice.y * both < bright;
        path.weight *= is_mirrored ? mirrored * (both / bright) : m.diffuse * (both / dull);
        path.is_scattered = path.is_scattered || !is_mirrored;
        vec3 to = is_mirrored ? view_mirrored(m)
                              : view_scattered(m, view_sample(seed, uint(number), 4u * uint(bounce) + 2u));
        if (view_largest(path.weight) > too_little) send(path, m, vec4(to, 0.0));
    }
}

// What is let through, or else what is mirrored (Whitted 1980); the sky shines on all that is dull.
void go_on_plainly(view_path path, view_meeting m) {
    vec3 mirrored = view_mirrored_part(m) * m.opacity;
    bool is_clear = 1.0 - m.opacity > view_largest(mirrored);
    path.weight *= is_clear ? vec3(1.0 - m.opacity) : mirrored;
    vec4 to = is_clear ? view_through(m, 0.0) : vec4(view_mirrored(m), 0.0);
    if (view_largest(path.weight) > 32.0 * too_little) send(path, m, to); // without noise less is seen
}

void main() {
    uvec4 hit = texelFetch(found, here(), 0);
    view_path path = path_here();
    vec3 light = uintBitsToFloat(texelFetch(lights, here(), 0).xyz);
    out_origin = uvec4(0u);
    out_direction = uvec4(0u, 0u, 0u, 0xbf800000u);
    out_path = uvec4(0u);
    if (path.is_alive && int(hit.w) < 0)
        light += path.weight * view_past_mesh(path, bounce, uintBitsToFloat(texelFetch(directions, here(), 0).xyz));
    if (path.is_alive && int(hit.w) >= 0) {
        view_meeting m = meeting_here(hit);
        light += path.weight * m.emission;
        if (is_plain) light += path.weight * m.diffuse * m.opacity * view_sky(m.normal) * ambient;
        if (!is_last && is_plain) go_on_plainly(path, m);
        if (!is_last && !is_plain) go_on_by_chance(path, m);
    }
    out_light = uvec4(floatBitsToUint(light), 0u);
}
#endif

#if SAP_PASS == 4 || SAP_PASS == 5
layout(location = 0) out uvec4 out_sum;

void main() {
    ivec2 at = here() - corner;
#if SAP_PASS == 4
    // No single sample may outshine its pixel for good, nor darken it; nor be no number.
    uvec3 bits = texelFetch(lights, at, 0).xyz;
    vec3 light = min(uintBitsToFloat(bits), 32.0);
    light = mix(vec3(0.0), light, lessThan(bits, uvec3(0x7f800001u)));
#else
    // Besides, what the ray has met: how far, and the triangle's number + 1; 0 and 0: nothing.
    uvec4 hit = texelFetch(found, at, 0);
    bool is_hit = int(hit.w) >= 0;
    vec3 light = vec3(texelFetch(place, at, 0).w, is_hit ? uintBitsToFloat(hit.x) : 0.0, hit.w + 1u);
#endif
    uvec4 before = number > 0 ? texelFetch(sum, here(), 0) : uvec4(0u);
    out_sum = uvec4(floatBitsToUint(uintBitsToFloat(before.xyz) + light), before.w + 1u);
}
#endif

#if SAP_PASS == 6
layout(location = 0) out vec4 out_color;
uniform float exposure;
uniform bool is_heat;
uniform float hottest;

vec3 srgb(vec3 linear) {
    vec3 x = clamp(linear, 0.0, 1.0);
    return mix(1.055 * pow(max(x, 0.0031308), vec3(1.0 / 2.4)) - 0.055, 12.92 * x, lessThanEqual(x, vec3(0.0031308)));
}

// The scale of render/pixel.h, in Oklab (Ottosson 2020).
vec3 heat(float value) {
    vec3 scale[7] = vec3[7](vec3(0.14, 0.000, -0.045), vec3(0.30, 0.030, -0.120), vec3(0.44, 0.110, -0.110),
                            vec3(0.58, 0.160, -0.010), vec3(0.70, 0.130, 0.090), vec3(0.82, 0.050, 0.140),
                            vec3(0.96, -0.015, 0.100));
    float at = clamp(value, 0.0, 1.0) * 6.0;
    int below = min(int(at), 5);
    vec3 lab = mix(scale[below], scale[below + 1], at - float(below));
    vec3 lms = vec3(lab.x + 0.3963377774 * lab.y + 0.2158037573 * lab.z,
                    lab.x - 0.1055613458 * lab.y - 0.0638541728 * lab.z,
                    lab.x - 0.0894841775 * lab.y - 1.2914855480 * lab.z);
    lms *= lms * lms;
    return vec3(4.0767416621 * lms.x - 3.3077115913 * lms.y + 0.2309699292 * lms.z,
                -1.2684380046 * lms.x + 2.6097574011 * lms.y - 0.3413193965 * lms.z,
                -0.0041960863 * lms.x - 0.7034186147 * lms.y + 1.7076147010 * lms.z);
}

void main() {
    uvec4 at = texelFetch(sum, here(), 0);
    vec3 mean = uintBitsToFloat(at.xyz) / float(at.w);
    out_color = vec4(srgb(is_heat ? heat(mean.x / hottest) : mean * exposure), 1.0);
}
#endif

#if SAP_PASS == 7
layout(location = 0) out vec4 out_color;
uniform sampler2D picture;
uniform vec4 shown; // the rectangle of the framebuffer: x, y, width, height

vec4 texel(ivec2 at) { return texelFetch(picture, clamp(at, ivec2(0), size - 1), 0); }

// Bilinear, and only where there is a picture yet.
void main() {
    vec2 part = (gl_FragCoord.xy - shown.xy) / shown.zw;
    vec2 at = vec2(part.x, 1.0 - part.y) * vec2(size) - 0.5;
    ivec2 first = ivec2(floor(at));
    vec2 within = at - vec2(first);
    vec4 upper = mix(texel(first), texel(first + ivec2(1, 0)), within.x);
    vec4 lower = mix(texel(first + ivec2(0, 1)), texel(first + ivec2(1, 1)), within.x);
    out_color = mix(upper, lower, within.y);
    if (out_color.a < 0.999) discard;
}
#endif
