// The scene Photons. SAP_PASS: 0 the room and what stands in it; 1 photons as discs; 2 flights; 3 the lamp; 4 the light.
uniform vec3 paper;
#if SAP_PASS == 4
uniform sampler2D complete;
uniform sampler2D coming;
uniform ivec4 complete_size; // cells of a row, rows, pixels along a side of a cell, rows that are there
uniform ivec4 coming_size;
uniform float exposure;
uniform float height;

vec4 cell(sampler2D light, ivec4 size, ivec2 at) { return texelFetch(light, clamp(at, ivec2(0), size.xy - 1), 0); }

// Between the middles of the cells.
vec4 light_at(sampler2D light, ivec4 size, vec2 pixel) {
    vec2 at = pixel / float(size.z) - 0.5;
    ivec2 low = ivec2(floor(at));
    vec2 part = at - floor(at);
    vec4 above = mix(cell(light, size, low), cell(light, size, low + ivec2(1, 0)), part.x);
    vec4 below = mix(cell(light, size, low + ivec2(0, 1)), cell(light, size, low + ivec2(1, 1)), part.x);
    return mix(above, below, part.y);
}

void main() {
    vec2 pixel = vec2(gl_FragCoord.x, height - gl_FragCoord.y);
    vec4 light = pixel.y < float(coming_size.w * coming_size.z) ? light_at(coming, coming_size, pixel)
                                                                : light_at(complete, complete_size, pixel);
    vec3 shown = pow(1.0 - exp(-exposure * max(light.rgb, 0.0)), vec3(1.0 / 2.2));
    color = vec4(mix(paper, shown, light.a), 1.0);
}
#else
in vec3 at;
#if SAP_PASS == 0
uniform vec3 eye;
uniform bool is_room;

void main() {
    if (is_room && !gl_FrontFacing) discard;
    vec3 normal = normalize(cross(dFdx(at), dFdy(at)));
    float lit = abs(dot(normal, normalize(vec3(0.35, 0.2, 0.8))));
    float facing = abs(dot(normal, normalize(eye - at)));
    vec3 body = is_room ? vec3(0.075, 0.07, 0.066) : vec3(0.26, 0.24, 0.21) * (0.35 + 0.65 * facing);
    color = vec4(body * (0.55 + 0.45 * lit), 1.0);
}
#elif SAP_PASS == 3
void main() { color = vec4(1.0, 0.96, 0.85, 1.0); }
#else
uniform int tint;
uniform float flight;
flat in vec4 tone;
in float part;

// By its map: straight from the lamp, caustic, indirect.
vec3 body() {
    float way = tone.w * 255.0;
    vec3 by_map = way < 0.5 ? vec3(0.80, 0.79, 0.76) : way < 1.5 ? vec3(1.0, 0.66, 0.20) : vec3(0.30, 0.62, 0.86);
    vec3 by_power = tone.rgb * (way < 0.5 ? 0.85 : way < 1.5 ? 1.0 : 0.7);
    return tint == 1 ? by_map : by_power;
}

#if SAP_PASS == 2
void main() {
    float behind = 1.25 * flight - part;
    bool shines = flight < 1.0 && behind > 0.0 && behind < 0.25;
    if (flight < 1.0 && !shines) discard;
    color = vec4(body() * (shines ? 1.0 : 0.45), 1.0);
}
#else
#include "disc.glsl"

void main() {
    float away;
    color = vec4(body(), disc(0.012, away)); // a little off the surface
}
#endif
#endif
#endif
