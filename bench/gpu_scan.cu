// What a folder of data holds. A mesh by its name. A scan: every tenth point of the airborne one, with a million others
// asking; else the largest cloud that can be read, its own points asking. What xz compressed is unpacked by the xz
// program.
#include "gpu.cuh"

#include <cmath>
#include <dirent.h>
#include <string>
#include <vector>

static const char airborne[] = "autzen_10653336_i32_planar.raw.xz";

static bool ends_in(const std::string& text, const char* end) {
    size_t length = strlen(end);
    return text.size() >= length && !text.compare(text.size() - length, length, end);
}

std::vector<char> gpu_read_bytes(const std::string& path) {
    std::vector<char> bytes;
    bool packed = ends_in(path, ".xz");
    if (path.find('\'') != std::string::npos) return bytes; // no name for a shell
    FILE* file = packed ? popen(("xz -dc -- '" + path + "' 2>/dev/null").c_str(), "r") : fopen(path.c_str(), "rb");
    static char part[1 << 16];
    for (size_t got; file && (got = fread(part, 1, sizeof part, file)) > 0;)
        bytes.insert(bytes.end(), part, part + got);
    int failed = !file ? 1 : packed ? pclose(file) : fclose(file);
    if (failed) bytes.clear();
    return bytes;
}

static uint64_t next(uint64_t* state) {
    uint64_t x = *state += 0x9e3779b97f4a7c15u;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

// Scans are sorted by how they were taken; queries and points come in no order.
static void shuffle(std::vector<float>* coords, uint64_t seed) {
    for (size_t i = coords->size() / 3; i > 1; i--)
        for (size_t j = next(&seed) % i, a = 0; a < 3; a++) std::swap((*coords)[3 * i - 3 + a], (*coords)[3 * j + a]);
}

static bool read_airborne(const std::string& folder, gpu_cloud* points, gpu_cloud* queries) {
    enum { STEP = 10 };
    std::vector<char> bytes = gpu_read_bytes(folder + "/" + airborne);
    size_t count = bytes.size() / 12, kept = std::min<size_t>(count / STEP, 1000000);
    if (!kept) return false;
    const int32_t* planes = (const int32_t*)(const void*)bytes.data();
    std::vector<float> coords[2];
    for (size_t side = 0; side < 2; side++) {
        for (size_t i = 0; i < kept; i++)
            for (size_t a = 0; a < 3; a++)
                coords[side].push_back(0.01f * (float)planes[a * count + i * STEP + side * STEP / 2]);
        shuffle(&coords[side], side + 1);
    }
    *points = gpu_cloud_upload(coords[0].data(), (int64_t)kept, 3);
    *queries = gpu_cloud_upload(coords[1].data(), (int64_t)kept, 3);
    printf("scan: %zu points of %s, and as many others asking\n", kept, airborne);
    return true;
}

static std::vector<float> read_cloud(gpu_bench* b, const std::string& path) {
    std::vector<float> coords;
    std::string name = ends_in(path, ".xz") ? path.substr(0, path.size() - 3) : path;
    sap_format format = sap_format_of(name.c_str());
    std::vector<char> bytes = format == SAP_FORMAT_AUTO ? std::vector<char>() : gpu_read_bytes(path);
    sap_point_set* set = NULL;
    if (bytes.empty() || sap_points_parse(b->host, bytes.data(), bytes.size(), format, 32, &set) != SAP_OK)
        return coords;
    if (set->dims == 3) coords.assign(set->coords, set->coords + set->count * 3);
    sap_point_set_free(set);
    return coords;
}

static void read_largest(gpu_bench* b, const std::string& folder, std::vector<float>* largest, std::string* from) {
    DIR* entries = opendir(folder.c_str());
    for (struct dirent* entry; entries && (entry = readdir(entries));) {
        std::string path = folder + "/" + entry->d_name;
        std::vector<float> coords = read_cloud(b, path);
        if (coords.size() <= largest->size()) continue;
        largest->swap(coords);
        *from = path;
    }
    if (entries) closedir(entries);
}

bool gpu_scan_read(gpu_bench* b, gpu_cloud* points, gpu_cloud* queries) {
    if (!b->data) return false;
    std::string folder = b->data, from;
    if (read_airborne(folder, points, queries) || read_airborne(folder + "/points", points, queries)) return true;
    std::vector<float> largest;
    for (const char* inner : {"", "/meshes", "/points"}) read_largest(b, folder + inner, &largest, &from);
    if (largest.empty()) {
        fprintf(stderr, "gpu: %s holds no point cloud that can be read\n", b->data);
        return false;
    }
    int64_t count = (int64_t)largest.size() / 3;
    shuffle(&largest, 1);
    *points = gpu_cloud_upload(largest.data(), count, 3);
    shuffle(&largest, 2);
    *queries = gpu_cloud_upload(largest.data(), count, 3);
    printf("scan: %lld points of %s, asking for their own neighbours\n", (long long)count, from.c_str());
    return true;
}

sap_mesh_file* gpu_mesh_read(gpu_bench* b, const char* name) {
    sap_mesh_file* mesh = NULL;
    for (const char* inner : {"", "/meshes"})
        for (const char* end : {".ply", ".ply.xz"}) {
            if (mesh || !b->data) continue;
            std::vector<char> bytes = gpu_read_bytes(std::string(b->data) + inner + "/" + name + end);
            if (!bytes.empty())
                GPU_SAP(sap_mesh_parse(b->host, bytes.data(), bytes.size(), SAP_FORMAT_PLY, NULL, &mesh));
        }
    return mesh;
}

sap_mesh gpu_torus(int side, std::vector<float>* vertices, std::vector<int32_t>* triangles) {
    for (int i = 0; i < side; i++)
        for (int j = 0; j < side; j++) {
            const double turn = 6.283185307179586 / side, a = i * turn, b = j * turn;
            const double tube = 1 + 0.1 * sin(9 * a) * cos(7 * b), ring = 2.2 + tube * cos(b);
            const int at = i * side + j, over = (i + 1) % side * side + j, up = i * side + (j + 1) % side,
                      both = (i + 1) % side * side + (j + 1) % side;
            for (double x : {ring * cos(a), tube * sin(b), ring * sin(a)}) vertices->push_back((float)x);
            for (int corner : {at, over, both, at, both, up}) triangles->push_back(corner);
        }
    return sap_mesh{vertices->data(), (int64_t)side * side, triangles->data(), 2 * (int64_t)side * side};
}
