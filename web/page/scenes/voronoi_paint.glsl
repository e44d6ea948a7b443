// Colours of the picture: cells, distances, edges, or how much work each pixel was. In WebGL 1 ids and distances come as
// bytes, and there are no counts.
#if SAP_GLSL == 100
uniform sampler2D ids;       // the highest byte first
uniform sampler2D distances; // 16.16 bits, in units
uniform float unit;          // a unit in the sites' measure
#else
uniform usampler2D answers;
#endif
uniform vec2 size;       // of the picture
uniform vec2 origin;     // of the pixel (0, 0), its corner
uniform float step_size; // from pixel to pixel, in the sites' measure
uniform float spacing;   // about from site to site
uniform int view;        // 0 cells, 1 distances, 2 edges, 3 work
uniform vec2 field;      // 1 over the field's width and height
uniform vec3 paper;
uniform vec3 ink;
uniform vec3 accent;
uniform float chosen[9]; // ids of the sites that are pointed at, the nearest first; -1: none
uniform float dimmed;    // how much all others fade
uniform vec2 work;       // logarithms of the fewest and of the most nodes

struct found {
    float id;
    float away;
    float nodes;
};

found at_pixel(vec2 pixel) { // its middle
    vec2 inside = clamp(pixel, vec2(0.5), size - 0.5);
    found here;
#if SAP_GLSL == 100
    vec4 id = floor(texture2D(ids, inside / size) * 255.0 + 0.5);
    vec4 away = floor(texture2D(distances, inside / size) * 255.0 + 0.5);
    here.id = id.r > 0.5 ? -1.0 : (id.g * 256.0 + id.b) * 256.0 + id.a;
    here.away = (away.r * 256.0 + away.g + (away.b * 256.0 + away.a) / 65536.0) * unit;
    here.nodes = 1.0;
#else
    uvec4 texel = texelFetch(answers, ivec2(inside), 0);
    here.id = texel.x < 16777216u ? float(texel.x) : -1.0;
    here.away = sqrt(uintBitsToFloat(texel.y));
    here.nodes = float(texel.z);
#endif
    return here;
}

vec3 stops(vec3 a, vec3 b, vec3 c, vec3 d, vec3 e, float t) {
    t = clamp(t, 0.0, 1.0) * 4.0;
    vec3 low = mix(a, b, clamp(t, 0.0, 1.0));
    vec3 high = mix(d, e, clamp(t - 3.0, 0.0, 1.0));
    return t < 1.0 ? low : t < 2.0 ? mix(b, c, t - 1.0) : t < 3.0 ? mix(c, d, t - 2.0) : high;
}

// A colour for a site: neighbours differ, yet a picture drifts slowly from one hue to the next.
vec3 tint(float id, vec2 place) {
    float turn = mod(id, 4096.0);
    float chance = fract(turn * 0.6180340);
    float other = fract(turn * 0.7548777);
    vec2 p = place * field;
    float drift = 0.5 + 0.34 * sin(2.4 * p.x + 1.1 * p.y - 0.9) + 0.22 * sin(3.1 * p.y - 1.7 * p.x + 0.6);
    vec3 hue = stops(vec3(0.098, 0.235, 0.227), vec3(0.239, 0.478, 0.384), vec3(0.902, 0.741, 0.467),
                     vec3(0.827, 0.439, 0.251), vec3(0.475, 0.196, 0.255), drift + 0.26 * (chance - 0.5));
    return hue * (0.86 + 0.26 * other);
}

float edge_at(vec2 pixel, float id) {
    float different = 0.0;
    if (at_pixel(pixel + vec2(1.0, 0.0)).id != id) different += 0.34;
    if (at_pixel(pixel - vec2(1.0, 0.0)).id != id) different += 0.34;
    if (at_pixel(pixel + vec2(0.0, 1.0)).id != id) different += 0.34;
    if (at_pixel(pixel - vec2(0.0, 1.0)).id != id) different += 0.34;
    return min(different, 1.0);
}

void main() {
    vec2 pixel = vec2(gl_FragCoord.x, size.y - gl_FragCoord.y);
    found here = at_pixel(pixel);
    vec2 place = origin + pixel * step_size;
    float cell = spacing / step_size; // pixels from site to site
    float near = here.away / spacing;
    vec3 shown = paper;
    if (here.id < 0.0) {
        shown = paper;
    } else if (view == 0) {
        shown = tint(here.id, place) * (1.0 - 0.2 * smoothstep(0.0, 1.1, near));
        if (cell > 9.0) shown = mix(shown, shown * 0.55, edge_at(pixel, here.id) * smoothstep(9.0, 40.0, cell));
    } else if (view == 1) {
        float rings = abs(fract(near * 4.0 + 0.5) - 0.5) * spacing * 0.25 / step_size; // pixels to the nearest ring
        shown = stops(accent, mix(accent, paper, 0.42), mix(accent, paper, 0.74), mix(accent, paper, 0.92), mix(paper, ink, 0.1), near * 0.8);
        if (cell > 16.0) shown = mix(shown, ink, 0.24 * (1.0 - smoothstep(0.3, 1.2, rings)));
    } else if (view == 2) {
        shown = mix(mix(paper, tint(here.id, place), 0.16), ink, edge_at(pixel, here.id) * clamp(cell / 14.0, 0.12, 0.9));
    } else {
        float heat = (log2(max(here.nodes, 1.0)) - work.x) / (work.y - work.x);
        shown = stops(vec3(0.055, 0.043, 0.098), vec3(0.294, 0.071, 0.361), vec3(0.702, 0.200, 0.333),
                      vec3(0.949, 0.522, 0.220), vec3(0.988, 0.918, 0.655), heat);
    }
    float is_chosen = 0.0;
    for (int i = 1; i < 9; ++i)
        if (here.id >= 0.0 && here.id == chosen[i]) is_chosen = 1.0;
    shown = mix(shown, vec3(1.0, 0.98, 0.94), 0.22 * is_chosen);
    if (here.id >= 0.0 && here.id == chosen[0]) {
        shown = mix(shown, vec3(1.0, 0.98, 0.94), 0.62);
        is_chosen = 1.0;
    }
    color = vec4(mix(shown, paper, (1.0 - is_chosen) * dimmed), 1.0);
}
