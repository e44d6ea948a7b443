// Discs and rings with soft edges; lines plain.
uniform vec4 paint;
uniform vec4 rim;
uniform float diameter; // in pixels; 0: lines
uniform float width;    // of the rim

void main() {
    if (diameter > 0.0) {
        float from_rim = 0.5 * diameter - length((gl_PointCoord - 0.5) * diameter);
        vec4 here = mix(rim, paint, clamp(from_rim - width, 0.0, 1.0));
        color = vec4(here.rgb, here.a * clamp(from_rim, 0.0, 1.0));
    } else {
        color = paint;
    }
}
