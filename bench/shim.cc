/* The one C++ file: it hands C functions to Google Benchmark and collects the samples. */
#include "bench/shim.h"

#include <map>
#include <string>
#include <vector>

#include <benchmark/benchmark.h>

namespace {

/* Keeps the samples and prints nothing: the table at the end is the bench's own. */
class Collector : public benchmark::BenchmarkReporter {
  public:
    std::map<std::string, std::vector<double>> samples;

    bool ReportContext(const Context &) override { return true; }

    void ReportRuns(const std::vector<Run> &runs) override {
        for (const Run &run : runs)
            if (run.run_type == Run::RT_Iteration && run.iterations > 0)
                samples[run.run_name.function_name].push_back(run.real_accumulated_time /
                                                              static_cast<double>(run.iterations));
    }
};

void sample(benchmark::State &state, const bench *b, void (*tick)()) {
    tick();
    if (!b->cold)
        b->run(b->context);
    for (auto _ : state)
        b->run(b->context);
}

/* Whether there are as many as were asked for. */
bool keep(bench *b, const std::vector<double> &seconds) {
    for (double s : seconds)
        if (b->count < b->room)
            b->samples[b->count++] = s;
    return seconds.size() == static_cast<size_t>(b->repeats);
}

void initialize() {
    char program[] = "bench", interleave[] = "--benchmark_enable_random_interleaving=true";
    char *argv[] = {program, interleave, nullptr};
    int argc = 2;
    benchmark::Initialize(&argc, argv);
}

} // namespace

int shim_run(bench *const *list, size_t count, double seconds, void (*tick)(void)) {
    Collector collector;
    bool complete = true;
    initialize();
    benchmark::ClearRegisteredBenchmarks();
    for (size_t i = 0; i < count; i++)
        benchmark::RegisterBenchmark(list[i]->name, sample, list[i], tick)
            ->Repetitions(list[i]->repeats)
            ->MinTime(seconds)
            ->UseRealTime();
    benchmark::RunSpecifiedBenchmarks(&collector);
    for (size_t i = 0; i < count; i++)
        complete = keep(list[i], collector.samples[list[i]->name]) && complete;
    return complete ? 0 : -1;
}
