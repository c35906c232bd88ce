/* Tiles in assembly, for the vectors of any x86. asm_<isa>.h includes this file after it has
 * defined
 *
 *     REGISTER, BYTES     a vector's name without its number, and how many bytes it has
 *     B0 ... B3, A0        the numbers of those that hold a step of b, and an element of a
 *     FMA_SPREAD(at, s)   an FMA of B0 and an element, by way of A0 if need be
 *     ZERO(s), ZEROS      clears the vector of a number; all sums
 *     ALL_REGISTERS       the list of what is overwritten
 *     A_BEGIN, A_ON(by)   what else a chain begins with; moves a on
 *     AGAIN_4(place)      AGAIN_<queries> of asm_thin_x86.h for four queries
 *     NOTED_SUM           bytes from t->notes to where the sum of all scores is noted:
 *                         TILE_GROUP floats
 *     SPARE               the number of a vector that tiles of values leave alone
 *
 * Most is gained at the ends of a tile. Sums that are all ready at once would wait together to be
 * stored, and fill the queue in which the FMAs of the next tile should be. So the last four steps
 * are done for the front half of the sums, which are stored, and then for the back half.
 *
 * Everything that is not simple is left to tile_body.h: see asm_tile_of(). The arithmetic is the
 * same. */
#ifndef RDK_ASM_X86_H
#define RDK_ASM_X86_H

#include <stddef.h>

/* clang-format off */

/* ---- Instructions. Sums are registers 0, 1, 2, ..., row by row. ---------------------------- */

#define OP(text) text "\n\t"
#define NAMED(x) REGISTER #x
#define VECTOR(x) NAMED(x)
#define SPLAT(at, x) OP("vbroadcastss " at ", " VECTOR(x))
#define LOAD(at, x) OP("vmovups " at ", " VECTOR(x))
#define STORE(at, s) OP("vmovups " VECTOR(s) ", " at)
#define FMA(x, y, s) OP("vfmadd231ps " VECTOR(x) ", " VECTOR(y) ", " VECTOR(s))
#define FMA_WITH(at, y, s) OP("vfmadd231ps " at ", " VECTOR(y) ", " VECTOR(s))
#define ADD(at, s) OP("vaddps " at ", " VECTOR(s) ", " VECTOR(s))
#define TIMES_PLUS(x, y, s) OP("vfmadd213ps " VECTOR(y) ", " VECTOR(x) ", " VECTOR(s))
#define MOVE(from, to) OP("vmovaps " VECTOR(from) ", " VECTOR(to))

/* ---- Where things lie ---------------------------------------------------------------------- */

/* Multiples of a distance from a pointer. */
#define FROM_0(p, by) "(%[" #p "])"
#define FROM_1(p, by) "(%[" #p "],%[" #by "])"
#define FROM_2(p, by) "(%[" #p "],%[" #by "],2)"
#define FROM_3(p, by) "(%[" #p "],%[" #by "3])"
#define FROM_4(p, by) "(%[" #p "],%[" #by "],4)"
#define FROM_5(p, by) "(%[" #p "],%[" #by "5])"
#define FROM_6(p, by) "(%[" #p "],%[" #by "3],2)"
#define FROM_7(p, by) "(%[" #p "],%[" #by "7])"

/* Row r and step s of a. ALONG_1 and ALONG_2: a row's elements follow each other, and its steps are
 * every element, or every second one. ACROSS: a step's elements follow each other. */
#define ALONG_1(r, s) #s "*4" FROM_##r(a, a_row)
#define ALONG_2(r, s) #s "*8" FROM_##r(a, a_row)
#define ACROSS(r, s) #r "*4" FROM_##s(a, a_step)

/* Step s and vector i of b. */
#define B_AT(s, i) #i "*" BYTES FROM_##s(b, b_step)

/* ---- Rows. A shape is two lists of them, FRONT_<shape> and BACK_<shape> -------------------- */

/* The step of b is held in registers, and the elements of a are loaded one after the other.
 * E(sum, row, vector) follows each FMA, ROW_END those of a row. */
