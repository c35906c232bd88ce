/* Scores and sums of values of thin row blocks, in assembly. asm_<isa>.h includes this file after
 * asm_x86.h. Which shapes there are depends on how many registers there are, so the including file
 * names them. Everything that is not simple is left to thin_x86.h and tile_body.h. */
#ifndef RDK_ASM_THIN_X86_H
#define RDK_ASM_THIN_X86_H

/* clang-format off */

/* ---- Lines that are fetched ---------------------------------------------------------------- */

/* Fetches a line of each place of a stream. A line that comes from memory is asked for as far ahead
 * as the plan says (thin_ahead), and again as it comes nearer, AGAIN_<queries>(place): prefetches
 * that memory cannot keep up with are dropped, and the line would be waited for. The more there is
 * to compute, the slower lines are asked for, and the more it costs to ask again. At last lines are
 * fetched into L1, in the order of their addresses: tiles read them in another order, which the
 * CPU's own prefetchers cannot follow. */
#define PLACE_1 "(%[ahead])"
#define PLACE_2 "(%[ahead],%[second])"
#define ASK(bytes, place) OP("prefetcht1 " bytes place)
#define INTO_L1(bytes, place) OP("prefetcht0 " bytes place)
#define AGAIN_1(place) ASK("-4096", place) ASK("-8192", place) ASK("-13312", place) \
    INTO_L1("-18432", place)
#define AGAIN_2 AGAIN_1
#define AGAIN_3 AGAIN_1
#define ON_BY_A_LINE OP("add $64, %[ahead]")
#define PLACE_1_ONCE(queries) ASK("", PLACE_1)
#define PLACE_2_ONCE(queries) ASK("", PLACE_2) ON_BY_A_LINE
#define PLACE_1_OFTEN(queries) ASK("", PLACE_1) AGAIN_##queries(PLACE_1)
#define PLACE_2_OFTEN(queries) ASK("", PLACE_2) AGAIN_##queries(PLACE_2) ON_BY_A_LINE
#define PLACE_1_NEVER(queries)
#define PLACE_2_NEVER(queries)
#define LINE(queries, F) PLACE_1_##F(queries) PLACE_2_##F(queries)

/* Jumps to the loop of a fetch_rate: FETCH_NEVER goes on to label 3, FETCH_ONCE to 4, FETCH_OFTEN
 * to 7. */
#define TO_LOOP OP("cmpq $1, %[fetches]") OP("je 4f") OP("ja 7f")

/* ---- Values: weights lie by query, and steps of a follow each other ------------------------ */

/* Row r and step s of a. */
#define BY_QUERY(r, s) "4*" #s "+512*" #r "(%[a])"

/* With fewer rows than vectors, the step of a is held in registers, and the vectors of b are loaded
 * one after the other. */
#define COLUMN_OF_2(s, i, s0, s1) LOAD(B_AT(s, i), 12) FMA(12, 13, s0) FMA(12, 14, s1)
#define COLUMN_OF_3(s, i, s0, s1, s2) COLUMN_OF_2(s, i, s0, s1) FMA(12, 15, s2)
#define STEP_1x8(s) SPLAT(BY_QUERY(0, s), 15) \
    FMA_WITH(B_AT(s, 0), 15, 0) FMA_WITH(B_AT(s, 1), 15, 1) FMA_WITH(B_AT(s, 2), 15, 2) \
    FMA_WITH(B_AT(s, 3), 15, 3) FMA_WITH(B_AT(s, 4), 15, 4) FMA_WITH(B_AT(s, 5), 15, 5) \
    FMA_WITH(B_AT(s, 6), 15, 6) FMA_WITH(B_AT(s, 7), 15, 7)
#define STEP_2x4(s) SPLAT(BY_QUERY(0, s), 13) SPLAT(BY_QUERY(1, s), 14) \
    COLUMN_OF_2(s, 0, 0, 4) COLUMN_OF_2(s, 1, 1, 5) COLUMN_OF_2(s, 2, 2, 6) COLUMN_OF_2(s, 3, 3, 7)
