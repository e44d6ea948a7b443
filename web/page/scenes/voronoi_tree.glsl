// Planes, fainter the deeper they lie.
PAGE_FROM float faint;
uniform vec3 paint;

void main() { color = vec4(paint, faint); }
