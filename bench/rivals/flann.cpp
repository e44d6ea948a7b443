// FLANN: the exact single k-d tree, leaves of 10, points reordered, one core, batch calls.
#include "rival.h"

#include <flann/flann.hpp>
#include <new>
#include <vector>

namespace {

using Tree = flann::KDTreeSingleIndex<flann::L2_Simple<float>>;

struct Index {
    int dims;
    Tree tree;
    Index(const float* points, size_t count, int dims_)
        : dims(dims_), tree(flann::Matrix<float>(const_cast<float*>(points), count, static_cast<size_t>(dims_)),
                            flann::KDTreeSingleIndexParams(10, true)) {
        tree.buildIndex();
    }
    flann::Matrix<float> matrix(const float* queries, size_t count) const {
        return {const_cast<float*>(queries), count, static_cast<size_t>(dims)};
    }
};

flann::SearchParams exact(bool sorted) {
    flann::SearchParams parameters(flann::FLANN_CHECKS_UNLIMITED, 0, sorted);
    parameters.cores = 1;
    return parameters;
}

void* build(const float* points, size_t count, int dims) try {
    return new Index(points, count, dims);
} catch (const std::bad_alloc&) { return nullptr; }

void rebuild(void* index) { static_cast<Index*>(index)->tree.buildIndex(); }

void nearest(const void* index, const float* queries, size_t count, int k, uint32_t* ids) {
    const Index& self = *static_cast<const Index*>(index);
    std::vector<float> distances2(count * static_cast<size_t>(k));
    flann::Matrix<int> id_matrix(reinterpret_cast<int*>(ids), count, static_cast<size_t>(k));
    flann::Matrix<float> distance_matrix(distances2.data(), count, static_cast<size_t>(k));
    self.tree.knnSearch(self.matrix(queries, count), id_matrix, distance_matrix, static_cast<size_t>(k), exact(true));
}

uint64_t search(const void* index, const float* queries, size_t count, float radius, int most) {
    const Index& self = *static_cast<const Index*>(index);
    flann::SearchParams parameters = exact(false);
    parameters.max_neighbors = most;
    std::vector<std::vector<int>> ids;
    std::vector<std::vector<float>> distances2;
    uint64_t hits = 0;
    for (size_t i = 0; i < count; i++) {
        const float* query = queries + i * static_cast<size_t>(self.dims);
        hits += static_cast<uint64_t>(
            self.tree.radiusSearch(self.matrix(query, 1), ids, distances2, radius * radius, parameters));
    }
    return hits;
}

uint64_t count(const void* index, const float* queries, size_t queries_count, float radius) {
    return search(index, queries, queries_count, radius, 0);
}

uint64_t collect(const void* index, const float* queries, size_t queries_count, float radius) {
    return search(index, queries, queries_count, radius, -1);
}

void release(void* index) { delete static_cast<Index*>(index); }

} // namespace

extern "C" const bench_rival bench_flann = {"FLANN", build,   rebuild, nearest, count,
                                            collect, nullptr, nullptr, release};
