// Real clouds from a folder: airborne LiDAR and the vertices of scanned meshes, compressed by xz.
#include "bench.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static const char SUFFIX[] = ".ply.xz";

// The bytes of an .xz file, unpacked by the xz program, or NULL.
static unsigned char* unpack(const char* path, size_t* size) {
    int ends[2];
    fflush(stdout);
    pid_t child = pipe(ends) == 0 ? fork() : -1;
    if (child < 0) return NULL;
    if (child == 0) {
        dup2(ends[1], STDOUT_FILENO);
        close(ends[0]);
        close(ends[1]);
        execlp("xz", "xz", "-dc", "--", path, (char*)NULL);
        _exit(127);
    }
    close(ends[1]);
    size_t room = (size_t)1 << 20;
    unsigned char* bytes = bench_memory(room, 1);
    *size = 0;
    for (ssize_t got; (got = read(ends[0], bytes + *size, room - *size)) > 0;) {
        *size += (size_t)got;
        if (*size < room) continue;
        unsigned char* larger = bench_memory(room, 2);
        memcpy(larger, bytes, *size);
        free(bytes);
        bytes = larger;
        room *= 2;
    }
    close(ends[0]);
    int status = -1;
    waitpid(child, &status, 0);
    if (status == 0 && *size > 0) return bytes;
    free(bytes);
    return NULL;
}

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
    unsigned char* bytes = unpack(path, &size);
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

static void mesh_rows(bench_run* run, const char* path, const char* name) {
    size_t size = 0;
    unsigned char* bytes = unpack(path, &size);
    sap_device* device = bench_device(1, SAP_SIMD_AUTO, NULL);
    sap_point_set* set = NULL;
    if (bytes) sap_points_parse(device, bytes, size, SAP_FORMAT_PLY, 0, &set);
    free(bytes);
    if (!set || set->real_bits != 32 || set->dims != 3 || set->count == 0) {
        bench_report_note(run->report, "mesh %s: skipped, it could not be read", name);
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
        int length = (int)(strlen(name) - strlen(SUFFIX));
        snprintf(text, sizeof text, "mesh %.*s, rebuild", length < 40 ? length : 40, name);
        bench_rebuild_row(run, &work, "mesh-rebuild", text, 0);
        snprintf(text, sizeof text, "mesh %.*s, k = 8", length < 40 ? length : 40, name);
        bench_nearest_row(run, &work, "mesh-k8", text, 8, 0);
        bench_work_close(&work);
    }
    sap_point_set_free(set);
    sap_device_close(device);
}

static int is_packed_ply(const struct dirent* entry) {
    size_t length = strlen(entry->d_name);
    return length >= sizeof SUFFIX && strcmp(entry->d_name + length + 1 - sizeof SUFFIX, SUFFIX) == 0;
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
    struct dirent** entries = NULL;
    bench_report_note(run->report, "mesh: the shuffled vertices of a scanned surface ask for one another");
    int found = (size_t)snprintf(path, sizeof path, "%s/meshes", folder) < sizeof path
                    ? scandir(path, &entries, is_packed_ply, alphasort)
                    : -1;
    if (found <= 0) bench_report_note(run->report, "meshes: skipped, %s/meshes has no .ply.xz files", folder);
    for (int i = 0; i < found; i++) {
        if ((size_t)snprintf(path, sizeof path, "%s/meshes/%s", folder, entries[i]->d_name) < sizeof path) {
            mesh_rows(run, path, entries[i]->d_name);
        }
        free(entries[i]);
    }
    free(entries);
}
