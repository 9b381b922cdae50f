// nanoflann on the same files, one thread: bench_neighbors.py compiles and calls it.
//   peer_nanoflann POINTS QUERIES COLUMNS K REPEATS     raw f64; build, queries, sum of distances
#include <nanoflann.hpp>

#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <vector>

struct cloud {
    std::vector<double> values;
    size_t columns;
    size_t kdtree_get_point_count() const { return values.size() / columns; }
    double kdtree_get_pt(size_t row, size_t column) const { return values[row * columns + column]; }
    template <class B> bool kdtree_get_bbox(B &) const { return false; }
};

static std::vector<double> read_all(const char *path) {
    std::ifstream file(path, std::ios::binary | std::ios::ate);
    std::vector<double> values(static_cast<size_t>(file.tellg()) / 8);
    file.seekg(0);
    file.read(reinterpret_cast<char *>(values.data()), static_cast<std::streamsize>(values.size() * 8));
    return values;
}

static double now() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

template <int D> static void run(const cloud &points, const std::vector<double> &queries, size_t k) {
    using tree = nanoflann::KDTreeSingleIndexAdaptor<nanoflann::L2_Simple_Adaptor<double, cloud>, cloud, D>;
    const double start = now();
    tree index(static_cast<int>(points.columns), points, nanoflann::KDTreeSingleIndexAdaptorParams(10));
    index.buildIndex();
    const double built = now();
    const size_t count = queries.size() / points.columns;
    std::vector<unsigned> rows(count * k);
    std::vector<double> squares(count * k);
    const double ready = now();
    for (size_t i = 0; i < count; i++)
        index.knnSearch(&queries[i * points.columns], k, &rows[i * k], &squares[i * k]);
    const double end = now();
    double sum = 0;
    for (double square : squares)
        sum += std::sqrt(square);
    std::printf("%.6f %.6f %.9g\n", built - start, end - ready, sum);
}

int main(int count, char **words) {
    if (count != 6) return 1;
    cloud points{read_all(words[1]), static_cast<size_t>(std::atoi(words[3]))};
    const std::vector<double> queries = read_all(words[2]);
    const size_t k = static_cast<size_t>(std::atoi(words[4]));
    for (int repeat = 0; repeat < std::atoi(words[5]); repeat++) {
        if (points.columns == 2) run<2>(points, queries, k);
        else if (points.columns == 3) run<3>(points, queries, k);
        else if (points.columns == 8) run<8>(points, queries, k);
        else run<-1>(points, queries, k);
    }
}