#define STEP_3x4(s) SPLAT(BY_QUERY(0, s), 13) SPLAT(BY_QUERY(1, s), 14) SPLAT(BY_QUERY(2, s), 15) \
    COLUMN_OF_3(s, 0, 0, 4, 8) COLUMN_OF_3(s, 1, 1, 5, 9) \
    COLUMN_OF_3(s, 2, 2, 6, 10) COLUMN_OF_3(s, 3, 3, 7, 11)

/* Sums begin at +0, or with those that lie `partial` bytes after c. At last they are put at c, or
 * joined with what lies there. */
#define ROW_4(DO_IT, r, s0, s1, s2, s3) \
    DO_IT(s0, r, 0) DO_IT(s1, r, 1) DO_IT(s2, r, 2) DO_IT(s3, r, 3)
#define EACH_1x8(DO_IT) ROW_4(DO_IT, 0, 0, 1, 2, 3) \
    DO_IT(4, 0, 4) DO_IT(5, 0, 5) DO_IT(6, 0, 6) DO_IT(7, 0, 7)
#define EACH_2x4(DO_IT) ROW_4(DO_IT, 0, 0, 1, 2, 3) ROW_4(DO_IT, 1, 4, 5, 6, 7)
#define EACH_3x4(DO_IT) EACH_2x4(DO_IT) ROW_4(DO_IT, 2, 8, 9, 10, 11)
#define BEGIN_OR_GO_ON(shape) \
    OP("cmpq $0, %[goes_on]") OP("jne 8f") ZEROS OP("jmp 9f") "8:\n\t" \
    OP("add %[partial], %[c]") EACH_##shape(LOAD_ROW) OP("sub %[partial], %[c]") "9:\n\t"

#define STEPS_BESIDE(shape, F) \
    BESIDE_EVEN_##shape(F) STEP_##shape(0) BESIDE_ODD_##shape(F) STEP_##shape(1) \
    BESIDE_EVEN_##shape(F) STEP_##shape(2) BESIDE_ODD_##shape(F) STEP_##shape(3)
