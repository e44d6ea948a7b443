// Real clouds from a folder: airborne LiDAR and the vertices of scanned meshes, compressed by xz.
#include "bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Planar int32 hundredths to rows of floats, moved so that floats keep the hundredths.
static float* rows_of_planes(const unsigned char* bytes, int64_t count) {
    float* points = bench_memory((size_t)count * 3, sizeof(float));
    for (int a = 0; a < 3; a++) {
        const unsigned char* plane = bytes + (size_t)a * (size_t)count * 4;
        int32_t first;
        memcpy(&first, plane, 4);
        for (int64_t i = 0; i < count; i++) {
            int32_t value;
            memcpy(&value, plane + 4 * i, 4);
            points[3 * i + a] = (float)(0.01 * ((double)value - (double)first));
        }
    }
    return points;
}

static void lidar_rows(bench_run* run, const char* path) {
    size_t size = 0;
    unsigned char* bytes = bench_unpack(path, &size);
    if (!bytes) {
        bench_report_note(run->report, "LiDAR: skipped, %s is absent or xz is not installed", path);
        return;
    }
    int64_t count = (int64_t)(size / 12), asked = run->options->quick ? 200000 : 1000000;
    float* all = rows_of_planes(bytes, count);
    free(bytes);
    bench_shuffle(all, count, 3, 91);
    if (count < 2 * asked) asked = count / 2;
    count -= asked;
    float* queries = bench_memory((size_t)asked * 3, sizeof(float));
    memcpy(queries, all + 3 * count, (size_t)asked * 3 * sizeof(float));
    bench_work work;
    bench_work_open(&work, all, count, queries, asked, 3, false);
    bench_report_note(run->report, "LiDAR: %lld points, %lld others of the same flight ask, shuffled", (long long)count,
                      (long long)asked);
    bench_rebuild_row(run, &work, "lidar-rebuild", "LiDAR, rebuild", 0);
    bench_nearest_row(run, &work, "lidar-1nn", "LiDAR, 1-NN", 1, 0);
    bench_nearest_row(run, &work, "lidar-k8", "LiDAR, k = 8", 8, 0);
    bench_nearest_row(run, &work, "lidar-k16", "LiDAR, k = 16", 16, 0);
    bench_work_close(&work);
}

static void mesh_rows(bench_run* run, const bench_file* file) {
    size_t size = 0;
    unsigned char* bytes = bench_unpack(file->path, &size);
    sap_device* device = bench_device(1, SAP_SIMD_AUTO, NULL);
    sap_point_set* set = NULL;
    if (bytes) sap_points_parse(device, bytes, size, SAP_FORMAT_PLY, 0, &set);
    free(bytes);
    if (!set || set->real_bits != 32 || set->dims != 3 || set->count == 0) {
        bench_report_note(run->report, "mesh %s: skipped, it could not be read", file->name);
    } else {
        size_t floats = (size_t)set->count * 3;
        float* points = bench_memory(floats, sizeof(float));
        memcpy(points, set->coords, floats * sizeof(float));
        bench_shuffle(points, set->count, 3, 93);
        float* queries = bench_memory(floats, sizeof(float));
        memcpy(queries, points, floats * sizeof(float));
        bench_shuffle(queries, set->count, 3, 94);
        bench_work work;
        bench_work_open(&work, points, set->count, queries, set->count, 3, false);
        char text[96];
        snprintf(text, sizeof text, "mesh %.40s, rebuild", file->name);
        bench_rebuild_row(run, &work, "mesh-rebuild", text, 0);
        snprintf(text, sizeof text, "mesh %.40s, k = 8", file->name);
        bench_nearest_row(run, &work, "mesh-k8", text, 8, 0);
        bench_work_close(&work);
    }
    sap_point_set_free(set);
    sap_device_close(device);
}

void bench_real_group(bench_run* run) {
    if (!bench_wanted(run, "lidar") && !bench_wanted(run, "mesh")) return;
    const char* folder = run->options->data;
    if (!folder) {
        bench_report_note(run->report, "real clouds: skipped, no --data FOLDER was given");
        return;
    }
    char path[1024];
    if (bench_wanted(run, "lidar") &&
        (size_t)snprintf(path, sizeof path, "%s/points/autzen_10653336_i32_planar.raw.xz", folder) < sizeof path) {
        lidar_rows(run, path);
    }
    if (!bench_wanted(run, "mesh")) return;
    bench_report_note(run->report, "mesh: the shuffled vertices of a scanned surface ask for one another");
    bench_folder meshes = bench_mesh_files(folder);
    if (meshes.count == 0) bench_report_note(run->report, "meshes: skipped, no PLY files in %s/meshes", folder);
    for (int i = 0; i < meshes.count; i++) mesh_rows(run, &meshes.files[i]);
    free(meshes.files);
}
