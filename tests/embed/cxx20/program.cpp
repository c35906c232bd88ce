// Softmax and attention from C++20.
#include <rootdk/rootdk.h>

#include <array>
#include <cstdio>
#include <vector>

namespace {

rdk_status weigh(const std::array<float, 3> &scores, std::array<float, 3> &weights) {
    const rdk_softmax_desc d{.size = sizeof d,
                             .isa = RDK_ISA_DEFAULT,
                             .mode = RDK_SOFTMAX,
                             .rows = 1,
                             .cols = 3,
                             .x = scores.data(),
                             .x_stride = 3,
                             .y = weights.data(),
                             .y_stride = 3,
                             .x_type = RDK_F32,
                             .y_type = RDK_F32,
                             .row_scale = nullptr,
                             .scale = 0.125f,
                             .bias_type = RDK_F32,
                             .bias = nullptr,
                             .bias_stride = 0,
                             .visible = nullptr,
                             .lse = nullptr};
    return rdk_softmax(&d);
}

// One query that sees two keys: both alike, so that the output is the mean of the values.
rdk_status attend(std::array<float, 2> &out) {
    const std::array<float, 2> q{1, 2};
    const std::array<float, 4> k{1, 1, 1, 1}, v{1, 2, 3, 6};
    rdk_attention_desc d{};
    d.size = sizeof d;
    d.batch = d.q_heads = d.kv_heads = d.q_len = 1;
    d.kv_len = d.d_qk = d.d_v = 2;
    d.q.data = q.data();
    d.k = {k.data(), 0, 0, 2, RDK_F32};
    d.v = {v.data(), 0, 0, 2, RDK_F32};
    d.out.data = out.data();
    rdk_status status = rdk_attention_scratch(&d, &d.scratch_size);
    if (status != RDK_OK)
        return status;
    std::vector<std::byte> scratch(d.scratch_size);
    d.scratch = scratch.data();
    return rdk_attention(&d);
}

} // namespace

int main() {
    std::array<float, 3> weights{};
    std::array<float, 2> out{};
    const rdk_status softmax = weigh({14, 10, 12}, weights), attention = attend(out);
    std::printf("%s: %.3f %.3f %.3f\n", rdk_status_string(softmax), double{weights[0]},
                double{weights[1]}, double{weights[2]});
    std::printf("%s: %.3f %.3f\n", rdk_status_string(attention), double{out[0]}, double{out[1]});
    return 0;
}
