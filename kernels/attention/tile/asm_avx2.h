/* AVX2's tiles in assembly: those that most of the time goes to, and those of thin row blocks.
 * Twelve sums, a step of b and an element of a take all sixteen registers, which no compiler
 * manages without spills. */
#ifndef RDK_ASM_AVX2_H
#define RDK_ASM_AVX2_H

#define REGISTER "%%ymm"
#define BYTES "32"
#define B0 12
#define B1 13
#define B2 14
#define A0 15
#define FMA_SPREAD(at, s) SPLAT(at, A0) FMA(B0, A0, s)
#define ZERO(s) OP("vxorps %%xmm" #s ", %%xmm" #s ", %%xmm" #s)
#define ZEROS_8 ZERO(0) ZERO(1) ZERO(2) ZERO(3) ZERO(4) ZERO(5) ZERO(6) ZERO(7)
#define ZEROS ZEROS_8 ZERO(8) ZERO(9) ZERO(10) ZERO(11)
#define ALL_REGISTERS                                                                              \
    "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10",       \
        "xmm11", "xmm12", "xmm13", "xmm14", "xmm15"
#define AGAIN_4(place) ASK("-12288", place) INTO_L1("-18432", place)
#define NOTED_SUM "4*24"
#define SPARE 14
#define A_BEGIN
#define A_ON(by) OP("add " by ", %[a]")

#include "kernels/attention/tile/asm_x86.h"
#include "kernels/attention/tile/asm_thin_x86.h"

/* clang-format off */

/* ---- Shapes -------------------------------------------------------------------------------- */

#define FRONT_4x3(ROW, ...) ROW(0, 0, 1, 2, __VA_ARGS__) ROW(1, 3, 4, 5, __VA_ARGS__)
#define BACK_4x3(ROW, ...) ROW(2, 6, 7, 8, __VA_ARGS__) ROW(3, 9, 10, 11, __VA_ARGS__)
#define FRONT_4x2(ROW, ...) ROW(0, 0, 1, __VA_ARGS__) ROW(1, 2, 3, __VA_ARGS__) \
    ROW(2, 4, 5, __VA_ARGS__)
#define FRONT_5x2 FRONT_4x2
#define FRONT_6x2 FRONT_4x2
#define BACK_4x2(ROW, ...) ROW(3, 6, 7, __VA_ARGS__)
#define BACK_5x2(ROW, ...) BACK_4x2(ROW, __VA_ARGS__) ROW(4, 8, 9, __VA_ARGS__)
#define BACK_6x2(ROW, ...) BACK_5x2(ROW, __VA_ARGS__) ROW(5, 10, 11, __VA_ARGS__)
#define FRONT_8x1(ROW, ...) \
    ROW(0, 0, __VA_ARGS__) ROW(1, 1, __VA_ARGS__) ROW(2, 2, __VA_ARGS__) ROW(3, 3, __VA_ARGS__)
#define BACK_8x1(ROW, ...) \
    ROW(4, 4, __VA_ARGS__) ROW(5, 5, __VA_ARGS__) ROW(6, 6, __VA_ARGS__) ROW(7, 7, __VA_ARGS__)

/* Fetches the keys of the next tile into L1. Of two chains the first one reads every line of its
 * keys, in half of the time that the tile takes. */
#define KEYS_AHEAD_4x3 \
    OP("prefetcht0 " FROM_4(a, a_row)) OP("prefetcht0 " FROM_5(a, a_row)) \
    OP("prefetcht0 " FROM_6(a, a_row)) OP("prefetcht0 " FROM_7(a, a_row))
#define KEYS_AHEAD_4x2
#define KEYS_AHEAD_5x2
#define KEYS_AHEAD_6x2
#define KEYS_AHEAD_8x1

SCORES(4x3, 4, 3)
SCORES(4x2, 4, 2)
SCORES(5x2, 5, 2)
SCORES(6x2, 6, 2)
SCORES(8x1, 8, 1)