#define HOLD_1(s) LOAD(B_AT(s, 0), B0)
#define HOLD_2(s) HOLD_1(s) LOAD(B_AT(s, 1), B1)
#define HOLD_3(s) HOLD_2(s) LOAD(B_AT(s, 2), B2)
#define HOLD_4(s) HOLD_3(s) LOAD(B_AT(s, 3), B3)
#define ONE(A, r, s, E, s0) SPLAT(A(r, s), A0) FMA(B0, A0, s0) E(s0, r, 0)
#define TWO(A, r, s, E, s0, s1) ONE(A, r, s, E, s0) FMA(B1, A0, s1) E(s1, r, 1)
#define THREE(A, r, s, E, s0, s1, s2) TWO(A, r, s, E, s0, s1) FMA(B2, A0, s2) E(s2, r, 2)
#define STEP_ROW_1(r, s0, A, s, E, ROW_END) FMA_SPREAD(A(r, s), s0) E(s0, r, 0) ROW_END
#define STEP_ROW_2(r, s0, s1, A, s, E, ROW_END) TWO(A, r, s, E, s0, s1) ROW_END
#define STEP_ROW_3(r, s0, s1, s2, A, s, E, ROW_END) THREE(A, r, s, E, s0, s1, s2) ROW_END
#define STEP_ROW_4(r, s0, s1, s2, s3, A, s, E, ROW_END) \
    THREE(A, r, s, E, s0, s1, s2) FMA(B3, A0, s3) E(s3, r, 3) ROW_END

/* Something for each row, and for each sum. */
#define EACH_IN_ROW_2(r, s0, s1, ROW, E) ROW(r) E(s0, r, 0) E(s1, r, 1)
#define EACH_IN_ROW_4(r, s0, s1, s2, s3, ROW, E) \
    EACH_IN_ROW_2(r, s0, s1, ROW, E) E(s2, r, 2) E(s3, r, 3)
#define NO_ROW(r)

/* ---- A tile -------------------------------------------------------------------------------- */

#define NOTHING(sum, r, i)
#define FRONT(shape, vectors, A, s, E, ROW_END) \
    HOLD_##vectors(s) FRONT_##shape(STEP_ROW_##vectors, A, s, E, ROW_END)
#define BACK(shape, vectors, A, s, E, ROW_END) BACK_##shape(STEP_ROW_##vectors, A, s, E, ROW_END)
#define STEP(shape, vectors, A, s) \
    FRONT(shape, vectors, A, s, NOTHING, ) BACK(shape, vectors, A, s, NOTHING, )
#define FOUR_STEPS(shape, vectors, A) \
    STEP(shape, vectors, A, 0) STEP(shape, vectors, A, 1) \
    STEP(shape, vectors, A, 2) STEP(shape, vectors, A, 3)
#define LAST_FOUR_FRONT(shape, vectors, A, E, ROW_END) \
    FRONT(shape, vectors, A, 0, NOTHING, ) FRONT(shape, vectors, A, 1, NOTHING, ) \
    FRONT(shape, vectors, A, 2, NOTHING, ) FRONT(shape, vectors, A, 3, E, ROW_END)
#define LAST_FOUR_BACK(shape, vectors, A, E, ROW_END) \
    HOLD_##vectors(0) BACK(shape, vectors, A, 0, NOTHING, ) \
    HOLD_##vectors(1) BACK(shape, vectors, A, 1, NOTHING, ) \
    HOLD_##vectors(2) BACK(shape, vectors, A, 2, NOTHING, ) \
    HOLD_##vectors(3) BACK(shape, vectors, A, 3, E, ROW_END)

/* Fetches the next line of both places of a stream. */
#define FETCH \
    OP("prefetcht1 (%[ahead])") OP("prefetcht1 (%[ahead],%[second])") OP("add $64, %[ahead]")

/* The same where gaps may lie between rows. LINES is where the stream's `lines_ahead` are: an
 * operand in memory, or a register that points at them, since clang's assembler can add to an
 * address in a register always. */
#define IN_MEMORY(offset) offset "%[lines]"
#define BY_POINTER(offset) offset "0(%[lines])"
#define LINES_END(LINES) LINES("")
#define END_OF_ROW(LINES) LINES("8+")
#define ROW_BYTES(LINES) LINES("16+")
#define ROW_STEP(LINES) LINES("24+")
#define GAP(LINES) LINES("32+")
#define FETCH_IN_ROWS(LINES) \
    FETCH OP("cmp " END_OF_ROW(LINES) ", %[ahead]") OP("jb 7f") \
    OP("add " ROW_STEP(LINES) ", %[ahead]") OP("mov %[ahead], " END_OF_ROW(LINES)) \
    OP("sub " ROW_BYTES(LINES) ", %[ahead]") "7:\n\t"

#define LOOP(label, body) OP(".p2align 5") label ":\n\t" body OP("dec %[n]") OP("jnz " label "b")