#define ON_BY_4 OP("add $16, %[a]") OP("lea (%[b],%[b_step],4), %[b]")
#define THIN_VALUES(shape, vectors, END) \
    __asm__ volatile("6:\n\t" BEGIN_OR_GO_ON(shape) \
        OP("mov %[ones], %[n]") OP("test %[n], %[n]") OP("jz 2f") \
        LOOP("1", STEP_##shape(0) OP("add $4, %[a]") OP("add %[b_step], %[b]")) "2:\n\t" \
        OP("mov %[fours], %[n]") OP("test %[n], %[n]") OP("jz 5f") TO_LOOP \
        LOOP("3", STEP_##shape(0) STEP_##shape(1) STEP_##shape(2) STEP_##shape(3) ON_BY_4) \
        OP("jmp 5f") \
        LOOP("4", STEPS_BESIDE(shape, ONCE) ON_BY_4) OP("jmp 5f") \
        LOOP("7", STEPS_BESIDE(shape, OFTEN) ON_BY_4) "5:\n\t" \
        OP("mov %[factors], %[n]") EACH_##shape(END) \
        OP("sub %[a_all], %[a]") OP("sub %[b_all], %[b]") OP("add $" BYTES "*" #vectors ", %[b]") \
        OP("add $" BYTES "*" #vectors ", %[c]") OP("decq %[across]") OP("jnz 6b") \
        : [a] "+r"(a), [b] "+r"(b), [c] "+r"(c), [ahead] "+r"(ahead), [n] "=&r"(n), \
          [across] "+m"(across) \
        : [b_step] "r"(b_step), [b_step3] "r"(3 * b_step), \
          [c_row] "r"(c_row), [c_row3] "r"(3 * c_row), \
          [second] "r"(t->fetch->second), [fetches] "m"(fetches), \
          [ones] "m"(ones), [fours] "m"(fours), \
          [a_all] "m"(a_all), [b_all] "m"(b_all), [factors] "m"(t->factors), \
          [goes_on] "m"(goes_on), [partial] "m"(partial) \
        : CLOBBERS)

#define VALUES_BY_QUERY(shape, vectors) \
    static void tile_by_query_##shape(const tile *t) { \
        const int64_t b_step = t->b_step, c_row = t->c_row * 4; \
        const int64_t a_all = t->steps * 4, b_all = t->steps * b_step; \
        const int64_t ones = t->steps % 4, fours = t->steps / 4; \
        const int64_t fetches = fetch_rate_of(t->fetch, t->often); \
        const char *a = t->a, *b = t->b, *ahead = t->fetch->p; \
        char *c = (char *)t->c; \
        const int64_t goes_on = t->from != NULL; \
        const int64_t partial = goes_on ? (const char *)t->from - c : 0; \
        int64_t n, across = t->across; \
        if (!t->factors) \
            THIN_VALUES(shape, vectors, PUT_ROW); \
        else if (t->factors == TILE_ONES) \
            THIN_VALUES(shape, vectors, ADD_ROW); \
        else \
            THIN_VALUES(shape, vectors, ADD_ROW_TIMES); \
        stream_fetched(t->fetch, ahead); \
    }

/* ---- Scores: keys are the lanes of a vector, as in thin_x86.h ------------------------------ */

/* Four elements of one key, with those of another in the upper half: the first four of eight, or
 * the others. */
#define HALVES_0(keys, one, another, x) \
    OP("vbroadcastf128 " FROM_##another(keys, key_step) ", %%ymm" #x) \
    OP("vblendps $0x0f, " FROM_##one(keys, key_step) ", %%ymm" #x ", %%ymm" #x)
#define HALVES_1(keys, one, another, x) \
    OP("vbroadcastf128 16" FROM_##one(keys, key_step) ", %%ymm" #x) \
    OP("vblendps $0xf0, " FROM_##another(keys, key_step) ", %%ymm" #x ", %%ymm" #x)
#define ONES_LOW(x, y, to) OP("vunpcklps %%ymm" #y ", %%ymm" #x ", %%ymm" #to)
#define ONES_HIGH(x, y, to) OP("vunpckhps %%ymm" #y ", %%ymm" #x ", %%ymm" #to)
#define PAIRS_LOW(x, y, to) OP("vunpcklpd %%ymm" #y ", %%ymm" #x ", %%ymm" #to)
#define PAIRS_HIGH(x, y, to) OP("vunpckhpd %%ymm" #y ", %%ymm" #x ", %%ymm" #to)

/* Adds the keys in registers k and l, times the same elements of query r, spread over a vector; or
 * times those of queries r and r + 1, both of which are spread before the first is used. */
#define SPREAD(spread, at, r, x) OP(spread " " at "+16*" #r "(%[q]), %%ymm" #x)
#define TIMES(spread, at, r, k, l, s0, t0) SPREAD(spread, at, r, 8) FMA(k, 8, s0) FMA(l, 8, t0)
#define TIMES_PAIR(spread, at, r, r1, k, l, s0, t0, s1, t1) \
    SPREAD(spread, at, r, 8) SPREAD(spread, at, r1, 9) FMA(k, 8, s0) FMA(l, 8, t0) \
        FMA(l, 9, t1) FMA(k, 9, s1)

/* The same for one to four queries: s0 ... s3 are their sums with k, t0 ... t3 those with l. */
#define TIMES_1(spread, at, k, l, s0, t0) TIMES(spread, at, 0, k, l, s0, t0)
#define TIMES_2(spread, at, k, l, s0, t0, s1, t1) TIMES_PAIR(spread, at, 0, 1, k, l, s0, t0, s1, t1)
#define TIMES_3(spread, at, k, l, s0, t0, s1, t1, s2, t2) \
    TIMES_2(spread, at, k, l, s0, t0, s1, t1) TIMES(spread, at, 2, k, l, s2, t2)
#define TIMES_4(spread, at, k, l, s0, t0, s1, t1, s2, t2, s3, t3) \
    TIMES_2(spread, at, k, l, s0, t0, s1, t1) TIMES_PAIR(spread, at, 2, 3, k, l, s2, t2, s3, t3)

/* With two chains, a vector holds four keys x two elements. Of eight keys, elements 0 and 1 are put
 * in registers 12 and 14, 2 and 3 in 13 and 15. As many lines are fetched as are read: one after
 * every four keys. */
#define EIGHT_KEYS_of_2(queries, quad, F, keys, ...) \
    HALVES_##quad(keys, 0, 2, 8) HALVES_##quad(keys, 1, 3, 9) \
    PAIRS_LOW(8, 9, 12) PAIRS_HIGH(8, 9, 13) PLACE_1_##F(queries) \
    HALVES_##quad(keys, 4, 6, 10) HALVES_##quad(keys, 5, 7, 11) \
    PAIRS_LOW(10, 11, 14) PAIRS_HIGH(10, 11, 15) PLACE_2_##F(queries) \
    TIMES_##queries("vbroadcastsd", "64*" #quad, 12, 14, __VA_ARGS__) \
    TIMES_##queries("vbroadcastsd", "64*" #quad "+8", 13, 15, __VA_ARGS__)
#define QUAD_1_of_2(quad, F) EIGHT_KEYS_of_2(1, quad, F, a, 0, 1) \
    EIGHT_KEYS_of_2(1, quad, F, b, 2, 3)
#define QUAD_2_of_2(quad, F) EIGHT_KEYS_of_2(2, quad, F, a, 0, 1, 4, 5) \
    EIGHT_KEYS_of_2(2, quad, F, b, 2, 3, 6, 7)

/* With one chain, a vector holds eight keys x one element. Of sixteen keys, elements 0 and 1 come
 * first. What elements 2 and 3 are made of is stored at `aside` for the first eight keys, and stays
 * in registers 12 and 13 for the others. */
#define SIXTEEN_KEYS_of_1(queries, quad, F, low, high, ...) \
    LINE(queries, F) HALVES_##quad(low, 0, 4, 8) HALVES_##quad(low, 1, 5, 9) \
    HALVES_##quad(low, 2, 6, 10) HALVES_##quad(low, 3, 7, 11) \
    ONES_LOW(8, 9, 12) ONES_HIGH(8, 9, 8) ONES_LOW(10, 11, 13) ONES_HIGH(10, 11, 9) \
    STORE("%[aside]", 8) STORE("32+%[aside]", 9) PAIRS_LOW(12, 13, 10) PAIRS_HIGH(12, 13, 11) \
    LINE(queries, F) HALVES_##quad(high, 0, 4, 12) HALVES_##quad(high, 1, 5, 13) \
    HALVES_##quad(high, 2, 6, 14) HALVES_##quad(high, 3, 7, 15) \
    ONES_LOW(12, 13, 8) ONES_HIGH(12, 13, 12) ONES_LOW(14, 15, 9) ONES_HIGH(14, 15, 13) \
    PAIRS_LOW(8, 9, 14) PAIRS_HIGH(8, 9, 15) \
    TIMES_##queries("vbroadcastss", "64*" #quad, 10, 14, __VA_ARGS__) \
    TIMES_##queries("vbroadcastss", "64*" #quad "+4", 11, 15, __VA_ARGS__) \
    PAIRS_LOW(12, 13, 14) PAIRS_HIGH(12, 13, 15) LOAD("%[aside]", 12) LOAD("32+%[aside]", 13) \
    PAIRS_LOW(12, 13, 10) PAIRS_HIGH(12, 13, 11) \
    TIMES_##queries("vbroadcastss", "64*" #quad "+8", 10, 14, __VA_ARGS__) \
    TIMES_##queries("vbroadcastss", "64*" #quad "+12", 11, 15, __VA_ARGS__)
#define QUAD_1_of_1(quad, F) SIXTEEN_KEYS_of_1(1, quad, F, a, b, 0, 1) \
    SIXTEEN_KEYS_of_1(1, quad, F, a16, b16, 2, 3)
#define QUAD_2_of_1(quad, F) SIXTEEN_KEYS_of_1(2, quad, F, a, b, 0, 1, 4, 5) \
    SIXTEEN_KEYS_of_1(2, quad, F, a16, b16, 2, 3, 6, 7)
#define QUAD_3_of_1(quad, F) SIXTEEN_KEYS_of_1(3, quad, F, a, b, 0, 1, 2, 3, 4, 5)
#define QUAD_4_of_1(quad, F) SIXTEEN_KEYS_of_1(4, quad, F, a, b, 0, 1, 2, 3, 4, 5, 6, 7)

/* Scores are stored query by query, 512 bytes apart. PUT_ONE stores vector s, the scores of eight
 * keys. PUT_TWO first adds the odd chains to the even ones, of the keys in two vectors. JOIN_TWO
 * adds the even ones, then the odd ones, to what earlier pieces have stored. On the way keys 2, 3
 * and 4, 5 change places, which SWAP undoes. */
#define SWAP(from, to) OP("vpermpd $0xd8, " from ", %%ymm" #to)
#define EVEN(x, y, to) OP("vshufps $0x88, %%ymm" #y ", %%ymm" #x ", %%ymm" #to)
#define ODD(x, y, to) OP("vshufps $0xdd, %%ymm" #y ", %%ymm" #x ", %%ymm" #to)
#define PLUS(x, to) OP("vaddps %%ymm" #x ", %%ymm" #to ", %%ymm" #to)
#define PUT_ONE(at, s) STORE(at "(%[c])", s)
#define PUT_TWO(at, s0, s1) \
    EVEN(s0, s1, 8) ODD(s0, s1, 9) PLUS(9, 8) SWAP("%%ymm8", 8) STORE(at "(%[c])", 8)
#define JOIN_TWO(at, s0, s1) \
    SWAP(at "(%[c])", 10) EVEN(s0, s1, 8) ODD(s0, s1, 9) PLUS(8, 10) PLUS(9, 10) \
    SWAP("%%ymm10", 10) STORE(at "(%[c])", 10)
#define EACH_1_of_1(E) E("0", 0) E("32", 1) E("64", 2) E("96", 3)
#define EACH_2_of_1(E) EACH_1_of_1(E) E("512", 4) E("512+32", 5) E("512+64", 6) E("512+96", 7)
#define EACH_3_of_1(E) E("0", 0) E("32", 1) E("512", 2) E("512+32", 3) E("1024", 4) E("1024+32", 5)
#define EACH_4_of_1(E) EACH_3_of_1(E) E("1536", 6) E("1536+32", 7)
#define EACH_1_of_2(E) E("0", 0, 1) E("32", 2, 3)
#define EACH_2_of_2(E) EACH_1_of_2(E) E("512", 4, 5) E("512+32", 6, 7)

/* A piece of the scores of `keys` keys, eight elements at a time, as many times as f says. Keys 0,
 * 8, 16 and 24 stand at a, b, a16 and b16. */
#define TWO_ON(by) OP("add " by ", %[a]") OP("add " by ", %[b]")
#define FOUR_ON(by) TWO_ON(by) OP("add " by ", %[a16]") OP("add " by ", %[b16]")
#define THIN_PIECE(what, keys, ON, E) \
    __asm__ volatile("6:\n\t" CLEAR_##what OP("mov %[eights], %[n]") TO_LOOP \
        LOOP("3", QUAD_##what(0, NEVER) QUAD_##what(1, NEVER) ON("$32") OP("add $128, %[q]")) \
        OP("jmp 5f") \
        LOOP("4", QUAD_##what(0, ONCE) QUAD_##what(1, ONCE) ON("$32") OP("add $128, %[q]")) \
        OP("jmp 5f") \
        LOOP("7", QUAD_##what(0, OFTEN) QUAD_##what(1, OFTEN) ON("$32") OP("add $128, %[q]")) \
        "5:\n\t" \
        EACH_##what(E) ON("%[keys_on]") OP("sub %[q_all], %[q]") OP("add $4*" #keys ", %[c]") \
        OP("decq %[times]") OP("jnz 6b") \
        : [a] "+r"(a), [b] "+r"(b), [a16] "+r"(a16), [b16] "+r"(b16), [q] "+r"(q), [c] "+r"(c), \
          [ahead] "+r"(ahead), [n] "=&r"(n), [times] "+m"(times), [aside] "=m"(aside) \
        : [key_step] "r"(key_step), [key_step3] "r"(3 * key_step), \
          [key_step5] "r"(5 * key_step), [key_step7] "r"(7 * key_step), \
          [second] "r"(f->fetch->second), \
          [eights] "m"(eights), [fetches] "m"(fetches), [keys_on] "m"(keys_on), [q_all] "m"(q_all) \
        : CLOBBERS)

#define THIN_SCORES(what, keys, ON, PUT_IT, JOIN_IT) \
    static void asm_thin_##what(const thin *f) { \
        const int64_t key_step = f->key_step; \
        __m256 aside[2]; \
        int64_t end; \
        for (int64_t first = 0; first < f->d; first = end) { \
            end = rdk_piece_end(first, f->d); \
            const int64_t bytes = (end - first) * 4, eights = bytes / 32; \
            const int64_t keys_on = keys * key_step - bytes, q_all = bytes * THIN; \
            const int64_t fetches = fetch_rate_of(f->fetch, f->often); \
            const char *a = f->key + first * 4, *b = a + 8 * key_step; \
            const char *a16 = a + 16 * key_step, *b16 = a + 24 * key_step; \
            const char *ahead = f->fetch->p; \
            const float *q = f->quads + first * THIN; \
            float *c = f->c; \
            int64_t n, times = f->times; \
            if (first == 0) \
                THIN_PIECE(what, keys, ON, PUT_IT); \
            JOIN_IT(what, keys, ON) \
            stream_fetched(f->fetch, ahead); \
        } \
    }
#define JOINED(what, keys, ON) else THIN_PIECE(what, keys, ON, JOIN_TWO);
#define NEVER_JOINED(what, keys, ON)

/* The functions that are alike with sixteen registers and with more. */
#define CLEAR_1_of_1 ZEROS_8
#define CLEAR_2_of_1 ZEROS_8
#define CLEAR_3_of_1 ZEROS_8
#define CLEAR_4_of_1 ZEROS_8
#define CLEAR_1_of_2 ZEROS_8
#define CLEAR_2_of_2 ZEROS_8
#define THIN_SCORES_IN_COMMON \
    THIN_SCORES(1_of_1, 32, FOUR_ON, PUT_ONE, NEVER_JOINED) \
    THIN_SCORES(2_of_1, 32, FOUR_ON, PUT_ONE, NEVER_JOINED) \
    THIN_SCORES(3_of_1, 16, TWO_ON, PUT_ONE, NEVER_JOINED) \
    THIN_SCORES(4_of_1, 16, TWO_ON, PUT_ONE, NEVER_JOINED) \
    THIN_SCORES(1_of_2, 16, TWO_ON, PUT_TWO, JOINED) \
    THIN_SCORES(2_of_2, 16, TWO_ON, PUT_TWO, JOINED)
/* clang-format on */

/* ---- Which there are ----------------------------------------------------------------------- */

#define ASM_THIN_TABLE                                                                             \
    static thin_function *const ASM_THIN[][THIN + 1] = {                                           \
        {NULL, asm_thin_1_of_1, asm_thin_2_of_1, asm_thin_3_of_1, asm_thin_4_of_1},                \
        {NULL, asm_thin_1_of_2, asm_thin_2_of_2, asm_thin_3_of_2, asm_thin_4_of_2},                \
    };

/* The function for the scores of thin row blocks, or NULL. */
RDK_INLINE thin_function *asm_thin_of(thin_function *const are[][THIN + 1], const thin *f,
                                      int queries) {
    return f->d % 8 == 0 && fetches_in_a_row(f->fetch) ? are[f->chains - 1][queries] : NULL;
}
#endif
