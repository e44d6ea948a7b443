// Makes a volume, extracts its surface and writes that as a mesh: surface OUT.ply
//
// The body is a gyroid, a surface that parts space in two equal labyrinths, within a ball.
#include <math.h>
#include <sapwood/sapwood.h>
#include <stdio.h>
#include <stdlib.h>

enum { SIDE = 160 };

static void log_line(void* user, sap_status status, const char* sentence) {
    (void)user;
    fprintf(stderr, "%s: %s\n", sap_status_string(status), sentence);
}

// How far inside the body a point of the cube from -1 to 1 lies, about.
static float depth(float x, float y, float z) {
    const float wave = 9.5f;
    float gyroid = sinf(wave * x) * cosf(wave * y) + sinf(wave * y) * cosf(wave * z) + sinf(wave * z) * cosf(wave * x);
    return fminf(0.1f - fabsf(gyroid) / wave, 0.93f - sqrtf(x * x + y * y + z * z));
}

static float* make_volume(void) {
    float* values = malloc(sizeof *values * SIDE * SIDE * SIDE);
    for (int i = 0; values && i < SIDE * SIDE * SIDE; i++) {
        int at[3] = {i % SIDE, i / SIDE % SIDE, i / SIDE / SIDE};
        float p[3];
        for (int a = 0; a < 3; a++) p[a] = 2 * (float)at[a] / (SIDE - 1) - 1;
        values[i] = depth(p[0], p[1], p[2]);
    }
    return values;
}

int main(int argc, char** argv) {
    if (argc != 2) {
        fprintf(stderr, "usage: surface OUT.ply\n");
        return 2;
    }
    sap_device* device = NULL;
    sap_isosurface* surface = NULL;
    float* values = make_volume();
    const float spacing = 2.0f / (SIDE - 1);
    const sap_volume volume = {
        .values = values, .size = {SIDE, SIDE, SIDE}, .spacing = {spacing, spacing, spacing}, .origin = {-1, -1, -1}};
    sap_status status = values ? sap_device_open(&(sap_device_options){.log = log_line}, &device) : SAP_ERROR_MEMORY;
    if (!status) status = sap_isosurface_extract(device, volume, NULL, &surface);
    if (!status) {
        const sap_mesh_file file = {.mesh = surface->mesh, .normals = surface->normals};
        printf("%lld vertices, %lld triangles\n", (long long)surface->mesh.vertex_count,
               (long long)surface->mesh.triangle_count);
        status = sap_mesh_write(device, argv[1], SAP_FORMAT_AUTO, &file, NULL);
    }
    sap_isosurface_free(surface);
    sap_device_close(device);
    free(values);
    return status != SAP_OK;
}
