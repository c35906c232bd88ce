/* The tiles that most of the time goes to, by hand. Twelve sums, a step of b and an element of a take all sixteen
 * registers, with which no compiler gets by. What is gained most is at the ends of a tile: sums that are all ready at
 * once wait together to be stored, and fill the queue in which the FMAs of the next tile should be. So the last four
 * steps are done for the front half of the sums, which are stored, and then for the back half.
 *
 * Everything that is not simple is left to tile_body.h: see by_hand(). The arithmetic is the same. */
#ifndef RDK_BY_HAND_AVX2_H
#define RDK_BY_HAND_AVX2_H

/* clang-format off */

/* ---- Instructions. Sums are ymm0 ... ymm11, row by row; the other four are for a and b. ------------------- */

#define DO(text) text "\n\t"
#define SPLAT(at, x) DO("vbroadcastss " at ", %%ymm" #x)
#define LOAD(at, x) DO("vmovups " at ", %%ymm" #x)
#define STORE(at, s) DO("vmovups %%ymm" #s ", " at)
#define FMA(x, y, s) DO("vfmadd231ps %%ymm" #x ", %%ymm" #y ", %%ymm" #s)
#define FMA_WITH(at, y, s) DO("vfmadd231ps " at ", %%ymm" #y ", %%ymm" #s)
#define ADD(at, s) DO("vaddps " at ", %%ymm" #s ", %%ymm" #s)
#define MUL(at, x, s) DO("vmulps " at ", %%ymm" #x ", %%ymm" #s)
#define ZERO(s) DO("vxorps %%xmm" #s ", %%xmm" #s ", %%xmm" #s)
#define ZEROS_8 ZERO(0) ZERO(1) ZERO(2) ZERO(3) ZERO(4) ZERO(5) ZERO(6) ZERO(7)
#define ZEROS ZEROS_8 ZERO(8) ZERO(9) ZERO(10) ZERO(11)

/* ---- Where things lie ------------------------------------------------------------------------------------- */

/* Multiples of a distance from a pointer. */
#define FROM_0(p, by) "(%[" #p "])"
#define FROM_1(p, by) "(%[" #p "],%[" #by "])"
#define FROM_2(p, by) "(%[" #p "],%[" #by "],2)"
#define FROM_3(p, by) "(%[" #p "],%[" #by "3])"
#define FROM_4(p, by) "(%[" #p "],%[" #by "],4)"
#define FROM_5(p, by) "(%[" #p "],%[" #by "5])"
#define FROM_6(p, by) "(%[" #p "],%[" #by "3],2)"
#define FROM_7(p, by) "(%[" #p "],%[" #by "7])"

/* a, row r and step s: rows lie apart, and steps are neighbours, or every second element; or rows are neighbours and
 * steps lie apart. */
#define ALONG_1(r, s) #s "*4" FROM_##r(a, a_far)
#define ALONG_2(r, s) #s "*8" FROM_##r(a, a_far)
#define ACROSS(r, s) #r "*4" FROM_##s(a, a_far)

/* b, step s and vector i, for one, two and three vectors: the same. */
#define B_1_OF_1(s, i) #s "*32(%[b])"
#define B_1_OF_2(s, i) #s "*64(%[b])"
#define B_2_OF_1(s, i) #s "*64+" #i "*32(%[b])"
#define B_2_OF_2(s, i) #s "*128+" #i "*32(%[b])"
#define B_3_OF_1(s, i) #s "*96+" #i "*32(%[b])"
#define B_3_OF_2(s, i) #s "*192+" #i "*32(%[b])"
#define B_APART(s, i) #i "*32" FROM_##s(b, b_step)

/* ---- Shapes: the sums of the front half, and of the back half. E(sum, row, vector) follows each FMA. ------ */

#define ROW_OF_1(x, r, E, s0) FMA(12, x, s0) E(s0, r, 0)
#define ROW_OF_2(x, r, E, s0, s1) FMA(12, x, s0) E(s0, r, 0) FMA(13, x, s1) E(s1, r, 1)
#define ROW_OF_3(x, r, E, s0, s1, s2) ROW_OF_2(x, r, E, s0, s1) FMA(14, x, s2) E(s2, r, 2)

#define HOLD_1(B, s) LOAD(B(s, 0), 12)
#define HOLD_2(B, s) HOLD_1(B, s) LOAD(B(s, 1), 13)
#define HOLD_3(B, s) HOLD_2(B, s) LOAD(B(s, 2), 14)

/* More rows than vectors: b is held, and a goes by. */
#define FRONT_4x3(A, B, s, E) HOLD_3(B, s) \
    SPLAT(A(0, s), 15) ROW_OF_3(15, 0, E, 0, 1, 2)  SPLAT(A(1, s), 15) ROW_OF_3(15, 1, E, 3, 4, 5)
#define BACK_4x3(A, B, s, E) \
    SPLAT(A(2, s), 15) ROW_OF_3(15, 2, E, 6, 7, 8)  SPLAT(A(3, s), 15) ROW_OF_3(15, 3, E, 9, 10, 11)
#define FRONT_6x2(A, B, s, E) HOLD_2(B, s) \
    SPLAT(A(0, s), 14) ROW_OF_2(14, 0, E, 0, 1)  SPLAT(A(1, s), 15) ROW_OF_2(15, 1, E, 2, 3) \
    SPLAT(A(2, s), 14) ROW_OF_2(14, 2, E, 4, 5)