VALUES(4x2, 4, 2)
VALUES(5x2, 5, 2)
VALUES(6x2, 6, 2)
RESULTS(4x2, 4, 2)
RESULTS(5x2, 5, 2)
RESULTS(6x2, 6, 2)
VALUES_COPIED(4x2, 4, 2)
VALUES_COPIED(5x2, 5, 2)
VALUES_COPIED(6x2, 6, 2)

/* ---- Thin row blocks ----------------------------------------------------------------------- */

#define STEP_4x2(s) STEP(4x2, 2, BY_QUERY, s)
#define EACH_4x2(DO_IT) EACH_SUM(4x2, 2, NO_ROW, DO_IT)

/* Lines that are fetched beside a step: as many as it reads, spread as evenly as possible. */
#define BESIDE_EVEN_1x8(F) LINE(1, F) LINE(1, F)
#define BESIDE_ODD_1x8 BESIDE_EVEN_1x8
#define BESIDE_EVEN_2x4(F) LINE(2, F)
#define BESIDE_ODD_2x4 BESIDE_EVEN_2x4
#define BESIDE_EVEN_3x4 BESIDE_EVEN_2x4
#define BESIDE_ODD_3x4 BESIDE_EVEN_2x4
#define BESIDE_EVEN_4x2(F) PLACE_1_##F(4)
#define BESIDE_ODD_4x2(F) PLACE_2_##F(4)

VALUES_BY_QUERY(1x8, 8)
VALUES_BY_QUERY(2x4, 4)
VALUES_BY_QUERY(3x4, 4)
VALUES_BY_QUERY(4x2, 2)

#define CLEAR_3_of_2 ZEROS_8
#define CLEAR_4_of_2 ZEROS_8
#define QUAD_3_of_2(quad, F) EIGHT_KEYS_of_2(3, quad, F, a, 0, 1, 2, 3, 4, 5)
#define QUAD_4_of_2(quad, F) EIGHT_KEYS_of_2(4, quad, F, a, 0, 1, 2, 3, 4, 5, 6, 7)
#define EACH_3_of_2(E) E("0", 0, 1) E("512", 2, 3) E("1024", 4, 5)
#define EACH_4_of_2(E) EACH_3_of_2(E) E("1536", 6, 7)

THIN_SCORES_IN_COMMON
THIN_SCORES(3_of_2, 8, TWO_ON, PUT_TWO, JOINED)
THIN_SCORES(4_of_2, 8, TWO_ON, PUT_TWO, JOINED)

/* clang-format on */

/* Short names, which others may want. */
#undef OP
#undef B_AT
#undef VECTOR
#undef A0

_Static_assert(TILE_GROUP == 24, "NOTED_SUM");

static const asm_tiles ASM_TILES[TILE_ROWS + 1][TILE_VECTORS + 1] = {
    [1][8] = {ASM_BY_QUERY(1x8)},
    [2][4] = {ASM_BY_QUERY(2x4)},
    [3][4] = {ASM_BY_QUERY(3x4)},
    [4][2] = {ASM_SCORES(4x2), ASM_VALUES(4x2), ASM_VALUES_COPIED(4x2), ASM_BY_QUERY(4x2)},
    [4][3] = {ASM_SCORES(4x3)},
    [5][2] = {ASM_SCORES(5x2), ASM_VALUES(5x2), ASM_VALUES_COPIED(5x2)},
    [6][2] = {ASM_SCORES(6x2), ASM_VALUES(6x2), ASM_VALUES_COPIED(6x2)},
    [8][1] = {ASM_SCORES(8x1)},
};

ASM_THIN_TABLE

RDK_INLINE tile_function *asm_tile(const tile *t, int rows, int vectors) {
    return asm_tile_of(&ASM_TILES[rows][vectors], t);
}

RDK_INLINE thin_function *asm_thin(const thin *f, int queries) {
    return asm_thin_of(ASM_THIN, f, queries);
}
#endif
