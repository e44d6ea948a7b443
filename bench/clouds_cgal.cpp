// CGAL's WLOP at the works of sapwood_clouds_bench: clouds_cgal POINTS.raw RADIUS PASSES, lines of key, seconds, found.
// Processor time of one thread, in double precision, as CGAL is used; trees are built within each work.
#include <CGAL/Simple_cartesian.h>
#include <CGAL/wlop_simplify_and_regularize_point_set.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <iterator>
#include <vector>

using Kernel = CGAL::Simple_cartesian<double>;
using Points = std::vector<Kernel::Point_3>;

static double cpu_seconds() {
    timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return double(now.tv_sec) + 1e-9 * double(now.tv_nsec);
}

static void measure(const char* key, const Points& given, double radius, bool by_density, int passes) {
    std::vector<double> samples;
    Points made;
    for (int i = 0; i <= passes; i++) { // the first warms up
        Points points(given);           // which CGAL shuffles
        made.clear();
        const double start = cpu_seconds();
        CGAL::wlop_simplify_and_regularize_point_set<CGAL::Sequential_tag>(points, std::back_inserter(made),
                                                                           CGAL::parameters::select_percentage(5)
                                                                               .neighbor_radius(radius)
                                                                               .number_of_iterations(35)
                                                                               .require_uniform_sampling(by_density));
        if (i) samples.push_back(cpu_seconds() - start);
    }
    std::sort(samples.begin(), samples.end());
    std::printf("%s %.6f %zu\n", key, samples[samples.size() / 2], made.size());
}

int main(int argc, char** argv) {
    if (argc != 4) return 2;
    std::FILE* file = std::fopen(argv[1], "rb");
    if (!file) return 1;
    Points points;
    float at[3];
    while (std::fread(at, sizeof(float), 3, file) == 3) points.emplace_back(at[0], at[1], at[2]);
    std::fclose(file);
    const double radius = std::atof(argv[2]);
    const int passes = std::atoi(argv[3]);
    measure("project", points, radius, false, passes);
    measure("project-density", points, radius, true, passes);
    return 0;
}
