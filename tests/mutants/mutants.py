"""The must-fail kernels: each is a right one with one line changed.

A mutant is (name, kernel, changes). `kernel` is "vector", that of the host's ISA, or "scalar". `changes`
are alternatives (file, from, to), of which the first whose file the kernel includes is made; there is one
per ISA where the line lies in a vocabulary. `from` must occur exactly once in its file. A file that ends in a
slash is a folder: the one file there that the kernel includes and that has the text. A mutant without
changes is the kernel as it is, which must pass. A mutant that changes a type or a size says ALONE after its
changes (mutate.py).
"""

ALONE = "alone"

ROWS = "kernels/softmax/softmax_rows.h"
TYPES = "kernels/vec/f32x16_types.h"
WALK = "kernels/attention/"
TILE_X86 = "kernels/attention/tile/tile_x86.h"
TILE_AVX2 = "kernels/attention/tile/tile_avx2.h"
ASM = "kernels/attention/tile/asm_avx2.h"
ASM_X86 = "kernels/attention/tile/asm_x86.h"
ASM_VALUES = "kernels/attention/tile/asm_values_x86.h"
ASM_THIN = "kernels/attention/tile/asm_thin_x86.h"
TILE_NEON = "kernels/attention/tile/tile_neon.h"
THIN_X86 = "kernels/attention/tile/thin_x86.h"
THIN_NEON = "kernels/attention/tile/thin_neon.h"
AVX2 = "kernels/vec/f32x16_avx2.h"
NEON = "kernels/vec/f32x16_neon.h"
CONTRACT = "kernels/contract.h"
SCALAR = "kernels/softmax/softmax_scalar.c"

SOFTMAX = [
    ("none", "vector", []),
    ("none_scalar", "scalar", []),
    # Tails
    ("tail_off_by_one", "vector", [
        (ROWS, "f32x16_select(b32x16_first(n), e, f32x16_set1(0))",
               "f32x16_select(b32x16_first(n - 1), e, f32x16_set1(0))")]),
    ("maximum_misses_the_last", "vector", [
        (ROWS, "b32x16 first = b32x16_first(n);", "b32x16 first = b32x16_first(n - 1);")]),
    ("hidden_column_kept", "vector", [
        (ROWS, "f32x16_fill(r->y, d->y_type, r->visible, d->cols, nothing);",
               "f32x16_fill(r->y, d->y_type, r->visible + 1, d->cols, nothing);")]),
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
        (ROWS, "f32x16_le(bias, f32x16_set1(RDK_ABSENT))",
               "f32x16_le(bias, f32x16_set1(1.0000001f * RDK_ABSENT))")]),
    ("absent_by_b", "vector", [ # the bias in base 2
        (ROWS, "f32x16_le(bias, f32x16_set1(RDK_ABSENT))",
               "f32x16_le(bias2(bias), f32x16_set1(RDK_ABSENT))")]),
    ("log_of_minus_inf_is_nan", "vector", [
        (ROWS, "f32x16_minus_inf_for_nan(f32x16_fma(kept, f->factor, f->term))",
               "f32x16_fma(kept, f->factor, f->term)")]),
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
        (ROWS, "f32x16_fms(bias, high, n_bias)",
               "f32x16_sub(f32x16_mul(bias, high), n_bias)")]),
    ("bias_added_early", "vector", [
        (ROWS, "f32x16_add(biased_logit(x, bias, w->ch), w->magic)",
               "f32x16_select(is_absent(bias), f32x16_set1(-INFINITY),\n"
               "f32x16_fma(x, w->ch, f32x16_add(bias2(bias), w->magic)))")]),
    ("absent_not_cleared", "vector", [
        (ROWS, "f32x16_add(biased_logit(x, bias, w->ch), w->magic)",
               "f32x16_add(f32x16_fma(x, w->ch, bias2(bias)), w->magic)")]),
    ("biased_block_not_in_step", "vector", [
        (ROWS, "rdk_weights(u + v, f + v, e, n);", "rdk_weights(u, f + v, e, n);")]),
    ("logarithm_of_another_row", "vector", [
        (ROWS, "write_row(d, &now->rows[i], now->log2_l[i], false);",
               "write_row(d, &now->rows[i], now->log2_l[0], false);")]),
    ("logarithm_of_another_row_in_a_pair", "vector", [
        (ROWS, "finish_and_max(*r, *q, log, now->log2_l[i])",
               "finish_and_max(*r, *q, log, now->log2_l[0])")]),
    ("log_without_cl", "vector", [
        (ROWS, "    EACH f[v] = f32x16_fma(x[v], w->cl, f[v]);\n    EACH r[v] = f32x16_add(r[v], f[v]);",
               "    EACH r[v] = f32x16_add(r[v], f[v]);\n    EACH f[v] = f32x16_fma(x[v], w->cl, f[v]);")]),
    ("log_with_bias_without_low", "vector", [
        (ROWS, "    *f = f32x16_fma(bias, low, *f);\n    *r = f32x16_add(f32x16_sub(n, w->M), *f);",
               "    *r = f32x16_add(f32x16_sub(n, w->M), *f);\n    *f = f32x16_fma(bias, low, *f);")]),
    ("log_with_k_of_u", "vector", [ # another integer where x is far below the maximum
        (ROWS, "EACH r[v] = f32x16_sub(r[v], w->M);",
               "EACH r[v] = f32x16_sub(u[v], f32x16_set1(RDK_MAGIC));")]),
    ("log_with_bias_with_k_of_u", "vector", [
        (ROWS, "*r = f32x16_add(f32x16_sub(n, w->M), *f);",
               "*r = f32x16_add(f32x16_sub(*u, magic), *f);")]),
    ("log_of_l_not_rounded", "scalar", [
        (SCALAR, "return rdk_fma(p.k + p.f, RDK_LN2_FLOAT, -(float)(log2_l * RDK_LN2));",
                 "return (float)((double)(p.k + p.f) * RDK_LN2_FLOAT - log2_l * RDK_LN2);")]),
    ("log_of_l_in_float", "vector", [
        (ROWS, "float c = (float)(log2_l * RDK_LN2);", "float c = (float)log2_l * RDK_LN2_FLOAT;")]),
    ("log_tail_is_a_weight", "vector", [
        (ROWS, "RDK_F32, k.log ? relative : e, n);", "RDK_F32, e, n);")]),
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
        (ROWS, "T > -INFINITY && B > RDK_HOT ? INFINITY : T", "T")]),
    ("fold_skips_a_block", "vector", [
        (ROWS, "        if (j)\n", "        if (j > RDK_BLOCK)\n")]),
    ("common_part_too_long", "vector", [
        (ROWS, "r->visible < next->visible ? r->visible : next->visible;", "r->visible;")]),
]