#define BACK_4x2(A, B, s, E) SPLAT(A(3, s), 15) ROW_OF_2(15, 3, E, 6, 7)
#define BACK_5x2(A, B, s, E) BACK_4x2(A, B, s, E) SPLAT(A(4, s), 14) ROW_OF_2(14, 4, E, 8, 9)
#define BACK_6x2(A, B, s, E) BACK_5x2(A, B, s, E) SPLAT(A(5, s), 15) ROW_OF_2(15, 5, E, 10, 11)
#define FRONT_4x2 FRONT_6x2
#define FRONT_5x2 FRONT_6x2
#define FRONT_8x1(A, B, s, E) HOLD_1(B, s) \
    SPLAT(A(0, s), 14) ROW_OF_1(14, 0, E, 0)  SPLAT(A(1, s), 15) ROW_OF_1(15, 1, E, 1) \
    SPLAT(A(2, s), 14) ROW_OF_1(14, 2, E, 2)  SPLAT(A(3, s), 15) ROW_OF_1(15, 3, E, 3)
#define BACK_8x1(A, B, s, E) \
    SPLAT(A(4, s), 14) ROW_OF_1(14, 4, E, 4)  SPLAT(A(5, s), 15) ROW_OF_1(15, 5, E, 5) \
    SPLAT(A(6, s), 14) ROW_OF_1(14, 6, E, 6)  SPLAT(A(7, s), 15) ROW_OF_1(15, 7, E, 7)

#define REHOLD_4x3 HOLD_3
#define REHOLD_6x2 HOLD_2
#define REHOLD_5x2 HOLD_2
#define REHOLD_4x2 HOLD_2
#define REHOLD_8x1 HOLD_1

/* ---- A tile ----------------------------------------------------------------------------------------------- */

#define NOTHING(sum, r, i)
#define STEP(shape, A, B, s) FRONT_##shape(A, B, s, NOTHING) BACK_##shape(A, B, s, NOTHING)
#define FOUR_STEPS(shape, A, B) STEP(shape, A, B, 0) STEP(shape, A, B, 1) STEP(shape, A, B, 2) STEP(shape, A, B, 3)
#define LAST_FOUR_FRONT(shape, A, B, E) \
    FRONT_##shape(A, B, 0, NOTHING) FRONT_##shape(A, B, 1, NOTHING) FRONT_##shape(A, B, 2, NOTHING) \
    FRONT_##shape(A, B, 3, E)
#define LAST_FOUR_BACK(shape, A, B, E) \
    REHOLD_##shape(B, 0) BACK_##shape(A, B, 0, NOTHING) REHOLD_##shape(B, 1) BACK_##shape(A, B, 1, NOTHING) \
    REHOLD_##shape(B, 2) BACK_##shape(A, B, 2, NOTHING) REHOLD_##shape(B, 3) BACK_##shape(A, B, 3, E)

/* Two lines of what is read next. */
#define FETCH DO("prefetcht1 (%[ahead])") DO("prefetcht1 (%[ahead],%[twin])") DO("add $64, %[ahead]")

#define LOOP(label, body) DO(".p2align 5") label ":\n\t" body DO("dec %[n]") DO("jnz " label "b")

