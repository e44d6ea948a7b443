// scan_surface VOLUME X Y Z DX DY DZ LEVEL OUT.npy
//
// Makes a point cloud of a scanned volume (int16, little endian, x fastest, X*Y*Z voxels of DX*DY*DZ units): one point
// wherever a line between two neighbouring voxels passes LEVEL, put there by linear interpolation.
#include <errno.h>
#include <sapwood/sapwood.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct volume {
    unsigned char* bytes;
    int64_t size[3];
    double spacing[3];
} volume;

static double voxel(const volume* v, int64_t at) {
    int value = v->bytes[2 * at] | v->bytes[2 * at + 1] << 8;
    return value < 32768 ? value : value - 65536;
}

// Counts the crossings, and stores them unless points is NULL.
static int64_t crossings(const volume* v, double level, float* points) {
    const int64_t step[3] = {1, v->size[0], v->size[0] * v->size[1]};
    int64_t found = 0, place[3];
    for (place[2] = 0; place[2] < v->size[2]; place[2]++) {
        for (place[1] = 0; place[1] < v->size[1]; place[1]++) {
            for (place[0] = 0; place[0] < v->size[0]; place[0]++) {
                int64_t at = place[0] + place[1] * step[1] + place[2] * step[2];
                double here = voxel(v, at);
                for (int axis = 0; axis < 3; axis++) {
                    if (place[axis] + 1 == v->size[axis]) continue;
                    double there = voxel(v, at + step[axis]);
                    if ((here < level) == (there < level)) continue;
                    for (int a = 0; points && a < 3; a++) {
                        double on = (double)place[a] + (a == axis ? (level - here) / (there - here) : 0);
                        points[3 * found + a] = (float)(on * v->spacing[a]);
                    }
                    found++;
                }
            }
        }
    }
    return found;
}

static bool read_volume(const char* path, volume* v) {
    int64_t voxels = 1;
    for (int a = 0; a < 3; a++) {
        if (v->size[a] < 1 || v->size[a] > 4096) return false;
        voxels *= v->size[a];
    }
    FILE* file = fopen(path, "rb");
    v->bytes = malloc((size_t)voxels * 2);
    bool whole = file && v->bytes && fread(v->bytes, 2, (size_t)voxels, file) == (size_t)voxels;
    if (file) fclose(file);
    return whole;
}

int main(int argc, char** argv) {
    if (argc != 10) {
        fprintf(stderr, "usage: scan_surface VOLUME X Y Z DX DY DZ LEVEL OUT.npy\n");
        return 2;
    }
    volume v = {0};
    for (int a = 0; a < 3; a++) {
        v.size[a] = strtoll(argv[2 + a], NULL, 10);
        v.spacing[a] = strtod(argv[5 + a], NULL);
    }
    double level = strtod(argv[8], NULL);
    float* points = NULL;
    sap_device* device = NULL;
    int failed = 1;
    if (!read_volume(argv[1], &v)) {
        fprintf(stderr, "scan_surface: cannot read %s as such a volume: %s\n", argv[1], strerror(errno));
        goto done;
    }
    int64_t count = crossings(&v, level, NULL);
    points = malloc((size_t)(count > 0 ? count : 1) * 3 * sizeof *points);
    if (!points || sap_device_open(NULL, &device) != SAP_OK) {
        fprintf(stderr, "scan_surface: out of memory\n");
        goto done;
    }
    crossings(&v, level, points);
    sap_table table = {.values = points, .rows = count, .columns = 3, .number = SAP_FLOAT32};
    sap_status status = sap_table_write(device, argv[9], SAP_FORMAT_NPY, table);
    if (status != SAP_OK) fprintf(stderr, "scan_surface: %s: %s\n", argv[9], sap_status_string(status));
    failed = status != SAP_OK;
done:
    sap_device_close(device);
    free(points);
    free(v.bytes);
    return failed;
}
