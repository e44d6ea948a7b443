// small_gicp at the works of sapwood_align_bench: align_small_gicp FOLDER DISTANCE PASSES, lines of key, median seconds of
// processor time, steps, degrees left. Trees, normals and covariances (16 neighbours) are made in each pass.
#include <small_gicp/ann/kdtree.hpp>
#include <small_gicp/factors/gicp_factor.hpp>
#include <small_gicp/factors/icp_factor.hpp>
#include <small_gicp/factors/plane_icp_factor.hpp>
#include <small_gicp/points/point_cloud.hpp>
#include <small_gicp/registration/reduction.hpp>
#include <small_gicp/registration/registration.hpp>
#include <small_gicp/util/normal_estimation.hpp>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <string>

using namespace small_gicp;
typedef std::vector<Eigen::Vector4f> Rows;

static double seconds() { return (double)clock() / CLOCKS_PER_SEC; }

static Rows read(const std::string& path) {
    std::ifstream file(path, std::ios::binary | std::ios::ate);
    Rows rows((size_t)file.tellg() / 12);
    file.seekg(0);
    for (auto& row : rows) {
        float p[3];
        file.read((char*)p, sizeof p);
        row = Eigen::Vector4f(p[0], p[1], p[2], 1);
    }
    return rows;
}

template <class Factor>
static RegistrationResult align(const PointCloud& target, const PointCloud& source, const KdTree<PointCloud>& tree,
                                double distance, bool to_end) {
    Registration<Factor, SerialReduction> r;
    r.rejector.max_dist_sq = distance * distance;
    r.optimizer.max_iterations = to_end ? 200 : 20;
    r.criteria.translation_eps = to_end ? 1e-5 * distance : 0;
    r.criteria.rotation_eps = to_end ? 1e-6 : 0;
    return r.align(target, source, tree);
}

int main(int argc, char** argv) {
    if (argc != 4) return 2;
    const std::string folder = argv[1];
    const Rows target_rows = read(folder + "/target.raw"), source_rows = read(folder + "/source.raw");
    const double distance = atof(argv[2]);
    const int passes = atoi(argv[3]);
    const char* const methods[] = {"point", "plane", "generalised"};
    for (int work = 0; work < 6; work++) {
        std::vector<double> samples;
        RegistrationResult found;
        for (int i = 0; i < passes; i++) {
            const double start = seconds();
            auto target = std::make_shared<PointCloud>(target_rows), source = std::make_shared<PointCloud>(source_rows);
            KdTree<PointCloud> tree(target);
            if (work / 2 == 1) estimate_normals(*target, tree, 16);
            if (work / 2 == 2) {
                KdTree<PointCloud> own(source);
                estimate_covariances(*target, tree, 16);
                estimate_covariances(*source, own, 16);
            }
            const bool to_end = work % 2 != 0;
            found = work / 2 == 0   ? align<ICPFactor>(*target, *source, tree, distance, to_end)
                    : work / 2 == 1 ? align<PointToPlaneICPFactor>(*target, *source, tree, distance, to_end)
                                    : align<GICPFactor>(*target, *source, tree, distance, to_end);
            samples.push_back(seconds() - start);
        }
        std::sort(samples.begin(), samples.end());
        const Eigen::Matrix3d made =
            Eigen::AngleAxisd(5 * M_PI / 180, Eigen::Vector3d(1, 2, 3).normalized()).toRotationMatrix();
        const Eigen::Matrix3d m = found.T_target_source.rotation() * made;
        const double sine = Eigen::Vector3d(m(2, 1) - m(1, 2), m(0, 2) - m(2, 0), m(1, 0) - m(0, 1)).norm() / 2;
        printf("%s-%s %.6f %d %.5f\n", methods[work / 2], work % 2 ? "end" : "20", samples[samples.size() / 2],
               (int)found.iterations + 1, asin(sine) * 180 / M_PI);
        fflush(stdout);
    }
}
