"""The must-fail kernels: each is a right one with one line changed.

A mutant is (name, kernel, changes). `kernel` is "vector", the row code on the ISA of the host, or
"scalar". `changes` are alternatives (file, from, to), of which the first whose file the kernel includes
is made; there is one per ISA where the line lies in a vocabulary. `from` must occur exactly once in its
file. A mutant without changes is the kernel as it is, which must pass.
"""

ROWS = "kernels/softmax/softmax_rows.h"
TYPES = "kernels/vec/f32x16_types.h"
AVX2 = "kernels/vec/f32x16_avx2.h"
NEON = "kernels/vec/f32x16_neon.h"
CONTRACT = "kernels/contract.h"
SCALAR = "kernels/softmax/softmax_scalar.c"

MUTANTS = [
    ("none", "vector", []),
    ("none_scalar", "scalar", []),
    # Tails
    ("tail_off_by_one", "vector", [
        (ROWS, "f32x16_select(b32x16_first(n), e, f32x16_set1(0))",
               "f32x16_select(b32x16_first(n - 1), e, f32x16_set1(0))")]),
    ("maximum_misses_the_last", "vector", [
        (ROWS, "b32x16 first = b32x16_first(n);", "b32x16 first = b32x16_first(n - 1);")]),
    ("hidden_column_kept", "vector", [
        (ROWS, "fill(r->y, d->y_type, r->visible, d->cols, nothing);",
               "fill(r->y, d->y_type, r->visible + 1, d->cols, nothing);")]),
    # Memory
    ("read_past_the_end", "vector", [
        (AVX2, "_mm256_maskload_ps(f, _mm256_castps_si256(m.a))", "_mm256_loadu_ps(f)"),
        (NEON, "memcpy(whole, p, (size_t)n * sizeof whole[0]);", "memcpy(whole, p, sizeof whole);")]),
    ("read_past_the_end_f16", "vector", [
        (TYPES, "rdk_copy_few(whole, p, n * 2);", "rdk_copy_few(whole, p, n * 2 + 2);")]),
    ("write_past_the_end", "vector", [
        (TYPES, "rdk_copy_few(p, whole, n * (", "rdk_copy_few(p, whole, (n + 1) * (")]),
    # Special values
    ("nan_swallowed", "vector", [
        (ROWS, "return f32x16_has_nan(s.sum) ? INFINITY : f32x16_max_lanes(s.max);",
               "return f32x16_max_lanes(s.max);")]),
    ("nan_not_canonical", "scalar", [
        (CONTRACT, "v = rdk_float(0x7fc00000);", "v = rdk_float(0xffc00000);")]),
    ("nan_not_canonical_f16", "scalar", [
        (CONTRACT, "return 0x7e00;", "return 0x7e01;")]),
    ("absent_at_the_edge", "vector", [ # < in place of <=
        (ROWS, "f32x16_le(b, f32x16_set1(RDK_ABSENT))",
               "f32x16_le(b, f32x16_set1(1.0000001f * RDK_ABSENT))")]),
    ("row_scale_zero_is_one", "vector", [
        (ROWS, "rdk_split_scale(d->row_scale[index])",
               "rdk_split_scale(d->row_scale[index] == 0 ? 1 : d->row_scale[index])")]),
    # Arithmetic
    ("sum_in_another_order", "vector", [
        (ROWS, "EACH lanes = f32x16_add(lanes, e[v]);",
               "EACH lanes = f32x16_add(lanes, e[n - 1 - v]);")]),
    ("sum_in_longer_blocks", "vector", [
        (CONTRACT, "#define RDK_BLOCK 128", "#define RDK_BLOCK 256")]),
    ("multiply_add_not_fused", "vector", [
        (AVX2, "_mm256_fmadd_ps(x.b, y.b, z.b)", "_mm256_add_ps(_mm256_mul_ps(x.b, y.b), z.b)"),
        (NEON, "vfmaq_f32(z.q[3], x.q[3], y.q[3])",
               "vaddq_f32(vmulq_f32(x.q[3], y.q[3]), z.q[3])")]),
    ("bias_not_fused", "vector", [
        (ROWS, "f32x16_fms(bias[v], high, n_bias[v])",
               "f32x16_sub(f32x16_mul(bias[v], high), n_bias[v])")]),
    ("bias_added_early", "vector", [
        (ROWS, "f32x16_add(f32x16_fma(x[v], w->ch, bias2(bias[v])), w->magic)",
               "f32x16_fma(x[v], w->ch, f32x16_add(bias2(bias[v]), w->magic))")]),
    ("flush_off_by_one", "vector", [
        (CONTRACT, "#define RDK_FLUSH -100", "#define RDK_FLUSH -101")]),
    ("cold_too_late", "vector", [
        (CONTRACT, "#define RDK_HOT 0x1p+16f", "#define RDK_HOT 0x1p+17f")]),
    ("reference_off_by_one", "vector", [
        (ROWS, "(r->T + RDK_MAGIC) - RDK_MAGIC", "(r->T + RDK_MAGIC) - RDK_MAGIC + 1")]),
    ("bf16_ties_up", "vector", [
        (AVX2, "_mm256_set1_epi32(0x7fff)", "_mm256_set1_epi32(0x8000)"),
        (NEON, "vdupq_n_u32(0x7fff)", "vdupq_n_u32(0x8000)")]),
    ("bias_no_reason_for_cold", "vector", [
        (ROWS, "T > -INFINITY && f32x16_max_lanes(bias_max) > RDK_HOT ? INFINITY : T", "T")]),
    ("fold_skips_a_block", "vector", [
        (ROWS, "        if (j)\n", "        if (j > RDK_BLOCK)\n")]),
    ("common_part_too_long", "vector", [
        (ROWS, "r.visible < next.visible ? r.visible : next.visible;", "r.visible;")]),
]
