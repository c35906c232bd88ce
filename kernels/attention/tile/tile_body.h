/* The register tile, over an ISA's own vectors. Included by tile_<isa>.h after it has defined
 *
 *     TILE_LANES                floats of a vector
 *     tile_vec, tile_zero(), tile_load(), tile_store(), tile_splat(), tile_add(), tile_mul(),
 *     tile_fma()
 *     tile_one, tile_take(), tile_fma_one()
 *                               an element of a, and an fma with it
 *     TILE_PIN(v)               nothing, or what holds an fma in its place, for compilers that
 *                               would move the loads of many rows ahead and run out of
 *                               registers
 *     TILE_ROWS, TILE_VECTORS   the most of each
 *     TILE_SHAPES(X)            X(rows, vectors) for each shape
 *
 * It gives the functions of all shapes, and TILES, their table.
 *
 * Nothing here is left to the optimiser's unrolling. The sums are no array but the fields of a
 * struct, written out by the lists below; those outside a tile's rows and vectors fall away by
 * constant conditions. So sums are registers with every compiler, at every level but -O0. */

/* X(r, i) for row r and vector i of every tile with at most 24 sums: row by row, then vector by
 * vector. */
/* clang-format off */
#define TILE_BY_ROWS(X) \
    X(0, 0) X(0, 1) X(0, 2) X(0, 3) X(0, 4) X(0, 5) X(0, 6) X(0, 7) X(0, 8) X(0, 9) X(0, 10) \
      X(0, 11) X(0, 12) X(0, 13) X(0, 14) X(0, 15) \
    X(1, 0) X(1, 1) X(1, 2) X(1, 3) X(1, 4) X(1, 5) X(1, 6) X(1, 7) X(1, 8) X(1, 9) X(1, 10) \
      X(1, 11) \
    X(2, 0) X(2, 1) X(2, 2) X(2, 3) X(2, 4) X(2, 5) X(2, 6) X(2, 7) \
    X(3, 0) X(3, 1) X(3, 2) X(3, 3) X(3, 4) X(3, 5) \
    X(4, 0) X(4, 1) X(4, 2) X(4, 3) \
    X(5, 0) X(5, 1) X(5, 2) X(5, 3) \
    X(6, 0) X(6, 1) X(6, 2) \
    X(7, 0) X(7, 1) X(7, 2) \
    X(8, 0) X(8, 1) \
    X(9, 0) X(9, 1) \
    X(10, 0) X(10, 1) \
    X(11, 0) X(11, 1)

#define TILE_BY_VECTORS(X) \
    X(0, 0) X(1, 0) X(2, 0) X(3, 0) X(4, 0) X(5, 0) X(6, 0) X(7, 0) X(8, 0) X(9, 0) X(10, 0) \
      X(11, 0) \
    X(0, 1) X(1, 1) X(2, 1) X(3, 1) X(4, 1) X(5, 1) X(6, 1) X(7, 1) X(8, 1) X(9, 1) X(10, 1) \
      X(11, 1) \
    X(0, 2) X(1, 2) X(2, 2) X(3, 2) X(4, 2) X(5, 2) X(6, 2) X(7, 2) \
    X(0, 3) X(1, 3) X(2, 3) X(3, 3) X(4, 3) X(5, 3) \
    X(0, 4) X(1, 4) X(2, 4) X(3, 4) \
    X(0, 5) X(1, 5) X(2, 5) X(3, 5) \
    X(0, 6) X(1, 6) X(2, 6) \
    X(0, 7) X(1, 7) X(2, 7) \
    X(0, 8) X(1, 8) \
    X(0, 9) X(1, 9) \
    X(0, 10) X(1, 10) \
    X(0, 11) X(1, 11) \
    X(0, 12) \
    X(0, 13) \
    X(0, 14) \
    X(0, 15)
/* clang-format on */

typedef struct tile_sums {
#define TILE_FIELD(r, i) tile_vec s##r##_##i;
    TILE_BY_ROWS(TILE_FIELD)
#undef TILE_FIELD
} tile_sums;

