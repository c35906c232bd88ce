/* AVX-512's tiles in assembly: those that most of the time goes to, and those of thin row blocks.
 * Of 32 registers 24 are sums, up to four hold a step of b, and one an element of a. */
#ifndef RDK_ASM_AVX512_H
#define RDK_ASM_AVX512_H

#define REGISTER "%%zmm"
#define BYTES "64"
#define B0 24
#define B1 25
#define B2 26
#define B3 27
#define A0 28
#define FMA_SPREAD(at, s) FMA_WITH(at "%{1to16%}", B0, s)
#define ZERO(s) OP("vpxord %%xmm" #s ", %%xmm" #s ", %%xmm" #s)
#define ZEROS_8 ZERO(0) ZERO(1) ZERO(2) ZERO(3) ZERO(4) ZERO(5) ZERO(6) ZERO(7)
#define ZEROS_16_TO_23 ZERO(16) ZERO(17) ZERO(18) ZERO(19) ZERO(20) ZERO(21) ZERO(22) ZERO(23)
#define ZEROS                                                                                      \
    ZEROS_8 ZERO(8) ZERO(9) ZERO(10) ZERO(11) ZERO(12) ZERO(13) ZERO(14) ZERO(15) ZEROS_16_TO_23
#define ALL_REGISTERS                                                                              \
    "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10",       \
        "xmm11", "xmm12", "xmm13", "xmm14", "xmm15", "xmm16", "xmm17", "xmm18", "xmm19", "xmm20",  \
        "xmm21", "xmm22", "xmm23", "xmm24", "xmm25", "xmm26", "xmm27", "xmm28", "xmm29", "xmm30",  \
        "xmm31"
#define AGAIN_4 AGAIN_1
#define NOTED_SUM "4*48"
#define SPARE 30
#define A_BEGIN OP("lea (%[a],%[a_row],8), %[a8]")
#define A_ON(by) OP("add " by ", %[a]") OP("add " by ", %[a8]")

#include "kernels/attention/tile/asm_x86.h"
#include "kernels/attention/tile/asm_thin_x86.h"

/* clang-format off */

/* ---- Shapes -------------------------------------------------------------------------------- */

#define FRONT_8x3(ROW, ...) \
    ROW(0, 0, 1, 2, __VA_ARGS__) ROW(1, 3, 4, 5, __VA_ARGS__) \
    ROW(2, 6, 7, 8, __VA_ARGS__) ROW(3, 9, 10, 11, __VA_ARGS__)
#define BACK_8x3(ROW, ...) \
    ROW(4, 12, 13, 14, __VA_ARGS__) ROW(5, 15, 16, 17, __VA_ARGS__) \
    ROW(6, 18, 19, 20, __VA_ARGS__) ROW(7, 21, 22, 23, __VA_ARGS__)
#define FRONT_8x2(ROW, ...) \
    ROW(0, 0, 1, __VA_ARGS__) ROW(1, 2, 3, __VA_ARGS__) \
    ROW(2, 4, 5, __VA_ARGS__) ROW(3, 6, 7, __VA_ARGS__)
#define BACK_8x2(ROW, ...) \
    ROW(4, 8, 9, __VA_ARGS__) ROW(5, 10, 11, __VA_ARGS__) \
    ROW(6, 12, 13, __VA_ARGS__) ROW(7, 14, 15, __VA_ARGS__)
#define FRONT_8x1(ROW, ...) \
    ROW(0, 0, __VA_ARGS__) ROW(1, 1, __VA_ARGS__) ROW(2, 2, __VA_ARGS__) ROW(3, 3, __VA_ARGS__)
#define BACK_8x1(ROW, ...) \
    ROW(4, 4, __VA_ARGS__) ROW(5, 5, __VA_ARGS__) ROW(6, 6, __VA_ARGS__) ROW(7, 7, __VA_ARGS__)
#define FRONT_4x4(ROW, ...) \
    ROW(0, 0, 1, 2, 3, __VA_ARGS__) ROW(1, 4, 5, 6, 7, __VA_ARGS__) \
    ROW(2, 8, 9, 10, 11, __VA_ARGS__)
