/* The register tile, over an ISA's own vectors. Included by tile_<isa>.h after it has defined
 *
 *     TILE_ROWS, TILE_VECTORS   the most rows, and vectors of columns, of a tile
 *     TILE_LANES                floats of a vector
 *     tile_vec, tile_zero(), tile_load(), tile_store(), tile_splat(), tile_add(), tile_mul(), tile_fma()
 *
 * The loops over registers are unrolled here, not left to the optimiser; none is within another, since clang
 * gives up on keeping an array in registers where the outer one has a single step. sum[r * vectors + i] is row
 * r, vector i. */

/* Holds an fma in its place: compilers that move the loads of many rows ahead run out of registers. */
#ifdef RDK_EMULATED
#define TILE_PIN(v) (void)(v)
#elif defined(__aarch64__)
#define TILE_PIN(v) __asm__ volatile("" : "+w"(v))
#else
#define TILE_PIN(v) __asm__ volatile("" : "+v"(v))
#endif

/* One step: of a and b, whichever takes fewer registers is held, the other goes by. */
RDK_INLINE void tile_step(tile_vec sum[TILE_ROWS * TILE_VECTORS], const char *a, int64_t a_row,
                          const char *b, const int rows, const int vectors) {
    tile_vec held[TILE_ROWS + TILE_VECTORS], x = tile_zero();
    if (rows > vectors) {
        RDK_UNROLL
        for (int i = 0; i < vectors; i++)
            held[i] = tile_load(b + i * TILE_LANES * 4);
        RDK_UNROLL
        for (int k = 0; k < rows * vectors; k++) {
            if (k % vectors == 0)
                x = tile_splat(a + k / vectors * a_row);
            sum[k] = tile_fma(x, held[k % vectors], sum[k]);
            TILE_PIN(sum[k]);
        }
    } else {
        RDK_UNROLL
        for (int r = 0; r < rows; r++)
            held[r] = tile_splat(a + r * a_row);
        RDK_UNROLL
        for (int k = 0; k < rows * vectors; k++) {
            int r = k % rows, i = k / rows;
            if (r == 0)
                x = tile_load(b + i * TILE_LANES * 4);
            sum[r * vectors + i] = tile_fma(held[r], x, sum[r * vectors + i]);
            TILE_PIN(sum[r * vectors + i]);
        }
    }
}

/* Adds all sums to a vector, which becomes NaN if one is. */
RDK_INLINE void tile_check(float *check, tile_vec sum[TILE_ROWS * TILE_VECTORS], const int rows,
                           const int vectors) {
    tile_vec all = tile_load(check);
    RDK_UNROLL
    for (int k = 0; k < rows * vectors; k++)
        all = tile_add(all, sum[k]);
    tile_store(check, all);
}

/* Where sum k belongs. */
RDK_INLINE float *tile_place(const tile *t, float *c, int k, const int vectors) {
    return c + k / vectors * t->c_row + k % vectors * TILE_LANES;
}

/* Stores all sums, or adds them to what is there. */
RDK_INLINE void tile_put(const tile *t, float *c, tile_vec sum[TILE_ROWS * TILE_VECTORS], bool adds,
                         const int rows, const int vectors) {
    if (adds) {
        RDK_UNROLL
        for (int k = 0; k < rows * vectors; k++)
            sum[k] = tile_add(tile_load(tile_place(t, c, k, vectors)), sum[k]);
    }
    RDK_UNROLL
    for (int k = 0; k < rows * vectors; k++)
        tile_store(tile_place(t, c, k, vectors), sum[k]);
}

/* One tile, from a on to c. */
RDK_INLINE void tile_once(const tile *t, const char *a, float *c, const int rows,
                          const int vectors) {
    enum { LINE_FLOATS = RDK_LINE / 4 };
    const int lines = vectors * TILE_LANES > LINE_FLOATS ? vectors * TILE_LANES / LINE_FLOATS : 1;
    tile_vec sum[TILE_ROWS * TILE_VECTORS];
    const char *b = t->b;
    const int64_t a_row = t->a_row, a_step = t->a_step, b_step = t->b_step;
    int64_t left = t->steps;

    RDK_UNROLL
    for (int k = 0; k < rows * vectors; k++)
        sum[k] = tile_zero();
    if (t->shrink) {
        RDK_UNROLL
        for (int k = 0; k < rows * vectors; k++)
            sum[k] = tile_mul(tile_load(tile_place(t, c, k, vectors)),
                              tile_splat(t->shrink + k / vectors));
    }
    for (;;) {
        int64_t steps = left < t->piece ? left : t->piece;
        left -= steps;
        if (t->fetch->left > 0) {
            stream f = *t->fetch; /* as many lines a step as the step reads of b */
            for (; steps > 0 && f.left > 0; steps--, a += a_step, b += b_step) {
                tile_step(sum, a, a_row, b, rows, vectors);
                stream_fetch(&f, lines);
            }
            *t->fetch = f;
        }
        RDK_UNROLL_4
        for (; steps > 0; steps--, a += a_step, b += b_step)
            tile_step(sum, a, a_row, b, rows, vectors);
        if (left == 0)
            break;
        tile_put(t, c, sum, left + t->piece < t->steps, rows, vectors);
        RDK_UNROLL
        for (int k = 0; k < rows * vectors; k++)
            sum[k] = tile_zero();
    }
    tile_put(t, c, sum, t->steps > t->piece, rows, vectors);
    if (t->check)
        tile_check(t->check, sum, rows, vectors);
}

RDK_INLINE void tile_body(const tile *t, const int rows, const int vectors) {
    for (int64_t n = 0; n < t->times; n++)
        tile_once(t, t->a + n * rows * t->a_row, t->c + n * rows * t->c_row, rows, vectors);
}

#define TILE(rows, vectors)                                                                        \
    static void tile_##rows##x##vectors(const tile *t) {                                           \
        tile_body(t, rows, vectors);                                                               \
    }
