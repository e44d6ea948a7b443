// CGAL: Kd_tree with sliding midpoints, extended nodes and cached points, searched through a property map of ids.
#include "rival.h"

#include <CGAL/Fuzzy_iso_box.h>
#include <CGAL/Fuzzy_sphere.h>
#include <CGAL/Kd_tree.h>
#include <CGAL/Orthogonal_k_neighbor_search.h>
#include <CGAL/Search_traits_3.h>
#include <CGAL/Search_traits_adapter.h>
#include <CGAL/Simple_cartesian.h>
#include <iterator>
#include <new>
#include <vector>

namespace {

using Kernel = CGAL::Simple_cartesian<float>;
using Point = Kernel::Point_3;
using PointTraits = CGAL::Search_traits_3<Kernel>;

struct PointOfId {
    using value_type = Point;
    using reference = const Point&;
    using key_type = uint32_t;
    using category = boost::lvalue_property_map_tag;
    const Point* points = nullptr;
    const Point& operator[](uint32_t id) const { return points[id]; }
    friend const Point& get(const PointOfId& map, uint32_t id) { return map.points[id]; }
};

using Traits = CGAL::Search_traits_adapter<uint32_t, PointOfId, PointTraits>;
using Distance = CGAL::Distance_adapter<uint32_t, PointOfId, CGAL::Euclidean_distance<PointTraits>>;
using Splitter = CGAL::Sliding_midpoint<Traits>;
using Tree = CGAL::Kd_tree<Traits, Splitter, CGAL::Tag_true, CGAL::Tag_true>;
using Search = CGAL::Orthogonal_k_neighbor_search<Traits, Distance, Splitter, Tree>;
using Ball = CGAL::Fuzzy_sphere<Traits>;
using Box = CGAL::Fuzzy_iso_box<Traits>;

Point point_at(const float* coords) { return {coords[0], coords[1], coords[2]}; }

std::vector<Point> points_of(const float* coords, size_t count) {
    std::vector<Point> points;
    points.reserve(count);
    for (size_t i = 0; i < count; i++) points.push_back(point_at(coords + 3 * i));
    return points;
}

std::vector<uint32_t> ids_below(size_t count) {
    std::vector<uint32_t> ids(count);
    for (size_t i = 0; i < count; i++) ids[i] = static_cast<uint32_t>(i);
    return ids;
}

struct Index {
    std::vector<Point> points;
    std::vector<uint32_t> ids;
    PointOfId map;
    Traits traits;
    Distance distance;
    Tree tree;
    Index(const float* coords, size_t count)
        : points(points_of(coords, count)), ids(ids_below(count)), map{points.data()}, traits(map), distance(map),
          tree(ids.begin(), ids.end(), Splitter(), traits) {
        tree.build();
    }
};

void* build(const float* points, size_t count, int dims) try {
    return dims == 3 ? new Index(points, count) : nullptr;
} catch (const std::bad_alloc&) { return nullptr; }

void nearest(const void* index, const float* queries, size_t count, int k, uint32_t* ids) {
    const Index& self = *static_cast<const Index*>(index);
    for (size_t i = 0; i < count; i++) {
        const Search search(self.tree, point_at(queries + 3 * i), static_cast<unsigned>(k), 0, true, self.distance,
                            false);
        for (const auto& found : search) *ids++ = found.first;
    }
}

uint64_t collect(const void* index, const float* queries, size_t count, float radius) {
    const Index& self = *static_cast<const Index*>(index);
    std::vector<uint32_t> ids;
    uint64_t hits = 0;
    for (size_t i = 0; i < count; i++) {
        ids.clear();
        self.tree.search(std::back_inserter(ids), Ball(point_at(queries + 3 * i), radius, 0, self.traits));
        hits += ids.size();
    }
    return hits;
}

uint64_t box_collect(const void* index, const float* lower, const float* upper, size_t count) {
    const Index& self = *static_cast<const Index*>(index);
    std::vector<uint32_t> ids;
    uint64_t hits = 0;
    for (size_t i = 0; i < count; i++) {
        ids.clear();
        self.tree.search(std::back_inserter(ids),
                         Box(point_at(lower + 3 * i), point_at(upper + 3 * i), 0, self.traits));
        hits += ids.size();
    }
    return hits;
}

void release(void* index) { delete static_cast<Index*>(index); }

} // namespace

extern "C" const bench_rival bench_cgal = {"CGAL",  build,   nullptr,     nearest, nullptr,
                                           collect, nullptr, box_collect, release};