#define FRONT_5x4 FRONT_4x4
#define FRONT_6x4 FRONT_4x4
#define BACK_4x4(ROW, ...) ROW(3, 12, 13, 14, 15, __VA_ARGS__)
#define BACK_5x4(ROW, ...) BACK_4x4(ROW, __VA_ARGS__) ROW(4, 16, 17, 18, 19, __VA_ARGS__)
#define BACK_6x4(ROW, ...) BACK_5x4(ROW, __VA_ARGS__) ROW(5, 20, 21, 22, 23, __VA_ARGS__)

/* Fetches the keys of the next tile into L1. Of two chains the first one reads every line of its
 * keys, in half of the time that the tile takes. */
#define KEYS_AHEAD_8x3 \
    OP("prefetcht0 " FROM_0(a8, a_row)) OP("prefetcht0 " FROM_1(a8, a_row)) \
    OP("prefetcht0 " FROM_2(a8, a_row)) OP("prefetcht0 " FROM_3(a8, a_row)) \
    OP("prefetcht0 " FROM_4(a8, a_row)) OP("prefetcht0 " FROM_5(a8, a_row)) \
    OP("prefetcht0 " FROM_6(a8, a_row)) OP("prefetcht0 " FROM_7(a8, a_row))
#define KEYS_AHEAD_8x2 KEYS_AHEAD_8x3
#define KEYS_AHEAD_8x1 KEYS_AHEAD_8x3

SCORES(8x3, 8, 3)
SCORES(8x2, 8, 2)
SCORES(8x1, 8, 1)

VALUES(4x4, 4, 4)
VALUES(5x4, 5, 4)
VALUES(6x4, 6, 4)
RESULTS(4x4, 4, 4)
RESULTS(5x4, 5, 4)
RESULTS(6x4, 6, 4)

/* ---- Values of thin row blocks ------------------------------------------------------------ */

#define STEP_4x4(s) STEP(4x4, 4, BY_QUERY, s)
#define EACH_4x4(DO_IT) EACH_SUM(4x4, 4, NO_ROW, DO_IT)

/* Lines that are fetched beside a step: as many as it reads. */
#define BESIDE_EVEN_1x8(F) LINE(1, F) LINE(1, F) LINE(1, F) LINE(1, F)
#define BESIDE_ODD_1x8 BESIDE_EVEN_1x8
#define BESIDE_EVEN_2x4(F) LINE(2, F) LINE(2, F)
#define BESIDE_ODD_2x4 BESIDE_EVEN_2x4
#define BESIDE_EVEN_3x4 BESIDE_EVEN_2x4
#define BESIDE_ODD_3x4 BESIDE_EVEN_2x4
#define BESIDE_EVEN_4x4 BESIDE_EVEN_2x4
#define BESIDE_ODD_4x4 BESIDE_EVEN_2x4

VALUES_BY_QUERY(1x8, 8)
VALUES_BY_QUERY(2x4, 4)
VALUES_BY_QUERY(3x4, 4)
VALUES_BY_QUERY(4x4, 4)

/* ---- Scores of half a vector of queries ---------------------------------------------------- */

#undef REGISTER
#undef BYTES
#undef FMA_SPREAD
#define REGISTER "%%ymm"
#define BYTES "32"
#define FMA_SPREAD(at, s) FMA_WITH(at "%{1to8%}", B0, s)
#define FRONT_8xhalf FRONT_8x1
#define BACK_8xhalf BACK_8x1

/* Prefetches compete with loads, and these tiles have none to spare. So each line is fetched once,
 * as if keys followed each other. */
#define KEYS_AHEAD_8xhalf \
    OP("prefetcht0 (%[a8])") OP("prefetcht0 64(%[a8])") \
    OP("prefetcht0 128(%[a8])") OP("prefetcht0 192(%[a8])") OP("add $7*32, %[a8]")

SCORES(8xhalf, 8, 1)

/* ---- Scores of thin row blocks: half vectors, of which twice as many are loaded in a cycle -- */

/* With three or four queries and two chains, sixteen keys are done at once instead of eight. Each
 * load of a query's elements then serves twice as many keys, and no chain is waited for. Registers
 * 16 to 31 are sums, 8 to 15 keys (elements 0 and 1 in the first four of them), 4 to 7 queries. */