/* Before the loop over steps; clang does not unroll a loop with pins in it, and says so. */
#ifdef __clang__
#define TILE_UNROLL
#else
#define TILE_UNROLL _Pragma("GCC unroll 4")
#endif

/* Odd multiples of the bytes from row to row.
 * An address can hold 1, 2, 4 or 8 times one of them. */
typedef struct tile_rows {
    int64_t x1, x3, x5, x7, x9, x11;
} tile_rows;

/* Hides from the compiler that a multiple is a product. Else it would find all products again and
 * keep each, or make each by an addition to the one before. */
#define TILE_KEEP(r)                                                                               \
    if (r < rows)                                                                                  \
    __asm__("" : "+r"(row.x##r))

RDK_INLINE tile_rows tile_rows_of(const int64_t step, const int rows) {
    tile_rows row = {step, 3 * step, 5 * step, 7 * step, 9 * step, 11 * step};
    TILE_KEEP(1);
    TILE_KEEP(3);
    TILE_KEEP(5);
    TILE_KEEP(7);
    TILE_KEEP(9);
    TILE_KEEP(11);
    return row;
}
#undef TILE_KEEP

/* The address of row r. With one vector few registers are sums, and clang would take so many others
 * for elements ahead that sums spill: then products are left to it. */
#define TILE_ROW(p, row, r)                                                                        \
    (p + (vectors == 1 ? r * (row).x1                                                              \
          : r == 0     ? 0                                                                         \
          : r == 1     ? (row).x1                                                                  \
          : r == 2     ? (row).x1 * 2                                                              \
          : r == 3     ? (row).x3                                                                  \
          : r == 4     ? (row).x1 * 4                                                              \
          : r == 5     ? (row).x5                                                                  \
          : r == 6     ? (row).x3 * 2                                                              \
          : r == 7     ? (row).x7                                                                  \
          : r == 8     ? (row).x1 * 8                                                              \
          : r == 9     ? (row).x9                                                                  \
          : r == 10    ? (row).x5 * 2                                                              \
                       : (row).x11))

/* One step for tiles with more rows than vectors: the step of b is held in registers, and the
 * elements of a are loaded one after the other. */
RDK_INLINE void tile_step_tall(tile_sums *sums, const char *a, const tile_rows *row, const char *b,
                               const int rows, const int vectors) {
    tile_one x;
    tile_vec b0 = tile_zero(), b1 = b0, b2 = b0, b3 = b0, b4 = b0, b5 = b0;
#define TILE_HOLD(i)                                                                               \
    if (i < vectors)                                                                               \
    b##i = tile_load(b + i * TILE_LANES * 4)
    TILE_HOLD(0);
    TILE_HOLD(1);
    TILE_HOLD(2);
    TILE_HOLD(3);
    TILE_HOLD(4);
    TILE_HOLD(5);
#undef TILE_HOLD
#define TILE_PICK(i) (i == 0 ? b0 : i == 1 ? b1 : i == 2 ? b2 : i == 3 ? b3 : i == 4 ? b4 : b5)
#define TILE_ADD(r, i)                                                                             \
    if (r < rows && i < vectors) {                                                                 \
        if (i == 0)                                                                                \
            x = tile_take(TILE_ROW(a, *row, r));                                                   \
        sums->s##r##_##i = tile_fma_one(x, TILE_PICK(i), sums->s##r##_##i);                        \
        TILE_PIN(sums->s##r##_##i);                                                                \
    }
    TILE_BY_ROWS(TILE_ADD);
#undef TILE_ADD
#undef TILE_PICK
}

/* One step for other tiles: an element of each row of a is held in registers, and the vectors of b
 * are loaded one after the other. */
RDK_INLINE void tile_step_wide(tile_sums *sums, const char *a, const tile_rows *row, const char *b,
                               const int rows, const int vectors) {
    tile_vec x;
    tile_one a0 = tile_take(a), a1 = a0, a2 = a0, a3 = a0, a4 = a0, a5 = a0;
#define TILE_HOLD(r)                                                                               \
    if (r < rows)                                                                                  \
    a##r = tile_take(TILE_ROW(a, *row, r))
    TILE_HOLD(0);
    TILE_HOLD(1);
    TILE_HOLD(2);
    TILE_HOLD(3);
    TILE_HOLD(4);
    TILE_HOLD(5);
#undef TILE_HOLD
#define TILE_PICK(r) (r == 0 ? a0 : r == 1 ? a1 : r == 2 ? a2 : r == 3 ? a3 : r == 4 ? a4 : a5)
#define TILE_ADD(r, i)                                                                             \
    if (r < rows && i < vectors) {                                                                 \
        if (r == 0)                                                                                \
            x = tile_load(b + i * TILE_LANES * 4);                                                 \
        sums->s##r##_##i = tile_fma_one(TILE_PICK(r), x, sums->s##r##_##i);                        \
        TILE_PIN(sums->s##r##_##i);                                                                \
    }
    TILE_BY_VECTORS(TILE_ADD);
#undef TILE_ADD
#undef TILE_PICK
}

/* One step. Of a and b, that is held which takes fewer registers. */
RDK_INLINE void tile_step(tile_sums *sums, const char *a, const tile_rows *row, const char *b,
                          const int rows, const int vectors) {
    if (rows > vectors)
        tile_step_tall(sums, a, row, b, rows, vectors);
    else
        tile_step_wide(sums, a, row, b, rows, vectors);
}

RDK_INLINE void tile_clear(tile_sums *sums) {
#define TILE_CLEAR(r, i) sums->s##r##_##i = tile_zero();
    TILE_BY_ROWS(TILE_CLEAR);
#undef TILE_CLEAR
}

/* Declares what TILE_PLACE() needs for the places of c's vectors, anew for each use. Kept over the
 * loop, the addresses of all rows would lie on the stack, and the way from one tile to the next
 * would be longer than the core looks ahead. */
#define TILE_PLACES                                                                                \
    char *at = c;                                                                                  \
    const tile_rows row = tile_rows_of(c_row, rows);                                               \
    __asm__("" : "+r"(at))
#define TILE_PLACE(r, i) (float *)(void *)(TILE_ROW(at, row, r) + i * TILE_LANES * 4)

/* Begins all sums with what lies at c. */
RDK_INLINE void tile_go_on(char *c, const int64_t c_row, tile_sums *sums, const int rows,
                           const int vectors) {
    TILE_PLACES;
#define TILE_LOAD(r, i)                                                                            \
    if (r < rows && i < vectors)                                                                   \
        sums->s##r##_##i = tile_load(TILE_PLACE(r, i));
    TILE_BY_ROWS(TILE_LOAD);
#undef TILE_LOAD
}

/* Adds what lies at c, each row times its factor, to all sums. */
RDK_INLINE void tile_join_times(char *c, const int64_t c_row, const float *factors, tile_sums *sums,
                                const int rows, const int vectors) {
    TILE_PLACES;
#define TILE_JOIN(r, i)                                                                            \
    if (r < rows && i < vectors)                                                                   \
        sums->s##r##_##i =                                                                         \
            tile_fma(tile_load(TILE_PLACE(r, i)), tile_splat(factors + r), sums->s##r##_##i);
    TILE_BY_ROWS(TILE_JOIN);
#undef TILE_JOIN
}

/* Adds what lies at c to all sums. */
RDK_INLINE void tile_join(char *c, const int64_t c_row, tile_sums *sums, const int rows,
                          const int vectors) {
    TILE_PLACES;
#define TILE_JOIN(r, i)                                                                            \
    if (r < rows && i < vectors)                                                                   \
        sums->s##r##_##i = tile_add(tile_load(TILE_PLACE(r, i)), sums->s##r##_##i);
    TILE_BY_ROWS(TILE_JOIN);
#undef TILE_JOIN
}

RDK_INLINE void tile_put(char *c, const int64_t c_row, tile_sums *sums, const int rows,
                         const int vectors) {
    TILE_PLACES;
#define TILE_STORE(r, i)                                                                           \
    if (r < rows && i < vectors)                                                                   \
        tile_store(TILE_PLACE(r, i), sums->s##r##_##i);
    TILE_BY_ROWS(TILE_STORE);
#undef TILE_STORE
}

/* The operands of a chain's steps. */
typedef struct tile_operands {
    const char *a, *b;
    int64_t a_step, b_step, steps;
} tile_operands;

/* The steps of one chain: those with lines to fetch, then the others. */
RDK_INLINE void tile_chain(tile_sums *sums, tile_operands o, const tile_rows *row, stream *fetch,
                           const int rows, const int vectors) {
    enum { LINE_FLOATS = RDK_LINE / 4 };
    const int lines = vectors * TILE_LANES > LINE_FLOATS ? vectors * TILE_LANES / LINE_FLOATS : 1;
    if (fetch->left > 0) {
        const bool fetch_always = vectors == 1; /* clang would have no register for the test */
        stream f = *fetch;                      /* as many lines as the steps read of b */
        for (; o.steps > 0 && f.left > 0; o.steps--, o.a += o.a_step, o.b += o.b_step) {
            tile_step(sums, o.a, row, o.b, rows, vectors);
            if (fetch_always || o.steps % 2)
                stream_fetch(&f, lines); /* in two places */
        }
        *fetch = f;
    }
    TILE_UNROLL
    for (; o.steps > 0; o.steps--, o.a += o.a_step, o.b += o.b_step)
        tile_step(sums, o.a, row, o.b, rows, vectors);
}

/* A column of tiles, one below the other, that begins b_before bytes into b and c_before into c. */
RDK_INLINE void tile_column(const tile *t, int64_t b_before, int64_t c_before, const int rows,
                            const int vectors) {
    const int64_t a_row = t->a_row, a_step = t->a_step, b_step = t->b_step, c_row = t->c_row * 4;
    const int64_t times = t->times, all = t->steps, chains = t->chains;
    const tile_rows row = tile_rows_of(a_row, rows);
    const float *factors = t->factors;
    stream *fetch = t->fetch;
    for (int64_t n = 0; n < times; n++) {
        char *c = (char *)t->c + n * rows * c_row + c_before;
        tile_sums sums;
        tile_clear(&sums);
        if (t->from)
            tile_go_on((char *)t->from + n * rows * c_row + c_before, c_row, &sums, rows, vectors);
        chain k = first_chain(all, chains);
        for (;;) {
            const char *a = t->a + n * rows * a_row + k.first * (int64_t)sizeof(float);
            const char *b = chain_in_b(t, &k) + b_before;
            const tile_operands o = {a, b, a_step, b_step, k.steps};
            tile_chain(&sums, o, &row, fetch, rows, vectors);
            if (k.first > 0)
                tile_join(c, c_row, &sums, rows, vectors);
            else if (factors)
                tile_join_times(c, c_row, factors + n * rows, &sums, rows, vectors);
            tile_put(c, c_row, &sums, rows, vectors);
            if (!next_chain(&k, all, chains))
                break;
            tile_clear(&sums);
        }
    }
}

RDK_INLINE void tile_body(const tile *t, const int rows, const int vectors) {
    for (int64_t i = 0; i < t->across; i++)
        tile_column(t, i * t->b_across, i * vectors * TILE_LANES * 4, rows, vectors);
}

#define TILE_FUNCTION(rows, vectors)                                                               \
    static void tile_##rows##x##vectors(const tile *t) {                                           \
        tile_body(t, rows, vectors);                                                               \
    }
TILE_SHAPES(TILE_FUNCTION)
#undef TILE_FUNCTION

/* By rows and vectors; NULL where there is no such shape. */
#define TILE_ENTRY(rows, vectors) [rows][vectors] = tile_##rows##x##vectors,
static tile_function *const TILES[TILE_ROWS + 1][TILE_VECTORS + 1] = {TILE_SHAPES(TILE_ENTRY)};
#undef TILE_ENTRY
