// nanoflann: static dimensions, L2_Simple, leaves of 10, 32-bit ids. Searches of boxes came after Debian 12's nanoflann:
// SAPWOOD_NANOFLANN_INCLUDE names the folder of a newer one.
#include "rival.h"

#include <memory>
#include <nanoflann.hpp>
#include <new>
#include <vector>

// Versions had other numbers before.
#define FINDS_BOXES (NANOFLANN_VERSION >= 0x010000)

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
    void sort() const {}
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
    void sort() const {}
};

struct Index {
    virtual ~Index() = default;
    virtual void rebuild() = 0;
    virtual void nearest(const float* queries, size_t count, int k, uint32_t* ids) const = 0;
    virtual uint64_t count(const float* queries, size_t count, float radius) const = 0;
    virtual uint64_t collect(const float* queries, size_t count, float radius) const = 0;
#if FINDS_BOXES
    virtual uint64_t box_count(const float* lower, const float* upper, size_t count) const = 0;
    virtual uint64_t box_collect(const float* lower, const float* upper, size_t count) const = 0;
#endif
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
            tree.findNeighbors(counter, queries + i * Dims, {});
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
            tree.findNeighbors(collector, queries + i * Dims, {});
            hits += ids.size();
        }
        return hits;
    }
#if FINDS_BOXES
    typename Tree::BoundingBox box_of(const float* lower, const float* upper) const {
        typename Tree::BoundingBox box;
        for (size_t a = 0; a < Dims; a++) box[a] = {lower[a], upper[a]};
        return box;
    }
    uint64_t box_count(const float* lower, const float* upper, size_t count) const override {
        uint64_t hits = 0;
        for (size_t i = 0; i < count; i++) {
            Counter counter(1);
            hits += tree.findWithinBox(counter, box_of(lower + i * Dims, upper + i * Dims));
        }
        return hits;
    }
    uint64_t box_collect(const float* lower, const float* upper, size_t count) const override {
        uint64_t hits = 0;
        std::vector<uint32_t> ids;
        ids.reserve(4096);
        for (size_t i = 0; i < count; i++) {
            ids.clear();
            Collector collector{1, ids};
            hits += tree.findWithinBox(collector, box_of(lower + i * Dims, upper + i * Dims));
        }
        return hits;
    }
#endif
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

#if FINDS_BOXES
uint64_t box_count(const void* index, const float* lower, const float* upper, size_t boxes) {
    return static_cast<const Index*>(index)->box_count(lower, upper, boxes);
}

uint64_t box_collect(const void* index, const float* lower, const float* upper, size_t boxes) {
    return static_cast<const Index*>(index)->box_collect(lower, upper, boxes);
}
#else
constexpr auto box_count = nullptr, box_collect = nullptr;
#endif

void release(void* index) { delete static_cast<Index*>(index); }

// Points that come and go: the adaptor made of static trees. It cannot tell which points are left, so that is kept here.
struct MovingCloud {
    std::vector<float> coords;
    size_t kdtree_get_point_count() const { return coords.size() / 3; }
    float kdtree_get_pt(size_t point, size_t axis) const { return coords[point * 3 + axis]; }
    template <class Box> bool kdtree_get_bbox(Box&) const { return false; }
};

struct Moving {
    using Metric = nanoflann::L2_Simple_Adaptor<float, MovingCloud>;
    using Trees = nanoflann::KDTreeSingleIndexDynamicAdaptor<Metric, MovingCloud, 3, uint32_t>;
    MovingCloud cloud;
    Trees trees{3, cloud, nanoflann::KDTreeSingleIndexAdaptorParams(10)};
    std::vector<uint32_t> live;
};

void* moving_create() { return new Moving; }

void moving_insert(void* set, const float* points, size_t count) {
    auto& s = *static_cast<Moving*>(set);
    const uint32_t first = static_cast<uint32_t>(s.cloud.kdtree_get_point_count());
    s.cloud.coords.insert(s.cloud.coords.end(), points, points + count * 3);
    for (size_t i = 0; i < count; i++) s.live.push_back(first + static_cast<uint32_t>(i));
    s.trees.addPoints(first, first + static_cast<uint32_t>(count) - 1);
}

void moving_remove(void* set, const uint32_t* ids, size_t count) {
    for (size_t i = 0; i < count; i++) static_cast<Moving*>(set)->trees.removePoint(ids[i]);
}

void moving_keep_box(void* set, const float* lower, const float* upper) {
    auto& s = *static_cast<Moving*>(set);
    size_t kept = 0;
    for (uint32_t id : s.live) {
        const float* p = &s.cloud.coords[size_t{id} * 3];
        bool inside = true;
        for (int a = 0; a < 3; a++) inside = inside && lower[a] <= p[a] && p[a] <= upper[a];
        if (inside)
            s.live[kept++] = id;
        else
            s.trees.removePoint(id);
    }
    s.live.resize(kept);
}

void moving_nearest(const void* set, const float* queries, size_t count, int k, uint32_t* ids, float* distances2) {
    const auto& s = *static_cast<const Moving*>(set);
    for (size_t i = 0; i < count; i++) {
        nanoflann::KNNResultSet<float, uint32_t> found(static_cast<size_t>(k));
        found.init(ids + i * static_cast<size_t>(k), distances2 + i * static_cast<size_t>(k));
        s.trees.findNeighbors(found, queries + i * 3, nanoflann::SearchParams());
    }
}

void moving_release(void* set) { delete static_cast<Moving*>(set); }

} // namespace

extern "C" const bench_moving_rival bench_nanoflann_moving = {"nanoflann (dynamic)", moving_create,   moving_insert,
                                                              moving_remove,         moving_keep_box, moving_nearest,
                                                              moving_release};

extern "C" const bench_rival bench_nanoflann = {"nanoflann", build,     rebuild,     nearest, count,
                                                collect,     box_count, box_collect, release};
