// Where paths meet the mesh and what shines there: render/surface.h and render/lighting.h in GLSL ES 3.00, which has
// vectors but no doubles; so pictures differ from the CPU's by what that rounds, at most a little. Needs mesh/texture.h
// and render/view/sample_glsl.h.

uniform usampler2D facets; // RGBA32UI, four texels a triangle: the bits of its unit normal, its material (-1: none);
                           // those of its corners, where an edge is blunt; the colour of each
uniform sampler2D
    materials; // RGBA32F, four texels each: diffuse, shininess; specular, opacity; emission, refraction; illum
uniform ivec2 facet_shifts; // the logarithms of the textures' widths
uniform bool is_flat;
uniform bool has_colors;
uniform vec3 sky_up;
uniform vec3 sun; // unit; zeros: there is none
uniform float ambient;
uniform vec4 background; // w is 0: the sky is seen past the mesh

struct view_path {
    vec3 weight;
    bool is_alive;
    bool is_scattered;
};

struct view_meeting {
    vec3 from; // the direction of the ray, unit
    vec3 face;
    vec3 normal;
    vec3 point;
    float reach;
    bool inside;
    vec3 diffuse;
    vec3 specular;
    vec3 emission;
    float shininess;
    float opacity;
    float refraction;
    int illum;
};

float view_largest(vec3 v) { return max(max(v.x, v.y), v.z); }

// Length 1, whatever the magnitude; zeros stay zeros.
vec3 view_unit(vec3 v) {
    float magnitude = view_largest(abs(v));
    if (!(magnitude > 0.0)) return vec3(0.0);
    v /= magnitude;
    return v / sqrt(dot(v, v));
}

vec3 view_blend(vec3 a, vec3 b, vec3 c, vec2 at) { return a * (1.0 - at.x - at.y) + (b * at.x + c * at.y); }

// Ten bits each of the roots, which are even to the eye.
vec3 view_color(uint bits) {
    vec3 root = vec3(bits & 1023u, bits >> 10 & 1023u, bits >> 20 & 1023u) / 1023.0;
    return root * root;
}

uvec4 view_facet(int triangle, int which) {
    return texelFetch(facets, sap_mesh_texel(4 * triangle + which, facet_shifts.x), 0);
}

vec4 view_material(int number, int which) {
    return texelFetch(materials, sap_mesh_texel(4 * number + which, facet_shifts.y), 0);
}

// `place` and `hit` as ray.glsl writes them.
view_meeting view_meet(vec3 direction, uint place, uvec4 hit) {
    view_meeting m;
    vec2 at = uintBitsToFloat(hit.yz);
    uvec4 facet = view_facet(int(hit.w), 0);
    uvec4 a = view_facet(int(hit.w), 1);
    uvec4 b = view_facet(int(hit.w), 2);
    uvec4 c = view_facet(int(hit.w), 3);
    m.from = view_unit(direction);
    m.face = uintBitsToFloat(facet.xyz);
    m.normal = m.face;
    if (!is_flat)
        m.normal = view_unit(view_blend(uintBitsToFloat(a.xyz), uintBitsToFloat(b.xyz), uintBitsToFloat(c.xyz), at));
    m.inside = dot(m.face, m.from) > 0.0;
    m.face = m.inside ? -m.face : m.face;
    m.normal = m.inside ? -m.normal : m.normal;
    vec3 corner_a = uintBitsToFloat(sap_mesh_corner(place, 0).xyz);
    vec3 corner_b = uintBitsToFloat(sap_mesh_corner(place, 1).xyz);
    vec3 corner_c = uintBitsToFloat(sap_mesh_corner(place, 2).xyz);
    m.point = view_blend(corner_a, corner_b, corner_c, at);
    m.reach = view_largest(max(max(abs(corner_a), abs(corner_b)), abs(corner_c))) * 1.9073486328125e-6; // 2^-19
    m.diffuse = has_colors ? view_blend(view_color(a.w), view_color(b.w), view_color(c.w), at) : vec3(0.8);
    m.specular = vec3(0.0);
    m.emission = vec3(0.0);
    m.shininess = 1.0;
    m.opacity = 1.0;
    m.refraction = 1.0;
    m.illum = 2;
    int number = int(facet.w);
    if (number >= 0) {
        vec4 diffuse = view_material(number, 0);
        vec4 specular = view_material(number, 1);
        vec4 emission = view_material(number, 2);
        m.diffuse = diffuse.xyz;
        m.shininess = diffuse.w;
        m.specular = specular.xyz;
        m.opacity = specular.w;
        m.emission = emission.xyz;
        m.refraction = emission.w;
        m.illum = int(view_material(number, 3).x);
    }
    return m;
}

