/* Tiles of values in assembly. asm_x86.h includes this file. The front of a tile has three rows. */
#ifndef RDK_ASM_VALUES_X86_H
#define RDK_ASM_VALUES_X86_H

/* clang-format off */

/* Row r of c; for rows 3 ... 5, c has been moved on by three rows. */
#define C_ROW_0 FROM_0(c, c_row)
#define C_ROW_1 FROM_1(c, c_row)
#define C_ROW_2 FROM_2(c, c_row)
#define C_ROW_3 C_ROW_0
#define C_ROW_4 C_ROW_1
#define C_ROW_5 C_ROW_2
#define THREE_ROWS_ON OP("add %[c_row3], %[c]")
#define THREE_ROWS_BACK OP("sub %[c_row3], %[c]")
#define PUT_ROW(sum, r, i) STORE(#i "*" BYTES C_ROW_##r, sum)
#define EACH_SUM(shape, vectors, ROW, E) \
    FRONT_##shape(EACH_IN_ROW_##vectors, ROW, E) THREE_ROWS_ON \
        BACK_##shape(EACH_IN_ROW_##vectors, ROW, E) THREE_ROWS_BACK

#define LOAD_ROW(sum, r, i) LOAD(#i "*" BYTES C_ROW_##r, sum)

/* Adds what lies at c to the sums: as it is, or times the factors of its rows, at n. */
#define PLUS_ROW(sum, r, i) ADD(#i "*" BYTES C_ROW_##r, sum)
#define PLUS_ROW_TIMES_BY(x, sum, r, i) SPLAT(#r "*4(%[n])", x) \
    FMA_WITH(#i "*" BYTES C_ROW_##r, x, sum)
#define ADD_ROW(sum, r, i) PLUS_ROW(sum, r, i) PUT_ROW(sum, r, i)
#define ADD_ROW_TIMES(sum, r, i) PLUS_ROW_TIMES_BY(SPARE, sum, r, i) PUT_ROW(sum, r, i)

/* HOLD_<held> loads a step of b: `held` is the number of vectors, or <vectors>_COPIED where the
 * step is also stored at `copy`. COPY_ON moves `copy` on. */
#define HOLD_2_COPIED(s) HOLD_2(s) STORE(#s "*2*" BYTES "(%[copy])", B0) \
    STORE(#s "*2*" BYTES "+" BYTES "(%[copy])", B1)
#define STEP_ROW_2_COPIED STEP_ROW_2
#define COPY_ON(steps) OP("add $" #steps "*2*" BYTES ", %[copy]")

#define VALUE_OUTPUTS \
    [a] "+r"(a), [b] "+r"(b), [c] "+r"(c), [ahead] "+r"(ahead), [n] "=&r"(n), \
    [times] "+m"(times), [factors] "+m"(factors)
#define VALUE_INPUTS \
    [a_step] "r"(a_step), [a_step3] "r"(3 * a_step), \
    [b_step] "r"(b_step), [b_step3] "r"(3 * b_step), \
    [c_row] "r"(c_row), [c_row3] "m"(c_row3), \
    [second] "r"(t->fetch->second), [lines] "r"(&next), \
    [ones] "m"(ones), [fours] "m"(fours), [a_on] "m"(a_on), [b_on] "m"(b_on)
#define VALUE_TILES(shape, rows, vectors, held, END, COPY_BY_1, COPY_BY_4, ...) \
    __asm__ volatile(TILES_DOWN(ZEROS \
        STEPS(shape, held, ACROSS, ones, fours, OP("add %[a_step], %[a]") COPY_BY_1, \
            OP("lea (%[a],%[a_step],4), %[a]") COPY_BY_4, BY_POINTER) \
        OP("mov %[factors], %[n]") \
        LAST_FOUR_FRONT(shape, held, ACROSS, END, ) THREE_ROWS_ON \
        LAST_FOUR_BACK(shape, vectors, ACROSS, END, ) \
        OP("add %[a_on], %[a]") OP("add %[b_on], %[b]") OP("add %[c_on], %[c]") \
        OP("addq $4*" #rows ", %[factors]")) \
        : VALUE_OUTPUTS __VA_ARGS__ : VALUE_INPUTS, [c_on] "m"(c_on) : CLOBBERS)
#define VALUE_TILES_IN_PLACE(shape, rows, vectors, END) \
    VALUE_TILES(shape, rows, vectors, vectors, END, , , )

/* Tiles of one band, which copy the values that they read to `copy`. */
#define VALUE_TILES_COPIED(shape, rows, vectors, END) \
    VALUE_TILES(shape, rows, vectors, vectors##_COPIED, END, COPY_ON(1), COPY_ON(4), , \
        [copy] "+r"(copy))

/* Tiles whose sums are complete once c is added. fma(sum, inv, fma(sum, lo, +0)) is stored in the
 * row of the result, and added to SPARE, which is searched for NaN later. */
#define CLEAR(s) ZERO(s)
#define JOIN_NOTHING(sum, r, i)
#define PLUS_ROW_TIMES(sum, r, i) PLUS_ROW_TIMES_BY(A0, sum, r, i)
#define RESULT(s, r, i) \
    SPLAT("12+16*" #r "(%[results])", A0) MOVE(s, B1) TIMES_PLUS(A0, B0, B1) \
    SPLAT("8+16*" #r "(%[results])", A0) TIMES_PLUS(A0, B1, s) STORE(#i "*" BYTES "(%[n])", s) \
    PLUS_SUM(s, SPARE)
#define TO_RESULT(r) OP("mov 16*" #r "(%[results]), %[n]") OP("add %[column], %[n]")
#define RESULT_ROW_2(r, s0, s1, JOIN_IT) \
    OP("mov %[factors], %[n]") JOIN_IT(s0, r, 0) JOIN_IT(s1, r, 1) \
    TO_RESULT(r) RESULT(s0, r, 0) RESULT(s1, r, 1)
#define RESULT_ROW_4(r, s0, s1, s2, s3, JOIN_IT) \
    OP("mov %[factors], %[n]") \
    JOIN_IT(s0, r, 0) JOIN_IT(s1, r, 1) JOIN_IT(s2, r, 2) JOIN_IT(s3, r, 3) \
    TO_RESULT(r) RESULT(s0, r, 0) RESULT(s1, r, 1) RESULT(s2, r, 2) RESULT(s3, r, 3)
#define RESULT_TILES(shape, rows, vectors, JOIN_IT) \
    __asm__ volatile(OP("mov %[notes], %[n]") LOAD("(%[n])", SPARE) TILES_DOWN(ZEROS \
        STEPS(shape, vectors, ACROSS, ones, fours, OP("add %[a_step], %[a]"), \
            OP("lea (%[a],%[a_step],4), %[a]"), BY_POINTER) \
        LAST_FOUR_FRONT(shape, vectors, ACROSS, NOTHING, ) CLEAR(B0) \
        FRONT_##shape(RESULT_ROW_##vectors, JOIN_IT) THREE_ROWS_ON \
        LAST_FOUR_BACK(shape, vectors, ACROSS, NOTHING, ) CLEAR(B0) \
        BACK_##shape(RESULT_ROW_##vectors, JOIN_IT) \
        OP("add %[a_on], %[a]") OP("add %[b_on], %[b]") OP("add %[c_on], %[c]") \
        OP("addq $4*" #rows ", %[factors]") \
        OP("add $16*" #rows ", %[results]")) OP("mov %[notes], %[n]") STORE("(%[n])", SPARE) \
        : VALUE_OUTPUTS, [results] "+r"(results) \
        : VALUE_INPUTS, [c_on] "m"(c_on), [column] "m"(column), [notes] "m"(t->notes) \
        : CLOBBERS)

/* A function for tiles of values. The arguments after `vectors` are what it does with each column
 * of tiles. */
#define VALUE_COLUMNS(name, rows, vectors, ...) \
    static void name(const tile *t) { \
        const int64_t a_step = t->a_step, b_step = t->b_step; \
        const int64_t c_row = t->c_row * 4, c_row3 = 3 * c_row; \
        const int64_t ones = t->steps & 3, fours = (t->steps >> 2) - 1; \
        const int64_t a_on = rows * 4 - (t->steps - 4) * a_step, b_on = -(t->steps - 4) * b_step; \
        const char *ahead = t->fetch->p; \
        lines_ahead next = lines_of(t->fetch); \
        for (int64_t i = 0; i < t->across; i++) { \
            const char *a = t->a, *b = t->b + i * t->b_across; \
            const float *factors = t->factors; \
            float *c = t->c + i * vectors * TILE_LANES; \
            int64_t n, times = t->times; \
            __VA_ARGS__ \
        } \
        stream_follow(t->fetch, ahead, &next); \
    }

/* Chooses the tiles by what their sums are to be joined with: nothing, what lies at c, or that
 * times the factors of its rows. */
#define ENDED(TILES_OF, shape, rows, vectors, ALONE, AS_IT_IS, TIMES_A_FACTOR) \
    if (!factors) \
        TILES_OF(shape, rows, vectors, ALONE); \
    else if (factors == TILE_ONES) \
        TILES_OF(shape, rows, vectors, AS_IT_IS); \
    else \
        TILES_OF(shape, rows, vectors, TIMES_A_FACTOR);

#define VALUES(shape, rows, vectors) \
    VALUE_COLUMNS(tile_values_##shape, rows, vectors, \
        const int64_t c_on = (rows - 3) * c_row; \
        ENDED(VALUE_TILES_IN_PLACE, shape, rows, vectors, PUT_ROW, ADD_ROW, ADD_ROW_TIMES))
#define VALUES_COPIED(shape, rows, vectors) \
    VALUE_COLUMNS(tile_values_copied_##shape, rows, vectors, \
        const int64_t c_on = (rows - 3) * c_row; \
        char *copy = t->copy + i * t->copy_across; \
        ENDED(VALUE_TILES_COPIED, shape, rows, vectors, PUT_ROW, ADD_ROW, ADD_ROW_TIMES))
_Static_assert(offsetof(tile_result, inverse.inv) == 8 && offsetof(tile_result, inverse.lo) == 12 &&
               sizeof(tile_result) == 16, "RESULT");
#define RESULTS(shape, rows, vectors) \
    VALUE_COLUMNS(tile_results_##shape, rows, vectors, \
        const int64_t c_on = (rows - 3) * c_row, column = i * vectors * TILE_LANES * 4; \
        const tile_result *results = t->results; \
        ENDED(RESULT_TILES, shape, rows, vectors, JOIN_NOTHING, PLUS_ROW, PLUS_ROW_TIMES))
/* clang-format on */

#endif
