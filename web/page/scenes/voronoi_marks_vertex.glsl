// Sites as points, or the lines to the neighbours as thin rectangles.
PAGE_ATTRIBUTE vec2 corner; // where, in the sites' measure
uniform vec2 size;
uniform vec2 origin;
uniform float step_size;
uniform float diameter; // of points, in pixels

void main() {
    vec2 pixel = (corner - origin) / step_size;
    gl_Position = vec4(2.0 * pixel.x / size.x - 1.0, 1.0 - 2.0 * pixel.y / size.y, 0.0, 1.0);
    gl_PointSize = diameter;
}