vec3 view_sky(vec3 direction) {
    const vec3 ground = vec3(0.60, 0.59, 0.57);
    const vec3 horizon = vec3(0.82, 0.87, 0.93);
    const vec3 zenith = vec3(0.25, 0.42, 0.72);
    float height = dot(view_unit(direction), sky_up);
    float part = min(height < 0.0 ? -height * 4.0 : height, 1.0);
    if (height >= 0.0) part = part * (2.0 - part);
    return horizon * (1.0 - part) + (height < 0.0 ? ground : zenith) * part;
}

// What is left of the sun's light in the air around it, and its disc.
vec3 view_sun(vec3 direction) {
    float beside = max(dot(view_unit(direction), sun), 0.0);
    return vec3(1.0, 0.85, 0.6) * (0.5 * pow(beside, 24.0) + 8.0 * pow(beside, 2048.0));
}

vec3 view_past_mesh(view_path path, int bounce, vec3 direction) {
    if (bounce == 0 && background.w > 0.0) return background.xyz;
    return path.is_scattered ? view_sky(direction) * ambient : view_sky(direction) + view_sun(direction);
}

// Two directions that stand upright on a unit vector and on each other (Duff and others 2017).
vec3 view_on_frame(vec3 n, vec2 at, float height) {
    float side = n.z < 0.0 ? -1.0 : 1.0;
    float a = -1.0 / (side + n.z);
    float b = n.x * n.y * a;
    vec3 u = vec3(1.0 + side * n.x * n.x * a, side * b, -side * n.x);
    vec3 v = vec3(b, side + n.y * n.y * a, -n.y);
    return u * at.x + v * at.y + n * height;
}

vec3 view_mirrored(view_meeting m) {
    vec3 to = m.from - m.normal * (2.0 * dot(m.from, m.normal));
    return dot(to, m.face) > 0.0 ? to : m.from - m.face * (2.0 * dot(m.from, m.face));
}

vec3 view_scattered(view_meeting m, vec2 at) {
    float radius = sqrt(at.x);
    float turn = at.y * 6.283185307179586;
    vec3 to = view_on_frame(m.normal, radius * vec2(cos(turn), sin(turn)), sqrt(1.0 - at.x));
    float depth = dot(to, m.face);
    return depth <= 0.0 ? to - m.face * (2.0 * depth) : to;
}

// Snell's law and Fresnel's equations. w is 1 where the ray goes through.
vec4 view_through(view_meeting m, float choice) {
    float index = m.refraction > 0.0 ? m.refraction : 1.0;
    float ratio = m.inside ? index : 1.0 / index;
    float height = max(-dot(m.from, m.normal), 0.0);
    float sine2 = ratio * ratio * (1.0 - height * height);
    if (sine2 >= 1.0) return vec4(view_mirrored(m), 0.0);
    float below = sqrt(1.0 - sine2);
    float parallel = (height - ratio * below) / (height + ratio * below);
    float upright = (ratio * height - below) / (ratio * height + below);
    if (choice < (parallel * parallel + upright * upright) / 2.0) return vec4(view_mirrored(m), 0.0);
    vec3 to = m.from * ratio + m.normal * (ratio * height - below);
    return vec4(dot(to, m.face) >= 0.0 ? m.from : to, 1.0);
}

vec3 view_mirrored_part(view_meeting m) {
    if (m.illum < 3) return vec3(0.0);
    if (m.illum != 5) return m.specular;
    float away = max(1.0 + dot(m.from, m.normal), 0.0);
    return m.specular + (1.0 - m.specular) * min(away * away * away * away * away, 1.0);
}

float view_highlight(view_meeting m, vec3 direction, float cosine) {
    vec3 mirrored = m.normal * (2.0 * cosine) - direction;
    float base = dot(mirrored, -m.from);
    float exponent = floor(clamp(m.shininess, 1.0, 10000.0));
    return base > 0.0 ? pow(base, exponent) : 0.0;
}
