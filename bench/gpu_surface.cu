// Surfaces of volumes that lie on the GPU, compared with the CPU's.
#include "gpu.cuh"

#include <cmath>

// How far inside a sphere of 0.4 sides a sample lies, or inside a gyroid of eight periods.
static __global__ void fill_volume(float* values, int side, bool gyroid) {
    const int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= (int64_t)side * side * side) return;
    const float x = (float)(i % side), y = (float)(i / side % side), z = (float)(i / side / side);
    const float middle = 0.5f * (float)side - 0.25f, period = 8 * 6.2831853f / (float)side;
    const float a = x - middle, b = y - middle, c = z - middle;
    values[i] = gyroid ? sinf(period * x) * cosf(period * y) + sinf(period * y) * cosf(period * z) +
                             sinf(period * z) * cosf(period * x)
                       : 0.4f * (float)side - sqrtf(a * a + b * b + c * c);
}

// Whether an array of the GPU holds what one of the host does.
static bool is_same(const void* there, const void* here, size_t bytes) {
    std::vector<char> copy(bytes);
    GPU_CUDA(cudaMemcpy(copy.data(), there, bytes, cudaMemcpyDeviceToHost));
    return !memcmp(copy.data(), here, bytes);
}

static void compare(gpu_bench* b, const sap_isosurface* got, sap_volume volume, size_t samples) {
    std::vector<float> values(samples);
    sap_isosurface* expected = NULL;
    GPU_CUDA(cudaMemcpy(values.data(), volume.values, samples * sizeof(float), cudaMemcpyDeviceToHost));
    volume.values = values.data();
    GPU_SAP(sap_isosurface_extract(b->host, volume, NULL, &expected));
    const sap_mesh *mesh = &got->mesh, *wanted = &expected->mesh;
    const size_t vertices = (size_t)wanted->vertex_count * 12, triangles = (size_t)wanted->triangle_count * 12;
    const bool same = mesh->vertex_count == wanted->vertex_count && mesh->triangle_count == wanted->triangle_count &&
                      is_same(mesh->vertices, wanted->vertices, vertices) &&
                      is_same(got->normals, expected->normals, vertices) &&
                      is_same(mesh->triangles, wanted->triangles, triangles);
    gpu_compared(b, wanted->vertex_count + wanted->triangle_count, same ? 0 : 1, "a surface");
    sap_isosurface_free(expected);
}

static void measure_surface(gpu_bench* b, int side, bool gyroid) {
    const int64_t samples = (int64_t)side * side * side;
    gpu_row row = gpu_row_of("surface", gyroid ? "gyroid" : "sphere", samples, 0);
    if (!gpu_wanted(b, row.work, samples)) return;
    float* values = (float*)gpu_memory((size_t)samples * sizeof(float));
    fill_volume<<<(unsigned)((samples + 255) / 256), 256, 0, b->stream>>>(values, side, gyroid);
    GPU_CUDA(cudaGetLastError());
    sap_volume volume = {};
    volume.values = values;
    for (int a = 0; a < 3; a++) volume.size[a] = side;
    sap_isosurface* surface = NULL;
    gpu_times ms = gpu_measure(b, [&] {
        sap_isosurface_free(surface);
        surface = NULL;
        GPU_SAP(sap_isosurface_extract(b->device, volume, NULL, &surface));
    });
    const double bytes =
        4.0 * (double)samples + 24.0 * (double)surface->mesh.vertex_count + 12.0 * (double)surface->mesh.triangle_count;
    row.floor_ms = bytes / b->bytes_a_ms;
    if (side == 512 && !gyroid) row.target = 1e-6 * (double)samples / 20; // 20 billion samples a second
    gpu_report(b, row, ms);
    compare(b, surface, volume, (size_t)samples);
    sap_isosurface_free(surface);
    GPU_CUDA(cudaFree(values));
}

void gpu_surfaces(gpu_bench* b) {
    for (int side = 256; side <= 512; side *= 2)
        for (int gyroid = 0; gyroid < 2; gyroid++) measure_surface(b, side, gyroid != 0);
}