ATTENTION = [
    ("none", "vector", []),
    # Scores
    ("queries_in_wrong_lanes", "vector", [
        (TILE_AVX2, "_mm256_permute2f128_ps(q[i], q[i + 4], 0x31)",
                    "_mm256_permute2f128_ps(q[i], q[i + 4], 0x13)"),
        (TILE_NEON, "m[3] = vcombine_f32(vget_high_f32(p.val[1]), vget_high_f32(q.val[1]));",
                    "m[3] = vcombine_f32(vget_high_f32(q.val[1]), vget_high_f32(p.val[1]));")]),
    ("keys_of_another_panel", "vector", [
        (WALK, "t->a + n * rows * a_row", "t->a + (n & 1) * rows * a_row")]),
    ("key_of_a_tile_taken_twice", "vector", [
        (ASM, "ROW(1, 3, 4, 5, ", "ROW(0, 3, 4, 5, "),
        (TILE_NEON, "TILES[rows]", "TILES[rows - (rows == 4 && vectors == 6)]")]),
    ("few_score_the_same_keys_twice", "vector", [
        (THIN_X86, "transpose_keys(high, keys_on(key, step, 8 / lanes),", "transpose_keys(high, key,"),
        (THIN_NEON, "thin_chains(f, f->key + i * f->key_step,", "thin_chains(f, f->key,")]),
    ("few_halves_of_four_keys_swapped", "vector", [
        (THIN_X86, "m[1] = pairs_high(p[0], p[1]);", "m[1] = pairs_high(p[1], p[0]);"),
        (THIN_NEON, "#define THIN_EVEN_2(i) THIN_ADD(2, i, even)", "#define THIN_EVEN_2(i) THIN_ADD(2, i, odd)")]),
    ("few_chains_added_in_another_order", "vector", [
        (THIN_X86, "bool is_first, const int lanes) {", "bool is_first, const int lanes) {\n"
                  "    if (lanes == 2 && !is_first) {\n"
                  "        low = _mm256_permute_ps(low, 0xb1);\n        high = _mm256_permute_ps(high, 0xb1);\n    }"),
        (THIN_NEON, "        thin_join(scores, &even);\n        thin_join(scores, &odd);",
                   "        thin_join(scores, &odd);\n        thin_join(scores, &even);")]),
    ("few_keys_swapped_by_hand", "vector", [ # NEON, which has nothing by hand, gets another wrong key
        (ASM_THIN, "HALVES_##quad(keys, 5, 7, 11)", "HALVES_##quad(keys, 7, 5, 11)"),
        (THIN_NEON, "thin_join(scores + 8 * THIN, &high);", "thin_join(scores + 8 * THIN, &low);")]),
    ("few_pieces_joined_in_another_order_by_hand", "vector", [
        (ASM_THIN, "PLUS(8, 10) PLUS(9, 10)", "PLUS(9, 10) PLUS(8, 10)"),
        (THIN_NEON, "thin_ones(&odd, f, key, c + 1, 2, end);", "thin_ones(&even, f, key, c + 1, 2, end);")]),
    ("few_elements_set_aside_swapped_by_hand", "vector", [
        (ASM_THIN, 'LOAD("%[aside]", 12) LOAD("32+%[aside]", 13)', 'LOAD("32+%[aside]", 12) LOAD("%[aside]", 13)'),
        (THIN_NEON, "thin_ones(&high, f, above, whole, 1, f->d);", "thin_ones(&high, f, key, whole, 1, f->d);")]),
    ("few_groups_of_keys_all_alike", "vector", [
        (ASM_THIN, "keys_on = keys * key_step - bytes", "keys_on = -bytes"),
        (WALK, "one.key += keys * one.key_step", "one.key += 0")]),
    ("edge_tile_one_row_short", "vector", [
        (WALK, "run_tile(t, keys, vectors) ==", "run_tile(t, times == 1 && keys > 1 ? keys - 1 : keys, vectors) ==")]),
    ("last_key_not_scored", "vector", [
        (WALK, "score_keys(&t, rest - half, vectors, 1);", "score_keys(&t, rest - half - 1, vectors, 1);")]),
    ("multiply_add_not_fused", "vector", [
        (TILE_X86, "TILE_MM(fmadd)(x, y, z)", "TILE_MM(add)(TILE_MM(mul)(x, y), z)"),
        (TILE_AVX2, '__asm__("vfmadd231ps %2, %1, %0" : "+x"(z) : "x"(x), "x"(y));',
                    "z = _mm256_add_ps(_mm256_mul_ps(x, y), z);"),
        (TILE_NEON, '__asm__("fmla %0.4s, %1.4s, %2.s[0]" : "+w"(z) : "w"(y), "w"(x));',
                    "z = vaddq_f32(vmulq_laneq_f32(y, x, 0), z);")]),
    ("queries_not_negated", "vector", [
        (WALK, "tile_splat(&scale);", "tile_splat(&(float){fabsf(scale)});")]),
    ("scores_in_one_chain", "vector", [
        (WALK, "t.chains = p->chains;", "t.chains = 1;"),
        (WALK, "t.a_step = 4 * p->chains;", "t.a_step = 4;"),
        (WALK, "t.b_step = g->by_chain ? t.b_row : t.b_row * p->chains;", "t.b_step = t.b_row;")]),
    ("chains_of_queries_swapped", "vector", [
        (WALK, "(c + (after - c + 1) / 2) * w;", "(c + (after - c + 1) / 2 - (c > 0)) * w;")]),
    ("second_chain_alone", "vector", [
        (WALK, "if (k.first > 0)", "if (k.first > 1)")]),
    ("second_chain_alone_by_hand", "vector", [ # NEON, which has no tiles by hand, gets another wrong shape
        (ASM_X86, "ADD(AT_VECTOR(i), sum) PUT", "PUT"),
        (TILE_NEON, "TILES[rows]", "TILES[rows - (rows == 8 && vectors == 2)]")]),
    ("second_chain_from_the_first_step", "vector", [
        (ASM_X86, "b_row - (even - 4) * b_step", "0 - (even - 4) * b_step"),
        (WALK, "chain_in_b(t, &k) + b_before", "t->b + b_before")]),
    ("tiles_below_each_other_all_alike", "vector", [
        (ASM_X86, "a_on = rows * a_row - 4 - (odd - 4) * 8", "a_on = -4 - (odd - 4) * 8"),
        (WALK, "t->a + n * rows * a_row + k.first", "t->a + k.first")]),
    # What a query sees
    ("causal_sees_one_key_more", "vector", [
        (WALK, "f32x16_le(f32x16_set1((float)(lane + 1)), end)", "f32x16_le(f32x16_set1((float)lane), end)")]),
    ("causal_sees_one_key_less", "vector", [
        (WALK, "f32x16_le(f32x16_set1((float)(lane + 1)), end)", "f32x16_le(f32x16_set1((float)(lane + 2)), end)")]),
    ("range_begins_one_key_early", "vector", [
        (WALK, "f32x16_le(first, f32x16_set1((float)lane))", "f32x16_le(first, f32x16_set1((float)(lane + 1)))")]),
    ("range_begins_one_key_late", "vector", [
        (WALK, "f32x16_le(first, f32x16_set1((float)lane))", "f32x16_le(first, f32x16_set1((float)(lane - 1)))")]),
    ("few_see_one_key_more", "vector", [
        (WALK, "hide_first(score_at(g, end, i), end_lane(g) - end);", "hide_first(score_at(g, end + 1, i), end_lane(g) - end - 1);")]),
    ("few_see_one_key_before", "vector", [
        (WALK, "hide_first(score_at(g, first_lane(g), i), from - first_lane(g));",
               "hide_first(score_at(g, first_lane(g), i), from - first_lane(g) - 1);")]),
    ("unseen_value_after_the_first", "vector", [
        (WALK, "after = (int)rdk_most(l.lo, g->shared.hi);", "after = (int)rdk_most(l.lo, g->shared.hi + 1);")]),
    ("unseen_value_before_the_last", "vector", [
        (WALK, "before = (int)rdk_least(l.hi, g->shared.lo),", "before = (int)rdk_least(l.hi, g->shared.lo - 1),")]),
    ("last_key_has_no_value", "vector", [
        (WALK, "t->steps = l.hi - l.lo;\n    t->a = (const char *)score_at(g, l.lo, first);",
               "t->steps = l.hi - l.lo - 1;\n    t->a = (const char *)score_at(g, l.lo, first);")]),
    ("few_last_key_has_no_value", "vector", [
        (WALK, "t->steps = l.hi - l.lo;\n    t->a = (const char *)score_at(g, l.lo, r.first);",
               "t->steps = l.hi - l.lo - (is_last && l.hi > l.lo);\n    t->a = (const char *)score_at(g, l.lo, r.first);")]),
    ("values_from_the_first_key", "vector", [
        (WALK, "v->from.values + (l.lo - g->lo) * v->from.step;", "v->from.values;")]),
    ("rows_that_see_nothing_keep_old_sums", "vector", [
        (WALK, "if (l.hi <= l.lo && !g->opens && !v->results)", "if (l.hi <= l.lo && !v->results)")]),
    ("blocks_from_the_first_key", "vector", [ # key_pos0 ignored
        (WALK, "const int64_t key0 = key - position % RDK_BLOCK;", "const int64_t key0 = key - key % RDK_BLOCK;")]),
    ("chunks_from_the_first_key", "vector", [
        (WALK, ".chunk = position / RDK_CHUNK};", ".chunk = key / RDK_CHUNK};")]),
    ("chunks_never_closed_but_the_last", "vector", [
        (WALK, "static void open_chunk(const pass *p, const group *g) {\n    close_chunk(p, g);", 
               "static void open_chunk(const pass *p, const group *g) {")]),
    # References and weights
    ("maximum_misses_odd_keys", "vector", [
        (WALK, "largest[0] = f32x16_max(largest[0], largest[v]);", ";")]),
    ("few_maximum_of_sixteen_keys", "vector", [
        (WALK, "largest = f32x16_max(largest, f32x16_load(s + lane));", ";")]),
    ("sum_not_rescaled", "vector", [
        (WALK, "f64x8_low(f32x16_load(g->rescale + i))", "f64x8_low(f32x16_set1(1))")]),
    ("few_sum_not_rescaled", "vector", [
        (WALK, "before = g->rescales ? *l * g->rescale[i] : *l;", "before = *l;")]),
    ("output_not_rescaled", "vector", [
        (WALK, "tile_splat(factors + r)", "tile_splat(TILE_ONES + r)")]),
    ("output_rescaled_like_the_first_row", "vector", [
        (WALK, "tile_splat(factors + r)", "tile_splat(factors)")]),
    ("output_rescaled_like_the_first_row_by_hand", "vector", [
        (ASM_VALUES, 'SPLAT(#r "*4(%[n])", x)', 'SPLAT("0*4(%[n])", x)'),
        (TILE_NEON, "TILES[rows]", "TILES[rows - (rows == 6 && vectors == 4)]")]),
    ("output_rescaled_by_the_next_row", "vector", [
        (WALK, "g->rescales ? g->rescale + row : TILE_ONES;", "g->rescales ? g->rescale + row + 1 : TILE_ONES;")]),
    ("output_not_rescaled_by_a_reference_that_moved", "vector", [
        (WALK, "g->rescales = f32x16_max_lanes(moved) > 0;", "g->rescales = false;")]),
    ("reference_moves_too_soon", "vector", [
        (WALK, "f32x16_set1(RDK_HEADROOM)", "f32x16_set1(RDK_HEADROOM - 1)")]),
    ("reference_moves_too_late", "vector", [
        (WALK, "f32x16_set1(RDK_HEADROOM)", "f32x16_set1(RDK_HEADROOM + 0.125f)")]),
    ("all_references_move_with_one", "vector", [
        (WALK, "f32x16_select(may_stay(t, old), old, rint)", "f32x16_max(old, rint)")]),
    ("weights_relative_to_the_last_chunk", "vector", [
        (WALK, "has_ordinary_weights(r) ? (float)r->closed.M",
               "has_ordinary_weights(r) ? p->M[2 * g->first + i]")]),
    # Values
    ("output_in_another_row", "vector", [
        (ASM_VALUES, "#define C_ROW_4 C_ROW_1", "#define C_ROW_4 C_ROW_2"),
        (TILE_NEON, "TILES[rows]", "TILES[rows - (rows == 5 && vectors == 4)]")]),
    ("weights_of_the_next_query", "vector", [
        (WALK, "score_at(g, l.lo, first);", "score_at(g, l.lo, first + 1);")]),
    ("strips_swapped", "vector", [
        (WALK, "const int64_t strip = c - (c - first) % TILE_STRIP;",
               "int64_t strip = c - (c - first) % TILE_STRIP;\n"
               "            if (first == 0 && strip < 2 * TILE_STRIP && p->width >= 2 * TILE_STRIP)\n"
               "                strip = TILE_STRIP - strip;")]),
    ("columns_side_by_side_all_alike", "vector", [
        (ASM_VALUES, "*b = t->b + i * t->b_across;", "*b = t->b;"),
        (WALK, "tile_column(t, i * t->b_across,", "tile_column(t, 0,")]),
    ("values_put_one_step_too_far", "vector", [ # NEON, which has no tiles by hand, gets another wrong place
        (ASM_VALUES, "COPY_ON(1), COPY_ON(4)", "COPY_ON(1), COPY_ON(5)"),
        (WALK, "lane * columns + (c - strip)", "(lane + 1) % RDK_BLOCK * columns + (c - strip)")]),
    ("values_put_but_for_a_column", "vector", [
        (ASM_VALUES, ' STORE(#s "*2*" BYTES "+" BYTES "(%[copy])", B1)', ""),
        (WALK, "for (int64_t c = first; c < p->width; c += RDK_LANES) {",
               "for (int64_t c = first; c < p->width - (p->width > 2 * RDK_LANES ? RDK_LANES : 0); c += RDK_LANES) {")]),
    ("results_by_the_first_rows_factor", "vector", [ # NEON, which has no tiles by hand, gets other wrong shapes
        (ASM_VALUES, 'SPLAT("8+16*" #r "(%[results])", A0)', 'SPLAT("8(%[results])", A0)'),
        (TILE_NEON, "TILES[rows]", "TILES[rows - (rows == 4 && vectors == 2)]")]),
    ("results_without_a_column", "vector", [
        (ASM_VALUES, "RESULT(s0, r, 0) RESULT(s1, r, 1)\n#define", "RESULT(s0, r, 0)\n#define"),
        (TILE_NEON, "TILES[rows]", "TILES[rows - (rows == 7 && vectors == 2)]")]),
    ("results_not_looked_through_for_nan", "vector", [
        (ASM_VALUES, ' PLUS_SUM(s, SPARE)', ""),
        (TILE_NEON, "TILES[rows]", "TILES[rows - (rows == 5 && vectors == 2)]")]),
    ("packed_values_of_the_first_rows_twice", "vector", [ # NEON, which packs all values apart, gets a wrong shape
        (TILE_NEON, "TILES[rows]", "TILES[rows - (rows == 6 && vectors == 4)]"),
        (WALK, "for (int i = v->first_band; i < bands;", "for (int i = 0; i < bands;")]),
    ("few_scores_over_weights_still_needed", "vector", [
        (WALK, "now->g.scores += (now - slots) * UNIT * RDK_BLOCK;", ";")]),
    ("few_sums_begin_anew_with_each_panel", "vector", [ # NEON, which has no tiles by hand, gets another wrong shape
        (ASM_THIN, 'OP("add %[partial], %[c]") EACH_##shape(LOAD_ROW)', 'OP("add %[partial], %[c]") ZEROS'),
        (TILE_NEON, "TILES[rows]", "TILES[rows - (rows == 3 && vectors == 2)]")]),
    ("few_columns_swapped", "vector", [
        (ASM_THIN, "ROW_4(DO_IT, 1, 4, 5, 6, 7)", "ROW_4(DO_IT, 1, 4, 5, 7, 6)"),
        (TILE_NEON, "TILES[rows]", "TILES[rows - (rows == 2 && vectors == 2)]")]),
    ("values_of_the_first_head", "vector", [
        (WALK, ".v = rdk_const_view_row(&kv->v, b, kv_head, key),", ".v = rdk_const_view_row(&kv->v, b, 0, key),")]),
    ("gaps_between_values_ignored", "vector", [
        (WALK, ".v_step = kv->v.row_stride * 4,", ".v_step = kv->k.row_stride * 4,")]),
    # Chunks
    ("folded_with_each_others_factors", "vector", [
        (WALK, "a = f32x16_set1(by.sums), b = f32x16_set1(by.chunk);", "a = f32x16_set1(by.chunk), b = f32x16_set1(by.sums);")]),
    ("cold_chunk_not_redone", "vector", [
        (WALK, "if (!rdk_is_cold(T))", "if (true)")]),
    ("nan_not_noted", "vector", [
        (WALK, "note_nan(g, T);", ";")]),
    ("nan_of_an_unseen_value_kept", "vector", [
        (WALK, "else if (!may_be_multiplied(p, g, (lanes){g->lo, g->hi}))", "else if (false)")]),
    ("cold_chunk_is_plain", "vector", [
        (WALK, "not_plain = f32x16_select(f32x16_le(t, hot), not_plain, one);", "")]),
    ("closed_chunks_forgotten", "vector", [
        (WALK, "return is_first_chunk(p, g, g->block->chunk) && f32x16", "return f32x16")]),
    ("nan_of_plain_rows_kept", "vector", [
        (WALK, "close_plainly(p, g);\n    return !f32x16_has_nan(sum);", "close_plainly(p, g);\n    return true;")]),
    ("largest_score_not_noted", "vector", [
        (ASM_X86, "LARGER(s2, B2) ", ""),
        (WALK, "EACH largest[v] = f32x16_max(largest[v], x[v]);", "")]),
    ("noted_where_it_was_not", "vector", [
        (TILE_AVX2, "return f && t->kind == TILE_SCORES && !t->by_chain ?", "return t->kind == TILE_SCORES ?"),
        (TILE_NEON, "return TILE_DONE;", "return TILE_DONE_WITH_MAX;")]),
    # Sums of a block
    ("first_block_added_to_what_was_there", "vector", [
        (WALK, "return g->opens ? NULL : g->rescales", "return g->rescales")]),
    ("blocks_forgotten", "vector", [
        (WALK, "            else if (factors)\n", "            else if (false)\n")]),
    ("blocks_forgotten_by_hand", "vector", [ # NEON, which has no tiles by hand, gets another wrong shape
        (ASM_VALUES, "#define ADD_ROW(sum, r, i) PLUS_ROW(sum, r, i) PUT_ROW", "#define ADD_ROW(sum, r, i) PUT_ROW"),
        (TILE_NEON, "TILES[rows][vectors]", "TILES[rows][vectors == 16 ? 8 : vectors]")]),
    ("results_without_the_sums_before", "vector", [ # NEON gets another wrong shape
        (ASM_VALUES, "ENDED(RESULT_TILES, shape, rows, vectors, JOIN_NOTHING, PLUS_ROW, PLUS_ROW_TIMES)",
                      "ENDED(RESULT_TILES, shape, rows, vectors, JOIN_NOTHING, JOIN_NOTHING, PLUS_ROW_TIMES)"),
        (TILE_NEON, "TILES[rows]", "TILES[rows - (rows == 2 && vectors == 4)]")]),
    ("results_without_the_rest_of_the_inverse", "vector", [ # NEON gets another wrong shape
        (ASM_VALUES, "TIMES_PLUS(A0, B1, s) STORE", "TIMES_PLUS(A0, B0, s) STORE"),
        (TILE_NEON, "TILES[rows]", "TILES[rows - (rows == 3 && vectors == 4)]")]),
    ("out_without_the_rest_of_the_inverse", "vector", [
        (WALK, "f32x16_fma(o, f32x16_set1(by.lo), f32x16_set1(0))", "f32x16_set1(0)")]),
    ("infinite_sums_times_the_rest_of_the_inverse", "vector", [
        (WALK, "rdk_store(to, RDK_F32, i, rdk_times_inverse(from[i], by));",
               "rdk_store(to, RDK_F32, i, rdk_load(to, RDK_F32, i));")]),
    ("parts_begin_anew", "vector", [
        (WALK, "t->from = r.lo == g->lo ? NULL : p->partial + first;", "t->from = NULL;")]),
    ("parts_of_the_first_columns", "vector", [
        (WALK, "t->from += done;", "t->from += 0;")]),
    ("infinite_score_has_a_sum", "vector", [
        (WALK, "return rdk_state_closed(0, NAN, false);", "return rdk_state_closed(0, p->l[g->first + i], false);")]),
    # Memory
    ("read_past_a_key", "vector", [
        (WALK, "t.steps = p->call->d_qk;", "t.steps = p->call->d_qk + 1;")]),
    ("few_read_past_a_key", "vector", [
        (THIN_X86, "_mm_maskload_ps(high, mask)", "_mm_loadu_ps(high)"),
        (THIN_NEON, "tile_take(at + i * step)", "tile_load(at + i * step)")]),
    ("read_past_a_query", "vector", [
        (TILE_AVX2, "_mm256_maskload_ps(from, first)", "_mm256_loadu_ps(from)"),
        (TILE_NEON, "memcpy(whole, p, (size_t)n * sizeof whole[0]);",
                    "memcpy(whole, p, sizeof whole);")]),
    ("read_past_a_value", "vector", [
        (WALK, "f32x16_load_first(v + c * 4, (int)(p->call->d_v - c))", "f32x16_load(v + c * 4)")]),
    ("write_past_the_output", "vector", [
        (WALK, "p->first_sums + row * p->width, p->call->d_v,", "p->first_sums + row * p->width, p->call->d_v + 1,")]),
    ("write_past_a_plain_row", "vector", [
        (WALK, "&p->rows[g->first + i]), o, p->call->d_v,",
               "&p->rows[g->first + i]), o, p->call->d_v + 1,")]),
    ("lse_of_another_query", "vector", [
        (WALK, "rdk_view_row(lse, r->batch, r->head, r->query)",
               "rdk_view_row(lse, r->batch, r->head, p->call->q_len - 1 - r->query)")]),
]

MUTANTS = {"softmax": SOFTMAX, "attention": ATTENTION}