/* Steps but for the last four: those that are left over by fours, then fours, with fetching or without. */
#define STEPS(shape, A, B, ones, fours, ON_BY_1, ON_BY_4) \
    DO("mov %[" #ones "], %[n]") DO("test %[n], %[n]") DO("jz 2f") LOOP("1", STEP(shape, A, B, 0) ON_BY_1) "2:\n\t" \
    DO("mov %[" #fours "], %[n]") DO("test %[n], %[n]") DO("jz 5f") DO("cmp %[fetch_end], %[ahead]") DO("jb 4f") \
    LOOP("3", FOUR_STEPS(shape, A, B) ON_BY_4) DO("jmp 5f") \
    LOOP("4", FETCH FOUR_STEPS(shape, A, B) ON_BY_4) "5:\n\t"

/* All tiles that are one below the other: what lies between two is as short as can be. */
#define TILES(body) "6:\n\t" body DO("decq %[times]") DO("jnz 6b")

#define CLOBBERS \
    "memory", "cc", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", \
    "xmm12", "xmm13", "xmm14", "xmm15"

/* ---- Scores: sum n lies at 32 n of c -------------------------------------------------------------------------- */

#define PUT(sum, r, i) STORE(#sum "*32(%[c])", sum)
#define JOIN(sum, r, i) ADD(#sum "*32(%[c])", sum) PUT(sum, r, i)

/* The keys of the next tile, into L1. With two chains all of a key is read in half of the time. */
#define KEYS_AHEAD_4x3 \
    DO("prefetcht0 " FROM_4(a, a_far)) DO("prefetcht0 " FROM_5(a, a_far)) \
    DO("prefetcht0 " FROM_6(a, a_far)) DO("prefetcht0 " FROM_7(a, a_far))
#define KEYS_AHEAD_4x2
#define KEYS_AHEAD_5x2
#define KEYS_AHEAD_6x2
#define KEYS_AHEAD_8x1

/* On by one step and by four, where the chain has every step, and every second. */
#define BY_1_OF_1(vectors) DO("add $4, %[a]") DO("add $32*" #vectors ", %[b]")
#define BY_4_OF_1(vectors) DO("add $16, %[a]") DO("add $128*" #vectors ", %[b]")
#define BY_1_OF_2(vectors) DO("add $8, %[a]") DO("add $64*" #vectors ", %[b]")
#define BY_4_OF_2(vectors) DO("add $32, %[a]") DO("add $256*" #vectors ", %[b]")

/* All steps of a chain. a and b end four steps before its end. */
#define CHAIN(shape, A, B, ones, fours, BY_1, BY_4, E) \
    ZEROS STEPS(shape, A, B, ones, fours, BY_1, BY_4) LAST_FOUR_FRONT(shape, A, B, E) LAST_FOUR_BACK(shape, A, B, E)
#define SCORE_OPERANDS \
    [a_far] "r"(far), [a_far3] "r"(3 * far), [a_far5] "r"(5 * far), [a_far7] "r"(7 * far), [twin] "r"(t->fetch->twin), \
        [fetch_end] "m"(fetch_end), [ones] "m"(ones), [fours] "m"(fours)

/* Of one chain. */
#define SCORES_OF_ONE_CHAIN(name, shape, rows, vectors) \
    static void name(const tile *t) { \
        const int64_t far = t->a_row, ones = t->steps & 3, fours = (t->steps >> 2) - 1; \
        const int64_t a_on = rows * far - (t->steps - 4) * 4, b_on = -(t->steps - 4) * vectors * 32; \
        const char *a = t->a, *b = t->b, *ahead = t->fetch->p, *fetch_end = stream_end(t->fetch); \
        float *c = t->c; \
        int64_t n, times = t->times; \
        __asm__ volatile(TILES( \
            CHAIN(shape, ALONG_1, B_##vectors##_OF_1, ones, fours, BY_1_OF_1(vectors), BY_4_OF_1(vectors), PUT) \
            DO("add %[a_on], %[a]") DO("add %[b_on], %[b]") DO("add $32*" #rows "*" #vectors ", %[c]")) \
            : [a] "+r"(a), [b] "+r"(b), [c] "+r"(c), [ahead] "+r"(ahead), [n] "=&r"(n), [times] "+m"(times) \
            : SCORE_OPERANDS, [a_on] "m"(a_on), [b_on] "m"(b_on) \
            : CLOBBERS); \
        stream_fetched(t->fetch, ahead); \
    }

/* Of two chains, one after the other. */
#define SCORES_OF_TWO_CHAINS(name, shape, rows, vectors) \
    static void name(const tile *t) { \
        const int64_t even = (t->steps + 1) >> 1, odd = t->steps >> 1, far = t->a_row; \
        const int64_t ones = even & 3, fours = (even >> 2) - 1, odd_ones = odd & 3, odd_fours = (odd >> 2) - 1; \
        const int64_t a_turn = 4 - (even - 4) * 8, b_turn = vectors * 32 - (even - 4) * vectors * 64; \
        const int64_t a_on = rows * far - 4 - (odd - 4) * 8, b_on = -(vectors * 32) - (odd - 4) * vectors * 64; \
        const char *a = t->a, *b = t->b, *ahead = t->fetch->p, *fetch_end = stream_end(t->fetch); \
        float *c = t->c; \
        int64_t n, times = t->times; \
        __asm__ volatile(TILES( \
            CHAIN(shape, ALONG_2, B_##vectors##_OF_2, ones, fours, BY_1_OF_2(vectors), \
                  KEYS_AHEAD_##shape BY_4_OF_2(vectors), PUT) \
            DO("add %[a_turn], %[a]") DO("add %[b_turn], %[b]") \
            CHAIN(shape, ALONG_2, B_##vectors##_OF_2, odd_ones, odd_fours, BY_1_OF_2(vectors), BY_4_OF_2(vectors), JOIN) \
            DO("add %[a_on], %[a]") DO("add %[b_on], %[b]") DO("add $32*" #rows "*" #vectors ", %[c]")) \
            : [a] "+r"(a), [b] "+r"(b), [c] "+r"(c), [ahead] "+r"(ahead), [n] "=&r"(n), [times] "+m"(times) \
            : SCORE_OPERANDS, [odd_ones] "m"(odd_ones), [odd_fours] "m"(odd_fours), [a_turn] "m"(a_turn), \
              [b_turn] "m"(b_turn), [a_on] "m"(a_on), [b_on] "m"(b_on) \
            : CLOBBERS); \
        stream_fetched(t->fetch, ahead); \
    }

/* Of pieces of two chains, whose steps of b lie chain by chain: tile by tile. */
#define SCORES_OF_A_CHAIN(shape, vectors, KEYS, E) \
    __asm__ volatile( \
        CHAIN(shape, ALONG_2, B_##vectors##_OF_1, ones, fours, DO("add $8, %[a]") DO("add $32*" #vectors ", %[b]"), \
              KEYS DO("add $32, %[a]") DO("add $128*" #vectors ", %[b]"), E) \
        : [a] "+r"(a), [b] "+r"(b), [ahead] "+r"(ahead), [n] "=&r"(n) : SCORE_OPERANDS, [c] "r"(c) : CLOBBERS)
#define SCORES_OF_PIECES(name, shape, rows, vectors) \
    static void name(const tile *t) { \
        const int64_t far = t->a_row; \
        for (int64_t i = 0; i < t->times; i++) { \
            char *c = (char *)t->c + i * rows * vectors * 32; \
            chain k = first_chain(t->steps, t->chains); \
            do { \
                const int64_t ones = k.steps & 3, fours = (k.steps >> 2) - 1; \
                const char *a = t->a + i * rows * far + k.first * 4, *b = chain_in_b(t, &k); \
                const char *ahead = t->fetch->p, *fetch_end = stream_end(t->fetch); \
                int64_t n; \
                if (k.first == 0) \
                    SCORES_OF_A_CHAIN(shape, vectors, KEYS_AHEAD_##shape, PUT); \
                else \
                    SCORES_OF_A_CHAIN(shape, vectors, , JOIN); \
                stream_fetched(t->fetch, ahead); \
            } while (next_chain(&k, t->steps, t->chains)); \
        } \
    }

#define SCORES(shape, rows, vectors) \
    SCORES_OF_ONE_CHAIN(tile_scores_##shape##_of_1, shape, rows, vectors) \
    SCORES_OF_TWO_CHAINS(tile_scores_##shape##_of_2, shape, rows, vectors) \
    SCORES_OF_PIECES(tile_scores_##shape##_by_chain, shape, rows, vectors)

SCORES(4x3, 4, 3)
SCORES(4x2, 4, 2)
SCORES(5x2, 5, 2)
SCORES(6x2, 6, 2)
SCORES(8x1, 8, 1)

/* ---- Values ------------------------------------------------------------------------------------------------- */

/* c, row r: rows 3 ... 5 when c has been moved on by three. */
#define C_ROW_0 FROM_0(c, c_row)
#define C_ROW_1 FROM_1(c, c_row)
#define C_ROW_2 FROM_2(c, c_row)
#define C_ROW_3 C_ROW_0
#define C_ROW_4 C_ROW_1
#define C_ROW_5 C_ROW_2
#define THREE_ROWS_ON DO("add %[c_row3], %[c]")
#define THREE_ROWS_BACK DO("sub %[c_row3], %[c]")
#define PUT_ROW(sum, r, i) STORE(#i "*32" C_ROW_##r, sum)

/* What lies at c times the factors of its rows, which n points at. */
#define BEGIN_ROW(r, x, s0, s1) SPLAT(#r "*4(%[n])", x) MUL(C_ROW_##r, x, s0) MUL("32" C_ROW_##r, x, s1)
#define SHRUNK_3 BEGIN_ROW(0, 12, 0, 1) BEGIN_ROW(1, 13, 2, 3) BEGIN_ROW(2, 14, 4, 5) THREE_ROWS_ON
#define SHRUNK_4x2 SHRUNK_3 BEGIN_ROW(3, 15, 6, 7) THREE_ROWS_BACK
#define SHRUNK_5x2 SHRUNK_3 BEGIN_ROW(3, 15, 6, 7) BEGIN_ROW(4, 12, 8, 9) THREE_ROWS_BACK
#define SHRUNK_6x2 SHRUNK_3 BEGIN_ROW(3, 15, 6, 7) BEGIN_ROW(4, 12, 8, 9) BEGIN_ROW(5, 13, 10, 11) THREE_ROWS_BACK

/* What lies there, as it is. */
#define LOAD_ROW(sum, r, i) LOAD(#i "*32" C_ROW_##r, sum)
#define TWO(DO_IT, r, s0, s1) DO_IT(s0, r, 0) DO_IT(s1, r, 1)
#define EACH_OF_3(DO_IT) TWO(DO_IT, 0, 0, 1) TWO(DO_IT, 1, 2, 3) TWO(DO_IT, 2, 4, 5) THREE_ROWS_ON
#define EACH_4x2(DO_IT) EACH_OF_3(DO_IT) TWO(DO_IT, 3, 6, 7) THREE_ROWS_BACK
#define EACH_5x2(DO_IT) EACH_OF_3(DO_IT) TWO(DO_IT, 3, 6, 7) TWO(DO_IT, 4, 8, 9) THREE_ROWS_BACK
#define EACH_6x2(DO_IT) \
    EACH_OF_3(DO_IT) TWO(DO_IT, 3, 6, 7) TWO(DO_IT, 4, 8, 9) TWO(DO_IT, 5, 10, 11) THREE_ROWS_BACK
#define GOING_ON(shape) EACH_##shape(LOAD_ROW)

#define VALUE_TILES(shape, rows, BEGIN) \
    __asm__ volatile(TILES(BEGIN \
        STEPS(shape, ACROSS, B_APART, ones, fours, DO("add %[a_far], %[a]") DO("add %[b_step], %[b]"), \
              DO("lea (%[a],%[a_far],4), %[a]") DO("lea (%[b],%[b_step],4), %[b]")) \
        LAST_FOUR_FRONT(shape, ACROSS, B_APART, PUT_ROW) THREE_ROWS_ON LAST_FOUR_BACK(shape, ACROSS, B_APART, PUT_ROW) \
        DO("add %[a_on], %[a]") DO("add %[b_on], %[b]") DO("add %[c_on], %[c]") DO("addq $4*" #rows ", %[shrink]")) \
        : [a] "+r"(a), [b] "+r"(b), [c] "+r"(c), [ahead] "+r"(ahead), [n] "=&r"(n), [times] "+m"(times), [shrink] "+m"(shrink) \
        : [a_far] "r"(far), [a_far3] "r"(3 * far), [b_step] "r"(b_step), [b_step3] "r"(3 * b_step), \
          [c_row] "r"(c_row), [c_row3] "r"(3 * c_row), [twin] "r"(t->fetch->twin), [fetch_end] "m"(fetch_end), \
          [ones] "m"(ones), [fours] "m"(fours), [a_on] "m"(a_on), [b_on] "m"(b_on), [c_on] "m"(c_on) \
        : CLOBBERS)

#define VALUES(shape, rows, vectors) \
    static void tile_values_##shape(const tile *t) { \
        const int64_t far = t->a_step, b_step = t->b_step, c_row = t->c_row * 4; \
        const int64_t ones = t->steps & 3, fours = (t->steps >> 2) - 1; \
        const int64_t a_on = rows * 4 - (t->steps - 4) * far, b_on = -(t->steps - 4) * b_step, c_on = (rows - 3) * c_row; \
        const char *ahead = t->fetch->p, *fetch_end = stream_end(t->fetch); \
        for (int64_t i = 0; i < t->across; i++) { \
            const char *a = t->a, *b = t->b + i * t->b_across; \
            const float *shrink = t->shrink; \
            float *c = t->c + i * vectors * 8; \
            int64_t n, times = t->times; \
            if (!shrink) \
                VALUE_TILES(shape, rows, ZEROS); \
            else if (shrink == TILE_AS_IT_IS) \
                VALUE_TILES(shape, rows, GOING_ON(shape)); \
            else \
                VALUE_TILES(shape, rows, DO("mov %[shrink], %[n]") SHRUNK_##shape); \
        } \
        stream_fetched(t->fetch, ahead); \
    }

VALUES(4x2, 4, 2)
VALUES(5x2, 5, 2)
VALUES(6x2, 6, 2)

/* ---- Values of very few queries: weights lie by query, and steps of a follow each other ---------------------- */

/* a, row r and step s. */
#define BY_QUERY(r, s) "4*" #s "+512*" #r "(%[a])"

/* Fewer rows than vectors: a is held, and b goes by. */
#define COLUMN_OF_2(s, i, s0, s1) LOAD(B_APART(s, i), 12) FMA(12, 13, s0) FMA(12, 14, s1)
#define COLUMN_OF_3(s, i, s0, s1, s2) COLUMN_OF_2(s, i, s0, s1) FMA(12, 15, s2)
#define STEP_1x8(s) SPLAT(BY_QUERY(0, s), 15) \
    FMA_WITH(B_APART(s, 0), 15, 0) FMA_WITH(B_APART(s, 1), 15, 1) FMA_WITH(B_APART(s, 2), 15, 2) \
    FMA_WITH(B_APART(s, 3), 15, 3) FMA_WITH(B_APART(s, 4), 15, 4) FMA_WITH(B_APART(s, 5), 15, 5) \
    FMA_WITH(B_APART(s, 6), 15, 6) FMA_WITH(B_APART(s, 7), 15, 7)
#define STEP_2x4(s) SPLAT(BY_QUERY(0, s), 13) SPLAT(BY_QUERY(1, s), 14) \
    COLUMN_OF_2(s, 0, 0, 4) COLUMN_OF_2(s, 1, 1, 5) COLUMN_OF_2(s, 2, 2, 6) COLUMN_OF_2(s, 3, 3, 7)
#define STEP_3x4(s) SPLAT(BY_QUERY(0, s), 13) SPLAT(BY_QUERY(1, s), 14) SPLAT(BY_QUERY(2, s), 15) \
    COLUMN_OF_3(s, 0, 0, 4, 8) COLUMN_OF_3(s, 1, 1, 5, 9) COLUMN_OF_3(s, 2, 2, 6, 10) COLUMN_OF_3(s, 3, 3, 7, 11)
#define STEP_4x2(s) STEP(4x2, BY_QUERY, B_APART, s)

/* Sums begin at +0, as what lies at c, or as that times the factors of its rows; and are put there. */
#define ROW_4(DO_IT, r, s0, s1, s2, s3) DO_IT(s0, r, 0) DO_IT(s1, r, 1) DO_IT(s2, r, 2) DO_IT(s3, r, 3)
#define EACH_1x8(DO_IT) ROW_4(DO_IT, 0, 0, 1, 2, 3) DO_IT(4, 0, 4) DO_IT(5, 0, 5) DO_IT(6, 0, 6) DO_IT(7, 0, 7)
#define EACH_2x4(DO_IT) ROW_4(DO_IT, 0, 0, 1, 2, 3) ROW_4(DO_IT, 1, 4, 5, 6, 7)
#define EACH_3x4(DO_IT) EACH_2x4(DO_IT) ROW_4(DO_IT, 2, 8, 9, 10, 11)
#define SHRINK_ROW(sum, r, i) SPLAT(#r "*4(%[n])", 15) MUL(#i "*32" C_ROW_##r, 15, sum)
#define FROM_NOTHING(shape) ZEROS
#define SHRUNK(shape) DO("mov %[shrink], %[n]") EACH_##shape(SHRINK_ROW)

/* Lines are fetched beside steps, as evenly as it goes: bursts of them are dropped. */
#define FETCH_BY_1x8 FETCH FETCH
#define FETCH_BY_2x4 FETCH
#define FETCH_BY_3x4 FETCH
#define FETCH_BY_4x2 DO("prefetcht1 (%[ahead])")
#define FETCH_BETWEEN_1x8 FETCH FETCH
#define FETCH_BETWEEN_2x4 FETCH
#define FETCH_BETWEEN_3x4 FETCH
#define FETCH_BETWEEN_4x2 DO("prefetcht1 (%[ahead],%[twin])") DO("add $64, %[ahead]")

#define ON_BY_4 DO("add $16, %[a]") DO("lea (%[b],%[b_step],4), %[b]")
#define FEW_VALUES(shape, vectors, BEGIN) \
    __asm__ volatile("6:\n\t" BEGIN(shape) \
        DO("mov %[ones], %[n]") DO("test %[n], %[n]") DO("jz 2f") \
        LOOP("1", STEP_##shape(0) DO("add $4, %[a]") DO("add %[b_step], %[b]")) "2:\n\t" \
        DO("mov %[fours], %[n]") DO("test %[n], %[n]") DO("jz 5f") DO("cmpq $0, %[fetches]") DO("jne 4f") \
        LOOP("3", STEP_##shape(0) STEP_##shape(1) STEP_##shape(2) STEP_##shape(3) ON_BY_4) DO("jmp 5f") \
        LOOP("4", FETCH_BY_##shape STEP_##shape(0) FETCH_BETWEEN_##shape STEP_##shape(1) \
                  FETCH_BY_##shape STEP_##shape(2) FETCH_BETWEEN_##shape STEP_##shape(3) ON_BY_4) "5:\n\t" \
        EACH_##shape(PUT_ROW) \
        DO("sub %[a_all], %[a]") DO("sub %[b_all], %[b]") DO("add $32*" #vectors ", %[b]") \
        DO("add $32*" #vectors ", %[c]") DO("decq %[across]") DO("jnz 6b") \
        : [a] "+r"(a), [b] "+r"(b), [c] "+r"(c), [ahead] "+r"(ahead), [n] "=&r"(n), [across] "+m"(across) \
        : [b_step] "r"(b_step), [b_step3] "r"(3 * b_step), [c_row] "r"(c_row), [c_row3] "r"(3 * c_row), \
          [twin] "r"(t->fetch->twin), [fetches] "m"(fetches), [ones] "m"(ones), [fours] "m"(fours), \
          [a_all] "m"(a_all), [b_all] "m"(b_all), [shrink] "m"(t->shrink) \
        : CLOBBERS)

#define VALUES_BY_QUERY(shape, vectors) \
    static void tile_by_query_##shape(const tile *t) { \
        const int64_t b_step = t->b_step, c_row = t->c_row * 4, a_all = t->steps * 4, b_all = t->steps * b_step; \
        const int64_t ones = t->steps % 4, fours = t->steps / 4, fetches = t->fetch->left > 0; \
        const char *a = t->a, *b = t->b, *ahead = t->fetch->p; \
        char *c = (char *)t->c; \
        int64_t n, across = t->across; \
        if (!t->shrink) \
            FEW_VALUES(shape, vectors, FROM_NOTHING); \
        else if (t->shrink == TILE_AS_IT_IS) \
            FEW_VALUES(shape, vectors, GOING_ON); \
        else \
            FEW_VALUES(shape, vectors, SHRUNK); \
        stream_fetched(t->fetch, ahead); \
    }

VALUES_BY_QUERY(1x8, 8)
VALUES_BY_QUERY(2x4, 4)
VALUES_BY_QUERY(3x4, 4)
VALUES_BY_QUERY(4x2, 2)

/* ---- Scores of very few queries: keys are the lanes of a vector, as in few_x86.h --------------------------------- */

/* Four elements of one key, and of another in the upper half: the first four of eight, and the others. */
#define HALVES_0(keys, one, another, x) \
    DO("vbroadcastf128 " FROM_##another(keys, far) ", %%ymm" #x) \
    DO("vblendps $0x0f, " FROM_##one(keys, far) ", %%ymm" #x ", %%ymm" #x)
#define HALVES_1(keys, one, another, x) \
    DO("vbroadcastf128 16" FROM_##one(keys, far) ", %%ymm" #x) \
    DO("vblendps $0xf0, " FROM_##another(keys, far) ", %%ymm" #x ", %%ymm" #x)
#define ONES_LOW(x, y, to) DO("vunpcklps %%ymm" #y ", %%ymm" #x ", %%ymm" #to)
#define ONES_HIGH(x, y, to) DO("vunpckhps %%ymm" #y ", %%ymm" #x ", %%ymm" #to)
#define PAIRS_LOW(x, y, to) DO("vunpcklpd %%ymm" #y ", %%ymm" #x ", %%ymm" #to)
#define PAIRS_HIGH(x, y, to) DO("vunpckhpd %%ymm" #y ", %%ymm" #x ", %%ymm" #to)

/* What the keys in registers k and l have there, times that of query r, spread over a vector. */
#define TIMES(spread, at, r, x, k, l, s0, s1) \
    DO(spread " " at "+16*" #r "(%[q]), %%ymm" #x) FMA(k, x, s0) FMA(l, x, s1)

/* The same for one to four queries: s0 ... s3 are their sums with k, t0 ... t3 those with l. */
#define TIMES_1(spread, at, k, l, s0, t0) TIMES(spread, at, 0, 8, k, l, s0, t0)
#define TIMES_2(spread, at, k, l, s0, t0, s1, t1) TIMES_1(spread, at, k, l, s0, t0) TIMES(spread, at, 1, 9, k, l, s1, t1)
#define TIMES_3(spread, at, k, l, s0, t0, s1, t1, s2, t2) \
    TIMES_2(spread, at, k, l, s0, t0, s1, t1) TIMES(spread, at, 2, 8, k, l, s2, t2)
#define TIMES_4(spread, at, k, l, s0, t0, s1, t1, s2, t2, s3, t3) \
    TIMES_3(spread, at, k, l, s0, t0, s1, t1, s2, t2) TIMES(spread, at, 3, 9, k, l, s3, t3)

/* Two chains: four keys x two elements are a vector. Eight keys: elements 0 and 1 in registers 12 and 14, 2 and 3 in 13 and 15.
 * Lines are fetched as many as are read, two before each turn. */
#define EIGHT_KEYS_of_2(queries, quad, F, keys, ...) \
    F HALVES_##quad(keys, 0, 2, 8) HALVES_##quad(keys, 1, 3, 9) PAIRS_LOW(8, 9, 12) PAIRS_HIGH(8, 9, 13) \
    HALVES_##quad(keys, 4, 6, 10) HALVES_##quad(keys, 5, 7, 11) PAIRS_LOW(10, 11, 14) PAIRS_HIGH(10, 11, 15) \
    TIMES_##queries("vbroadcastsd", "64*" #quad, 12, 14, __VA_ARGS__) \
    TIMES_##queries("vbroadcastsd", "64*" #quad "+8", 13, 15, __VA_ARGS__)
#define QUAD_1_of_2(quad, F) EIGHT_KEYS_of_2(1, quad, F, a, 0, 1) EIGHT_KEYS_of_2(1, quad, F, b, 2, 3)
#define QUAD_2_of_2(quad, F) EIGHT_KEYS_of_2(2, quad, F, a, 0, 1, 4, 5) EIGHT_KEYS_of_2(2, quad, F, b, 2, 3, 6, 7)
#define QUAD_3_of_2(quad, F) EIGHT_KEYS_of_2(3, quad, F, a, 0, 1, 2, 3, 4, 5)
#define QUAD_4_of_2(quad, F) EIGHT_KEYS_of_2(4, quad, F, a, 0, 1, 2, 3, 4, 5, 6, 7)

/* One chain: eight keys x one element. Sixteen keys, elements 0 and 1 first; what 2 and 3 are made of is set aside for the first
 * eight keys, and stays in registers 12 and 13 for the others. */
#define SIXTEEN_KEYS_of_1(queries, quad, F, low, high, ...) \
    F HALVES_##quad(low, 0, 4, 8) HALVES_##quad(low, 1, 5, 9) HALVES_##quad(low, 2, 6, 10) HALVES_##quad(low, 3, 7, 11) \
    ONES_LOW(8, 9, 12) ONES_HIGH(8, 9, 8) ONES_LOW(10, 11, 13) ONES_HIGH(10, 11, 9) \
    STORE("%[aside]", 8) STORE("32+%[aside]", 9) PAIRS_LOW(12, 13, 10) PAIRS_HIGH(12, 13, 11) \
    F HALVES_##quad(high, 0, 4, 12) HALVES_##quad(high, 1, 5, 13) HALVES_##quad(high, 2, 6, 14) HALVES_##quad(high, 3, 7, 15) \
    ONES_LOW(12, 13, 8) ONES_HIGH(12, 13, 12) ONES_LOW(14, 15, 9) ONES_HIGH(14, 15, 13) \
    PAIRS_LOW(8, 9, 14) PAIRS_HIGH(8, 9, 15) \
    TIMES_##queries("vbroadcastss", "64*" #quad, 10, 14, __VA_ARGS__) \
    TIMES_##queries("vbroadcastss", "64*" #quad "+4", 11, 15, __VA_ARGS__) \
    PAIRS_LOW(12, 13, 14) PAIRS_HIGH(12, 13, 15) LOAD("%[aside]", 12) LOAD("32+%[aside]", 13) \
    PAIRS_LOW(12, 13, 10) PAIRS_HIGH(12, 13, 11) \
    TIMES_##queries("vbroadcastss", "64*" #quad "+8", 10, 14, __VA_ARGS__) \
    TIMES_##queries("vbroadcastss", "64*" #quad "+12", 11, 15, __VA_ARGS__)
#define QUAD_1_of_1(quad, F) SIXTEEN_KEYS_of_1(1, quad, F, a, b, 0, 1) SIXTEEN_KEYS_of_1(1, quad, F, a16, b16, 2, 3)
#define QUAD_2_of_1(quad, F) SIXTEEN_KEYS_of_1(2, quad, F, a, b, 0, 1, 4, 5) SIXTEEN_KEYS_of_1(2, quad, F, a16, b16, 2, 3, 6, 7)
#define QUAD_3_of_1(quad, F) SIXTEEN_KEYS_of_1(3, quad, F, a, b, 0, 1, 2, 3, 4, 5)
#define QUAD_4_of_1(quad, F) SIXTEEN_KEYS_of_1(4, quad, F, a, b, 0, 1, 2, 3, 4, 5, 6, 7)

/* What is put where, for each query 512 bytes on: vector s of eight keys; the same of two chains, the even ones, then the odd ones, or joined to what the
 * pieces before have put. Keys 2, 3 and 4, 5 change places on the way. */
#define SWAP(from, to) DO("vpermpd $0xd8, " from ", %%ymm" #to)
#define EVEN(x, y, to) DO("vshufps $0x88, %%ymm" #y ", %%ymm" #x ", %%ymm" #to)
#define ODD(x, y, to) DO("vshufps $0xdd, %%ymm" #y ", %%ymm" #x ", %%ymm" #to)
#define PLUS(x, to) DO("vaddps %%ymm" #x ", %%ymm" #to ", %%ymm" #to)
#define PUT_ONE(at, s) STORE(at "(%[c])", s)
#define PUT_TWO(at, s0, s1) EVEN(s0, s1, 8) ODD(s0, s1, 9) PLUS(9, 8) SWAP("%%ymm8", 8) STORE(at "(%[c])", 8)
#define JOIN_TWO(at, s0, s1) \
    SWAP(at "(%[c])", 10) EVEN(s0, s1, 8) ODD(s0, s1, 9) PLUS(8, 10) PLUS(9, 10) SWAP("%%ymm10", 10) STORE(at "(%[c])", 10)
#define EACH_1_of_1(E) E("0", 0) E("32", 1) E("64", 2) E("96", 3)
#define EACH_2_of_1(E) EACH_1_of_1(E) E("512", 4) E("512+32", 5) E("512+64", 6) E("512+96", 7)
#define EACH_3_of_1(E) E("0", 0) E("32", 1) E("512", 2) E("512+32", 3) E("1024", 4) E("1024+32", 5)
#define EACH_4_of_1(E) EACH_3_of_1(E) E("1536", 6) E("1536+32", 7)
#define EACH_1_of_2(E) E("0", 0, 1) E("32", 2, 3)
#define EACH_2_of_2(E) EACH_1_of_2(E) E("512", 4, 5) E("512+32", 6, 7)
#define EACH_3_of_2(E) E("0", 0, 1) E("512", 2, 3) E("1024", 4, 5)
#define EACH_4_of_2(E) EACH_3_of_2(E) E("1536", 6, 7)

/* A piece of all scores, eight elements at a time; for so many keys, so many times. Keys 0, 8, 16 and 24 stand at a, b, a16
 * and b16. */
#define TWO_ON(by) DO("add " by ", %[a]") DO("add " by ", %[b]")
#define FOUR_ON(by) TWO_ON(by) DO("add " by ", %[a16]") DO("add " by ", %[b16]")
#define FEW_PIECE(what, keys, ON, E) \
    __asm__ volatile("6:\n\t" ZEROS_8 DO("mov %[eights], %[n]") DO("cmpq $0, %[fetches]") DO("jne 4f") \
        LOOP("3", QUAD_##what(0, ) QUAD_##what(1, ) ON("$32") DO("add $128, %[q]")) DO("jmp 5f") \
        LOOP("4", QUAD_##what(0, FETCH) QUAD_##what(1, FETCH) ON("$32") DO("add $128, %[q]")) "5:\n\t" \
        EACH_##what(E) ON("%[keys_on]") DO("sub %[q_all], %[q]") DO("add $4*" #keys ", %[c]") DO("decq %[times]") DO("jnz 6b") \
        : [a] "+r"(a), [b] "+r"(b), [a16] "+r"(a16), [b16] "+r"(b16), [q] "+r"(q), [c] "+r"(c), [ahead] "+r"(ahead), \
          [n] "=&r"(n), [times] "+m"(times), [aside] "=m"(aside) \
        : [far] "r"(far), [far3] "r"(3 * far), [far5] "r"(5 * far), [far7] "r"(7 * far), [twin] "r"(f->fetch->twin), \
          [eights] "m"(eights), [fetches] "m"(fetches), [keys_on] "m"(keys_on), [q_all] "m"(q_all) \
        : CLOBBERS)

#define FEW_SCORES(what, keys, ON, PUT_IT, JOIN_IT) \
    static void few_by_hand_##what(const few *f) { \
        const int64_t far = f->key_step; \
        __m256 aside[2]; \
        int64_t end; \
        for (int64_t first = 0; first < f->d; first = end) { \
            end = rdk_piece_end(first, f->d); \
            const int64_t bytes = (end - first) * 4, eights = bytes / 32, keys_on = keys * far - bytes, q_all = bytes * FEW; \
            const int64_t fetches = f->fetch->left > 0; \
            const char *a = f->key + first * 4, *b = a + 8 * far, *a16 = a + 16 * far, *b16 = a + 24 * far; \
            const char *ahead = f->fetch->p; \
            const float *q = f->quads + first * FEW; \
            float *c = f->c; \
            int64_t n, times = f->times; \
            if (first == 0) \
                FEW_PIECE(what, keys, ON, PUT_IT); \
            JOIN_IT(what, keys, ON) \
            stream_fetched(f->fetch, ahead); \
        } \
    }
#define JOINED(what, keys, ON) else FEW_PIECE(what, keys, ON, JOIN_TWO);
#define NEVER_JOINED(what, keys, ON)

FEW_SCORES(1_of_1, 32, FOUR_ON, PUT_ONE, NEVER_JOINED)
FEW_SCORES(2_of_1, 32, FOUR_ON, PUT_ONE, NEVER_JOINED)
FEW_SCORES(3_of_1, 16, TWO_ON, PUT_ONE, NEVER_JOINED)
FEW_SCORES(4_of_1, 16, TWO_ON, PUT_ONE, NEVER_JOINED)
FEW_SCORES(1_of_2, 16, TWO_ON, PUT_TWO, JOINED)
FEW_SCORES(2_of_2, 16, TWO_ON, PUT_TWO, JOINED)
FEW_SCORES(3_of_2, 8, TWO_ON, PUT_TWO, JOINED)
FEW_SCORES(4_of_2, 8, TWO_ON, PUT_TWO, JOINED)

/* Names that others may want. */
#undef DO
#undef SPLAT
#undef LOAD
#undef STORE
#undef FMA
#undef ADD
#undef MUL
#undef ZERO
#undef STEP
#undef FETCH
#undef LOOP
#undef PUT
#undef JOIN
#undef TIMES
#undef SWAP
#undef EVEN
#undef ODD
#undef PLUS
/* clang-format on */

/* By rows and vectors; NULL where there is none. */
#define SCORES_BY_HAND(how)                                                                        \
    {                                                                                              \
        [4] = {[2] = tile_scores_4x2_##how, [3] = tile_scores_4x3_##how},                          \
        [5] = {[2] = tile_scores_5x2_##how}, [6] = {[2] = tile_scores_6x2_##how},                  \
        [8] = {[1] = tile_scores_8x1_##how},                                                       \
    }
static tile_function *const SCORES_OF_1[TILE_ROWS + 1][TILE_VECTORS + 1] = SCORES_BY_HAND(of_1);
static tile_function *const SCORES_OF_2[TILE_ROWS + 1][TILE_VECTORS + 1] = SCORES_BY_HAND(of_2);
static tile_function *const SCORES_BY_CHAIN[TILE_ROWS + 1][TILE_VECTORS + 1] =
    SCORES_BY_HAND(by_chain);
static tile_function *const VALUES_BY_HAND[TILE_ROWS + 1][TILE_VECTORS + 1] = {
    [4] = {[2] = tile_values_4x2},
    [5] = {[2] = tile_values_5x2},
    [6] = {[2] = tile_values_6x2},
};

static few_function *const FEW_BY_HAND[][FEW + 1] = {
    {NULL, few_by_hand_1_of_1, few_by_hand_2_of_1, few_by_hand_3_of_1, few_by_hand_4_of_1},
    {NULL, few_by_hand_1_of_2, few_by_hand_2_of_2, few_by_hand_3_of_2, few_by_hand_4_of_2},
};

static tile_function *const VALUES_BY_QUERY_BY_HAND[TILE_ROWS + 1][TILE_VECTORS + 1] = {
    [1] = {[8] = tile_by_query_1x8},
    [2] = {[4] = tile_by_query_2x4},
    [3] = {[4] = tile_by_query_3x4},
    [4] = {[2] = tile_by_query_4x2},
};

/* The function for a tile, or NULL. Lines are fetched where they follow each other; the last four steps of a chain need four. */
RDK_INLINE tile_function *by_hand(const tile *t, int rows, int vectors) {
    const int64_t piece = 2 * RDK_CHAIN;
    if (t->fetch->left > 0 && t->fetch->gap != 0)
        return NULL;
    if (t->a_row == RDK_BLOCK * 4 && t->a_step == 4 && t->b_across == vectors * 32)
        return VALUES_BY_QUERY_BY_HAND[rows][vectors];
    if (t->steps - (t->steps - 1) / piece * piece < 4 * t->chains) /* those of the last piece */
        return NULL;
    if (t->a_row == 4 && t->chains == 1)
        return VALUES_BY_HAND[rows][vectors];
    if (t->a_step != 4 * t->chains || t->b_row != vectors * 32 || t->c_row != vectors * 8 ||
        t->shrink)
        return NULL;
    return t->chains == 1      ? SCORES_OF_1[rows][vectors]
           : t->by_chain       ? SCORES_BY_CHAIN[rows][vectors]
           : t->steps <= piece ? SCORES_OF_2[rows][vectors]
                               : NULL;
}

/* The function for the scores of very few queries, or NULL. */
RDK_INLINE few_function *few_by_hand(const few *f, int queries) {
    bool is_simple = f->d % 8 == 0 && (f->fetch->left <= 0 || f->fetch->gap == 0);
    return is_simple ? FEW_BY_HAND[f->chains - 1][queries] : NULL;
}
#endif