#define TRANSPOSED_of_2(quad, keys, k, l, m, n) \
    HALVES_##quad(keys, 0, 2, 0) HALVES_##quad(keys, 1, 3, 1) \
    PAIRS_LOW(0, 1, k) PAIRS_HIGH(0, 1, m) \
    HALVES_##quad(keys, 4, 6, 2) HALVES_##quad(keys, 5, 7, 3) \
    PAIRS_LOW(2, 3, l) PAIRS_HIGH(2, 3, n)
#define TIMES_FOUR(at, r, x, k, l, m, n, s0, s1, s2, s3) \
    OP("vbroadcastsd " at "+16*" #r "(%[q]), %%ymm" #x) \
    FMA(k, x, s0) FMA(l, x, s1) FMA(m, x, s2) FMA(n, x, s3)
#define QUERIES_3(at, ...) \
    TIMES_FOUR(at, 0, 4, __VA_ARGS__, 16, 17, 18, 19) \
    TIMES_FOUR(at, 1, 5, __VA_ARGS__, 20, 21, 22, 23) \
    TIMES_FOUR(at, 2, 6, __VA_ARGS__, 24, 25, 26, 27)
#define QUERIES_4(at, ...) QUERIES_3(at, __VA_ARGS__) \
    TIMES_FOUR(at, 3, 7, __VA_ARGS__, 28, 29, 30, 31)
#define SIXTEEN_KEYS_of_2(queries, quad, F) \
    PLACE_1_##F(queries) TRANSPOSED_of_2(quad, a, 8, 9, 12, 13) \
    PLACE_2_##F(queries) TRANSPOSED_of_2(quad, b, 10, 11, 14, 15) \
    PLACE_1_##F(queries) QUERIES_##queries("64*" #quad, 8, 9, 10, 11) \
    PLACE_2_##F(queries) QUERIES_##queries("64*" #quad "+8", 12, 13, 14, 15)
#define QUAD_3_of_2(quad, F) SIXTEEN_KEYS_of_2(3, quad, F)
#define QUAD_4_of_2(quad, F) SIXTEEN_KEYS_of_2(4, quad, F)
#define CLEAR_3_of_2 ZEROS_16_TO_23 ZERO(24) ZERO(25) ZERO(26) ZERO(27)
#define CLEAR_4_of_2 CLEAR_3_of_2 ZERO(28) ZERO(29) ZERO(30) ZERO(31)
#define EACH_3_of_2(E) \
    E("0", 16, 17) E("32", 18, 19) E("512", 20, 21) E("512+32", 22, 23) \
    E("1024", 24, 25) E("1024+32", 26, 27)
#define EACH_4_of_2(E) EACH_3_of_2(E) E("1536", 28, 29) E("1536+32", 30, 31)

THIN_SCORES_IN_COMMON
THIN_SCORES(3_of_2, 16, TWO_ON, PUT_TWO, JOINED)
THIN_SCORES(4_of_2, 16, TWO_ON, PUT_TWO, JOINED)
/* clang-format on */

/* Short names, which others may want. */
#undef OP
#undef B_AT
#undef VECTOR
#undef A0

_Static_assert(TILE_GROUP == 48, "NOTED_SUM");

static const asm_tiles ASM_TILES[TILE_ROWS + 1][TILE_VECTORS + 1] = {
    [1][8] = {ASM_BY_QUERY(1x8)},  [2][4] = {ASM_BY_QUERY(2x4)},
    [3][4] = {ASM_BY_QUERY(3x4)},  [4][4] = {ASM_VALUES(4x4), ASM_BY_QUERY(4x4)},
    [5][4] = {ASM_VALUES(5x4)},    [6][4] = {ASM_VALUES(6x4)},
    [8][0] = {ASM_SCORES(8xhalf)}, [8][1] = {ASM_SCORES(8x1)},
    [8][2] = {ASM_SCORES(8x2)},    [8][3] = {ASM_SCORES(8x3)},
};

ASM_THIN_TABLE

RDK_INLINE tile_function *asm_tile(const tile *t, int rows, int vectors) {
    return asm_tile_of(&ASM_TILES[rows][vectors], t);
}

RDK_INLINE thin_function *asm_thin(const thin *f, int queries) {
    return asm_thin_of(ASM_THIN, f, queries);
}
#endif