/* All steps but the last four: `ones` steps one by one, then `fours` times four steps, with
 * fetching or without. */
#define STEPS(shape, vectors, A, ones, fours, A_BY_1, A_BY_4, LINES) \
    OP("mov %[" #ones "], %[n]") OP("test %[n], %[n]") OP("jz 2f") \
    LOOP("1", STEP(shape, vectors, A, 0) A_BY_1 OP("add %[b_step], %[b]")) "2:\n\t" \
    OP("mov %[" #fours "], %[n]") OP("test %[n], %[n]") OP("jz 5f") \
    OP("cmp " LINES_END(LINES) ", %[ahead]") OP("jae 3f") \
    OP("cmpq $0, " GAP(LINES)) OP("jne 4f") \
    LOOP("8", FETCH FOUR_STEPS(shape, vectors, A) A_BY_4 B_BY_4) OP("jmp 5f") \
    LOOP("3", FOUR_STEPS(shape, vectors, A) A_BY_4 B_BY_4) OP("jmp 5f") \
    LOOP("4", FETCH_IN_ROWS(LINES) FOUR_STEPS(shape, vectors, A) A_BY_4 B_BY_4) "5:\n\t"
#define B_BY_4 OP("lea (%[b],%[b_step],4), %[b]")

/* All tiles of a column, one below the other. What lies between two is as short as can be. */
#define TILES_DOWN(body) "6:\n\t" body OP("decq %[times]") OP("jnz 6b")

#define CLOBBERS "memory", "cc", ALL_REGISTERS

/* ---- Scores -------------------------------------------------------------------------------- */

#define AT_VECTOR(i) #i "*" BYTES "(%[c])"
#define PUT(sum, r, i) STORE(AT_VECTOR(i), sum)
#define JOIN(sum, r, i) ADD(AT_VECTOR(i), sum) PUT(sum, r, i)
#define NEXT_ROW OP("add %[c_row], %[c]")

/* All steps of a chain. After it a and b still point at the last four steps, and c behind the last
 * row. */
#define CHAIN(shape, vectors, A, ones, fours, A_BY_1, A_BY_4, E) \
    A_BEGIN ZEROS STEPS(shape, vectors, A, ones, fours, A_BY_1, A_BY_4, IN_MEMORY) \
    LAST_FOUR_FRONT(shape, vectors, A, E, NEXT_ROW) LAST_FOUR_BACK(shape, vectors, A, E, NEXT_ROW)

/* Notes the largest of each column, and the sum of all. This goes beside the FMAs of the next tile,
 * since other pipes do it. All sums are added to those of row 0. */
#define LARGER(s, x) OP("vmaxps " VECTOR(s) ", " VECTOR(x) ", " VECTOR(x))
#define PLUS_SUM(s, x) OP("vaddps " VECTOR(s) ", " VECTOR(x) ", " VECTOR(x))
#define SUM_OF_0(s, x)
#define SUM_OF_1 PLUS_SUM
#define SUM_OF_2 PLUS_SUM
#define SUM_OF_3 PLUS_SUM
#define SUM_OF_4 PLUS_SUM
#define SUM_OF_5 PLUS_SUM
#define SUM_OF_6 PLUS_SUM
#define SUM_OF_7 PLUS_SUM
#define NOTE_ROW_1(r, s0, none) LARGER(s0, B0) SUM_OF_##r(s0, 0)
#define NOTE_ROW_2(r, s0, s1, none) NOTE_ROW_1(r, s0, none) LARGER(s1, B1) SUM_OF_##r(s1, 1)
#define NOTE_ROW_3(r, s0, s1, s2, none) NOTE_ROW_2(r, s0, s1, none) LARGER(s2, B2) SUM_OF_##r(s2, 2)
#define NOTED(i) #i "*" BYTES "(%[n])"
#define EACH_NOTED_1(E) E(NOTED(0), B0)
#define EACH_NOTED_2(E) EACH_NOTED_1(E) E(NOTED(1), B1)
#define EACH_NOTED_3(E) EACH_NOTED_2(E) E(NOTED(2), B2)
#define ALL_SUMS_1 PLUS_SUM(0, A0)
#define ALL_SUMS_2 PLUS_SUM(1, 0) PLUS_SUM(0, A0)
#define ALL_SUMS_3 PLUS_SUM(2, 1) ALL_SUMS_2
#define NOTE(shape, vectors) \
    OP("mov %[notes], %[n]") EACH_NOTED_##vectors(LOAD) LOAD(NOTED_SUM "(%[n])", A0) \
    FRONT_##shape(NOTE_ROW_##vectors, ) BACK_##shape(NOTE_ROW_##vectors, ) ALL_SUMS_##vectors \
    EACH_NOTED_##vectors(STORE) STORE(NOTED_SUM "(%[n])", A0)

#define SCORE_OUTPUTS [a] "+r"(a), [a8] "=&r"(a8), [b] "+r"(b), [c] "+r"(c), \
    [ahead] "+r"(ahead), [n] "=&r"(n), [lines] "+m"(next)
#define SCORE_INPUTS \
    [a_row] "r"(a_row), [a_row3] "r"(3 * a_row), [a_row5] "r"(5 * a_row), [a_row7] "r"(7 * a_row), \
    [b_step] "r"(b_step), [b_step3] "r"(3 * b_step), [c_row] "m"(c_row), \
    [second] "r"(t->fetch->second), [ones] "m"(ones), [fours] "m"(fours)

/* Tiles of scores of one chain. */
#define SCORES_OF_ONE_CHAIN(name, shape, rows, vectors) \
    static void name(const tile *t) { \
        const int64_t a_row = t->a_row, b_step = t->b_step, c_row = t->c_row * 4; \
        const int64_t ones = t->steps & 3, fours = (t->steps >> 2) - 1; \
        const int64_t a_on = rows * a_row - (t->steps - 4) * 4, b_on = -(t->steps - 4) * b_step; \
        const char *a = t->a, *b = t->b, *ahead = t->fetch->p; \
        lines_ahead next = lines_of(t->fetch); \
        float *c = t->c; \
        int64_t n, a8, times = t->times; \
        __asm__ volatile(TILES_DOWN( \
            CHAIN(shape, vectors, ALONG_1, ones, fours, A_ON("$4"), A_ON("$16"), PUT) \
                NOTE(shape, vectors) \
            A_ON("%[a_on]") OP("add %[b_on], %[b]")) \
            : SCORE_OUTPUTS, [times] "+m"(times) \
            : SCORE_INPUTS, [a_on] "m"(a_on), [b_on] "m"(b_on), [notes] "m"(t->notes) \
            : CLOBBERS); \
        stream_follow(t->fetch, ahead, &next); \
    }

/* Tiles of scores of two chains, one chain after the other. */
#define SCORES_OF_TWO_CHAINS(name, shape, rows, vectors) \
    static void name(const tile *t) { \
        const int64_t a_row = t->a_row, b_row = t->b_row, b_step = t->b_step; \
        const int64_t c_row = t->c_row * 4, even = (t->steps + 1) >> 1, odd = t->steps >> 1; \
        const int64_t ones = even & 3, fours = (even >> 2) - 1; \
        const int64_t odd_ones = odd & 3, odd_fours = (odd >> 2) - 1; \
        const int64_t to_odd[] = {4 - (even - 4) * 8, b_row - (even - 4) * b_step, -rows * c_row}; \
        const int64_t a_on = rows * a_row - 4 - (odd - 4) * 8, b_on = -b_row - (odd - 4) * b_step; \
        const char *a = t->a, *b = t->b, *ahead = t->fetch->p; \
        lines_ahead next = lines_of(t->fetch); \
        float *c = t->c; \
        int64_t n, a8, times = t->times; \
        __asm__ volatile(TILES_DOWN( \
            CHAIN(shape, vectors, ALONG_2, ones, fours, A_ON("$8"), KEYS_AHEAD_##shape \
                A_ON("$32"), PUT) \
            A_ON("%[to_odd]") OP("add 8+%[to_odd], %[b]") OP("add 16+%[to_odd], %[c]") \
            CHAIN(shape, vectors, ALONG_2, odd_ones, odd_fours, A_ON("$8"), A_ON("$32"), JOIN) \
                NOTE(shape, vectors) \
            A_ON("%[a_on]") OP("add %[b_on], %[b]")) \
            : SCORE_OUTPUTS, [times] "+m"(times) \
            : SCORE_INPUTS, [odd_ones] "m"(odd_ones), [odd_fours] "m"(odd_fours), \
              [to_odd] "m"(to_odd), [a_on] "m"(a_on), [b_on] "m"(b_on), [notes] "m"(t->notes) \
            : CLOBBERS); \
        stream_follow(t->fetch, ahead, &next); \
    }

/* Tiles of scores of pieces of two chains, whose steps of b lie chain by chain. Each chain has an
 * __asm__ of its own. */
#define SCORES_OF_A_CHAIN(shape, vectors, KEYS, E) \
    __asm__ volatile(CHAIN(shape, vectors, ALONG_2, ones, fours, A_ON("$8"), KEYS A_ON("$32"), E) \
                     : SCORE_OUTPUTS : SCORE_INPUTS : CLOBBERS)
#define SCORES_OF_PIECES(name, shape, rows, vectors) \
    static void name(const tile *t) { \
        const int64_t a_row = t->a_row, b_step = t->b_step, c_row = t->c_row * 4; \
        const char *ahead = t->fetch->p; \
        lines_ahead next = lines_of(t->fetch); \
        for (int64_t i = 0; i < t->times; i++) { \
            chain k = first_chain(t->steps, t->chains); \
            do { \
                const int64_t ones = k.steps & 3, fours = (k.steps >> 2) - 1; \
                const char *a = t->a + i * rows * a_row + k.first * 4, *b = chain_in_b(t, &k); \
                float *c = t->c + i * rows * t->c_row; \
                int64_t n, a8; \
                if (k.first == 0) \
                    SCORES_OF_A_CHAIN(shape, vectors, KEYS_AHEAD_##shape, PUT); \
                else \
                    SCORES_OF_A_CHAIN(shape, vectors, , JOIN); \
            } while (next_chain(&k, t->steps, t->chains)); \
        } \
        stream_follow(t->fetch, ahead, &next); \
    }

#define SCORES(shape, rows, vectors) \
    SCORES_OF_ONE_CHAIN(tile_scores_##shape##_of_1, shape, rows, vectors) \
    SCORES_OF_TWO_CHAINS(tile_scores_##shape##_of_2, shape, rows, vectors) \
    SCORES_OF_PIECES(tile_scores_##shape##_by_chain, shape, rows, vectors)

/* clang-format on */

#include "kernels/attention/tile/asm_values_x86.h"

/* ---- Which there are ----------------------------------------------------------------------- */

/* The functions of a number of rows and vectors; NULL where there is none. */
typedef struct asm_tiles {
    tile_function *scores_of_1, *scores_of_2, *scores_by_chain, *values, *values_copied, *results;
    tile_function *values_by_query; /* of thin row blocks */
} asm_tiles;

#define ASM_SCORES(shape)                                                                          \
    .scores_of_1 = tile_scores_##shape##_of_1, .scores_of_2 = tile_scores_##shape##_of_2,          \
    .scores_by_chain = tile_scores_##shape##_by_chain
#define ASM_VALUES(shape) .values = tile_values_##shape, .results = tile_results_##shape
#define ASM_VALUES_COPIED(shape) .values_copied = tile_values_copied_##shape
#define ASM_BY_QUERY(shape) .values_by_query = tile_by_query_##shape

RDK_INLINE bool fetches_in_a_row(const stream *s) {
    return s->left <= 0 || s->gap == 0;
}

/* The last four steps of a chain are done apart, so the last piece must have four of each chain. */
RDK_INLINE bool has_last_four(const tile *t) {
    return t->steps - (t->steps - 1) / RDK_PIECE * RDK_PIECE >= 4 * t->chains;
}

/* Assembly fetches lines only where their addresses ascend. */
RDK_INLINE bool fetches_upwards(const stream *s) {
    return s->left <= 0 || s->row * RDK_LINE + s->gap > 0;
}

RDK_INLINE tile_function *asm_scores(const asm_tiles *are, const tile *t) {
    return t->chains == 1          ? are->scores_of_1
           : t->by_chain           ? are->scores_by_chain
           : t->steps <= RDK_PIECE ? are->scores_of_2
                                   : NULL;
}

/* The function for a tile, or NULL. */
RDK_INLINE tile_function *asm_tile_of(const asm_tiles *are, const tile *t) {
    if (t->kind == TILE_VALUES_BY_QUERY)
        return fetches_in_a_row(t->fetch) ? are->values_by_query : NULL;
    if (!fetches_upwards(t->fetch) || !has_last_four(t))
        return NULL;
    switch (t->kind) {
    case TILE_SCORES:
        return asm_scores(are, t);
    case TILE_VALUES_COPY:
        return are->values_copied;
    case TILE_RESULTS:
        return are->results;
    default:
        return t->from ? NULL : are->values;
    }
}
#endif
