// nanoflann and Eigen at the works of sapwood_clouds_bench: clouds_nanoflann POINTS.raw SPACING PASSES, lines of key, seconds,
// found. Processor time of one thread; trees are built within each work.
#include <Eigen/Eigenvalues>
#include <nanoflann.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <functional>
#include <vector>

struct Cloud {
    std::vector<float> coords;
    size_t kdtree_get_point_count() const { return coords.size() / 3; }
    float kdtree_get_pt(size_t i, size_t axis) const { return coords[3 * i + axis]; }
    template <class Box> bool kdtree_get_bbox(Box&) const { return false; }
    const float* at(size_t i) const { return &coords[3 * i]; }
};

using Tree = nanoflann::KDTreeSingleIndexAdaptor<nanoflann::L2_Simple_Adaptor<float, Cloud>, Cloud, 3, uint32_t>;

static double cpu_seconds() {
    timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return double(now.tv_sec) + 1e-9 * double(now.tv_nsec);
}

static Eigen::Vector3d difference(const Cloud& cloud, uint32_t to, size_t from) {
    return {double(cloud.at(to)[0]) - double(cloud.at(from)[0]), double(cloud.at(to)[1]) - double(cloud.at(from)[1]),
            double(cloud.at(to)[2]) - double(cloud.at(from)[2])};
}

enum { K = 16 };

static double normals(const Cloud& cloud) {
    const Tree tree(3, cloud, nanoflann::KDTreeSingleIndexAdaptorParams(10));
    static std::vector<float> made;
    const size_t n = cloud.kdtree_get_point_count();
    double sum = 0;
    made.resize(4 * n);
    for (size_t i = 0; i < n; i++) {
        uint32_t ids[K];
        float distance2[K];
        const size_t found = tree.knnSearch(cloud.at(i), K, ids, distance2);
        Eigen::Vector3d mean = Eigen::Vector3d::Zero();
        Eigen::Matrix3d squares = Eigen::Matrix3d::Zero();
        for (size_t j = 0; j < found; j++) {
            const Eigen::Vector3d d = difference(cloud, ids[j], i);
            mean += d;
            squares += d * d.transpose();
        }
        mean /= double(found);
        Eigen::SelfAdjointEigenSolver<Eigen::Matrix3d> axes;
        axes.computeDirect(squares / double(found) - mean * mean.transpose());
        for (int a = 0; a < 3; a++) made[4 * i + size_t(a)] = float(axes.eigenvectors()(a, 0));
        made[4 * i + 3] = float(std::max(0.0, axes.eigenvalues()[0]) / axes.eigenvalues().sum());
        sum += double(made[4 * i + 3]);
    }
    return sum;
}

// The steps of sap_cloud_relax, points staying where they come to.
static double relax(const Cloud& given, int steps, Cloud* end) {
    Cloud cloud = given, moved = given;
    const size_t n = cloud.kdtree_get_point_count();
    for (int s = 0; s < steps; s++) {
        const Tree tree(3, cloud, nanoflann::KDTreeSingleIndexAdaptorParams(10));
        for (size_t i = 0; i < n; i++) {
            uint32_t ids[K];
            float distance2[K];
            const size_t found = tree.knnSearch(cloud.at(i), K, ids, distance2);
            const double range2 = double(distance2[found - 1]), range = std::sqrt(range2);
            Eigen::Vector3d mean = Eigen::Vector3d::Zero(), push = Eigen::Vector3d::Zero();
            Eigen::Matrix3d squares = Eigen::Matrix3d::Zero();
            double weight = 0;
            for (size_t j = 0; j < found; j++) {
                const Eigen::Vector3d d = difference(cloud, ids[j], i);
                const double part = 1 - double(distance2[j]) / range2, w = part * part;
                weight += w;
                mean += w * d;
                squares += w * d * d.transpose();
                if (distance2[j] > 0) push += (1 / std::sqrt(double(distance2[j])) - 1 / range) * d;
            }
            mean /= weight;
            Eigen::SelfAdjointEigenSolver<Eigen::Matrix3d> axes;
            axes.computeDirect(squares / weight - mean * mean.transpose());
            Eigen::Vector3d move = -range / double(2 * (found - 1)) * push;
            move -= move.dot(axes.eigenvectors().col(0)) * axes.eigenvectors().col(0);
            for (int a = 0; a < 3; a++) moved.coords[3 * i + size_t(a)] = float(double(cloud.at(i)[a]) + move[a]);
        }
        std::swap(cloud, moved);
    }
    *end = cloud;
    return double(end->coords[0]);
}

static double distance(const Cloud& cloud, const Cloud& other) {
    const Tree tree(3, cloud, nanoflann::KDTreeSingleIndexAdaptorParams(10));
    const size_t n = other.kdtree_get_point_count();
    double sum = 0;
    for (size_t i = 0; i < n; i++) {
        uint32_t id;
        float distance2;
        tree.knnSearch(other.at(i), 1, &id, &distance2);
        sum += std::sqrt(double(distance2));
    }
    return sum / double(n);
}

static double gather(const Cloud& cloud, double radius) {
    const Tree tree(3, cloud, nanoflann::KDTreeSingleIndexAdaptorParams(10));
    static std::vector<double> sums;
    std::vector<std::pair<uint32_t, float>> found;
    const nanoflann::SearchParams unsorted(32, 0, false);
    sums.assign(cloud.kdtree_get_point_count(), 0);
    for (size_t i = 0; i < sums.size(); i++) {
        tree.radiusSearch(cloud.at(i), float(radius * radius), found, unsorted);
        for (const auto& other : found) {
            const double part = 1 - double(other.second) / (radius * radius);
            sums[i] += part * part;
        }
    }
    return sums[0];
}

static void time_work(const char* key, int passes, const std::function<double()>& work) {
    std::vector<double> samples;
    double found = work();
    for (int i = 0; i < passes; i++) {
        const double start = cpu_seconds();
        found = work();
        samples.push_back(cpu_seconds() - start);
    }
    std::sort(samples.begin(), samples.end());
    std::printf("%s %.6f %.9g\n", key, samples[samples.size() / 2], found);
    std::fflush(stdout);
}

int main(int argc, char** argv) {
    if (argc != 4) {
        std::fprintf(stderr, "usage: clouds_nanoflann POINTS.raw SPACING PASSES\n");
        return 2;
    }
    Cloud cloud, moved;
    FILE* file = std::fopen(argv[1], "rb");
    float row[3];
    while (file && std::fread(row, sizeof row, 1, file) == 1) cloud.coords.insert(cloud.coords.end(), row, row + 3);
    if (file) std::fclose(file);
    const double spacing = std::atof(argv[2]);
    const int passes = std::atoi(argv[3]);
    time_work("normals-k16", passes, [&] { return normals(cloud); });
    time_work("gather", passes, [&] { return gather(cloud, 5 * spacing); });
    time_work("relax-10", 1, [&] { return relax(cloud, 10, &moved); });
    time_work("distance", passes, [&] { return distance(cloud, moved); });
    return 0;
}
