// Points drawn as discs, as the eye sees them: for fragment shaders, which include it.
uniform vec2 depths; // at a distance w from the eye's plane the depth is x + y / w
uniform float size;  // radius
uniform float least; // part of a pixel that is drawn
flat in vec3 facing; // the disc's normal, as seen by the eye
flat in float nearness; // 1 / distance from the eye's plane

// How much of the pixel is covered; `away` is 0 in the disc's middle and 1 at its rim. The depth is that of the disc's plane, moved
// nearer by `off`.
float disc(float off, out float away) {
    vec2 aside = 2.0 * gl_PointCoord - 1.0;
    aside.y = -aside.y;
    float nearer = -dot(facing.xy, aside) / facing.z;
    away = length(vec3(aside, nearer));
    float whole = clamp((1.0 - away) / fwidth(away) + 0.5, 0.0, 1.0);
    if (whole < least) discard;
    float distance_here = 1.0 / nearness - nearer * size - off;
    gl_FragDepth = clamp(0.5 + 0.5 * (depths.x + depths.y / distance_here), 0.0, 1.0);
    return whole;
}
