// The scene Cloud. SAP_PASS: 0 points as discs; 1 their normals; 2 pairs.
uniform float middle; // distance of the middle from the eye's plane
uniform vec3 paper;
uniform vec3 ink;
uniform vec3 accent;
uniform int colors;
uniform float dark;
uniform float inside; // how faint points are that are seen from behind
flat in vec3 axis;
flat in float worth;
flat in float moves;
flat in float turned;
in float behind;

const vec3 cool = vec3(0.16, 0.44, 0.62);

// Far parts fade a little into the paper.
vec3 with_distance(vec3 lit) { return mix(lit, paper, clamp(0.34 * (behind - middle) + 0.14, 0.0, 0.5)); }

#if SAP_PASS > 0
void main() { color = vec4(with_distance(SAP_PASS == 1 ? mix(paper, ink, 0.72) : mix(ink, accent, 0.25)), 1.0); }
#else
#include "disc.glsl"

// Thin, even, dense.
vec3 density_color(float density) {
    vec3 even = mix(vec3(0.90, 0.86, 0.78), vec3(0.72, 0.69, 0.63), dark);
    float off = clamp(log2(max(density, 1e-6)) / 1.6, -1.0, 1.0);
    return off < 0.0 ? mix(even, vec3(0.10, 0.42, 0.68), -off) : mix(even, vec3(0.80, 0.24, 0.06), off);
}

// From near to far pairs, as the page's other scale.
vec3 heat(float part) {
    vec3 low = mix(vec3(0.29, 0.07, 0.36), vec3(0.70, 0.20, 0.33), clamp(2.0 * part, 0.0, 1.0));
    return mix(low, vec3(0.99, 0.78, 0.36), clamp(2.0 * part - 1.0, 0.0, 1.0));
}

vec3 body() {
    vec3 warm = mix(accent, vec3(1.0, 0.93, 0.84), 0.3);
    if (colors == 0) return density_color(worth);
    if (colors == 1) return 0.5 + 0.5 * axis;
    if (colors == 2) return warm;
    if (moves < 0.5) return mix(cool, vec3(0.8), colors == 4 ? 0.75 : 0.25);
    return colors == 3 ? warm : heat(clamp(worth / 6.0, 0.0, 1.0));
}

void main() {
    float away;
    float whole = disc(0.0, away);
    vec3 light = normalize(vec3(-0.45, 0.55, 0.9));
    float lit = max(dot(facing, light), 0.0);
    float edge = smoothstep(0.7, 1.0, away);
    vec3 shade = body() * (0.42 + 0.58 * lit) * (1.0 - 0.22 * edge);
    color = vec4(mix(with_distance(shade), paper, inside * turned), whole);
}
#endif
