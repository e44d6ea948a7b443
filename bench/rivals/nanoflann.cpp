// nanoflann: static dimensions, L2_Simple, leaves of 10, 32-bit ids.
#include "rival.h"

#include <memory>
#include <nanoflann.hpp>
#include <new>
#include <vector>

namespace {

template <int Dims> struct Cloud {
    const float* coords;
    size_t points;
    size_t kdtree_get_point_count() const { return points; }
    float kdtree_get_pt(size_t point, size_t axis) const { return coords[point * Dims + axis]; }
    template <class Box> bool kdtree_get_bbox(Box&) const { return false; }
};

// A result set that only counts: the cheapest radius search nanoflann can do.
struct Counter {
    using DistanceType = float;
    using IndexType = uint32_t;
    float limit2;
    size_t hits = 0;
    explicit Counter(float limit) : limit2(limit) {}
    bool addPoint(float distance2, uint32_t) {
        if (distance2 < limit2) ++hits;
        return true;
    }
    float worstDist() const { return limit2; }
    bool full() const { return true; }
    size_t size() const { return hits; }
};

struct Collector {
    using DistanceType = float;
    using IndexType = uint32_t;
    float limit2;
    std::vector<uint32_t>& ids;
    bool addPoint(float distance2, uint32_t id) {
        if (distance2 < limit2) ids.push_back(id);
        return true;
    }
    float worstDist() const { return limit2; }
    bool full() const { return true; }
    size_t size() const { return ids.size(); }
};

struct Index {
    virtual ~Index() = default;
    virtual void rebuild() = 0;
    virtual void nearest(const float* queries, size_t count, int k, uint32_t* ids) const = 0;
    virtual uint64_t count(const float* queries, size_t count, float radius) const = 0;
    virtual uint64_t collect(const float* queries, size_t count, float radius) const = 0;
};

template <int Dims> struct TreeIndex final : Index {
    using Metric = nanoflann::L2_Simple_Adaptor<float, Cloud<Dims>>;
    using Tree = nanoflann::KDTreeSingleIndexAdaptor<Metric, Cloud<Dims>, Dims, uint32_t>;
    Cloud<Dims> cloud;
    Tree tree;

    TreeIndex(const float* points, size_t count)
        : cloud{points, count}, tree(Dims, cloud, nanoflann::KDTreeSingleIndexAdaptorParams(10)) {}
    void rebuild() override { tree.buildIndex(); }
    void nearest(const float* queries, size_t count, int k, uint32_t* ids) const override {
        std::vector<float> distances2(static_cast<size_t>(k));
        for (size_t i = 0; i < count; i++) {
            tree.knnSearch(queries + i * Dims, static_cast<size_t>(k), ids + i * static_cast<size_t>(k),
                           distances2.data());
        }
    }
    uint64_t count(const float* queries, size_t count, float radius) const override {
        uint64_t hits = 0;
        for (size_t i = 0; i < count; i++) {
            Counter counter(radius * radius);
            tree.findNeighbors(counter, queries + i * Dims, nanoflann::SearchParams());
            hits += counter.hits;
        }
        return hits;
    }
    uint64_t collect(const float* queries, size_t count, float radius) const override {
        uint64_t hits = 0;
        std::vector<uint32_t> ids;
        ids.reserve(4096);
        for (size_t i = 0; i < count; i++) {
            ids.clear();
            Collector collector{radius * radius, ids};
            tree.findNeighbors(collector, queries + i * Dims, nanoflann::SearchParams());
            hits += ids.size();
        }
        return hits;
    }
};

void* build(const float* points, size_t count, int dims) try {
    if (dims == 3) return static_cast<Index*>(new TreeIndex<3>(points, count));
    if (dims == 4) return static_cast<Index*>(new TreeIndex<4>(points, count));
    return nullptr;
} catch (const std::bad_alloc&) { return nullptr; }

void rebuild(void* index) { static_cast<Index*>(index)->rebuild(); }

void nearest(const void* index, const float* queries, size_t count, int k, uint32_t* ids) {
    static_cast<const Index*>(index)->nearest(queries, count, k, ids);
}

uint64_t count(const void* index, const float* queries, size_t queries_count, float radius) {
    return static_cast<const Index*>(index)->count(queries, queries_count, radius);
}

uint64_t collect(const void* index, const float* queries, size_t queries_count, float radius) {
    return static_cast<const Index*>(index)->collect(queries, queries_count, radius);
}

void release(void* index) { delete static_cast<Index*>(index); }

} // namespace

extern "C" const bench_rival bench_nanoflann = {"nanoflann", build, rebuild, nearest, count, collect, release};
