/* The register tile, over an ISA's own vectors. Included by tile_<isa>.h after it has defined
 *
 *     TILE_ROWS, TILE_VECTORS   the most rows, and vectors of columns, of a tile
 *     TILE_LANES                floats of a vector
 *     tile_vec, tile_zero(), tile_load(), tile_store(), tile_splat(), tile_add(), tile_mul(), tile_fma()
 *
 * The loops over registers are unrolled here, not left to the optimiser. */

/* One step: of a and b, whichever takes fewer registers is held, the other goes by. */
RDK_INLINE void tile_step(tile_vec sum[TILE_ROWS][TILE_VECTORS], const char *a, int64_t a_row,
                          const char *b, const int rows, const int vectors) {
    tile_vec held[TILE_ROWS + TILE_VECTORS];
    if (rows > vectors) {
        RDK_UNROLL
        for (int i = 0; i < vectors; i++)
            held[i] = tile_load(b + i * TILE_LANES * 4);
        RDK_UNROLL
        for (int r = 0; r < rows; r++) {
            tile_vec x = tile_splat(a + r * a_row);
            RDK_UNROLL
            for (int i = 0; i < vectors; i++)
                sum[r][i] = tile_fma(x, held[i], sum[r][i]);
        }
    } else {
        RDK_UNROLL
        for (int r = 0; r < rows; r++)
            held[r] = tile_splat(a + r * a_row);
        RDK_UNROLL
        for (int i = 0; i < vectors; i++) {
            tile_vec y = tile_load(b + i * TILE_LANES * 4);
            RDK_UNROLL
            for (int r = 0; r < rows; r++)
                sum[r][i] = tile_fma(held[r], y, sum[r][i]);
        }
    }
}

/* Adds all sums to a vector, which becomes NaN if one is. */
RDK_INLINE void tile_check(float *check, tile_vec sum[TILE_ROWS][TILE_VECTORS], const int rows,
                           const int vectors) {
    tile_vec all = tile_load(check);
    RDK_UNROLL
    for (int r = 0; r < rows; r++) {
        RDK_UNROLL
        for (int i = 0; i < vectors; i++)
            all = tile_add(all, sum[r][i]);
    }
    tile_store(check, all);
}

/* Stores all sums, or adds them to what is there. */
RDK_INLINE void tile_put(const tile *t, tile_vec sum[TILE_ROWS][TILE_VECTORS], bool adds,
                         const int rows, const int vectors) {
    RDK_UNROLL
    for (int r = 0; r < rows; r++) {
        RDK_UNROLL
        for (int i = 0; i < vectors; i++) {
            float *c = t->c + r * t->c_row + i * TILE_LANES;
            if (adds)
                sum[r][i] = tile_add(tile_load(c), sum[r][i]);
            tile_store(c, sum[r][i]);
        }
    }
}

RDK_INLINE void tile_body(const tile *t, const int rows, const int vectors) {
    enum { LINE_FLOATS = RDK_LINE / 4 };
    const int lines = vectors * TILE_LANES > LINE_FLOATS ? vectors * TILE_LANES / LINE_FLOATS : 1;
    tile_vec sum[TILE_ROWS][TILE_VECTORS];
    const char *a = t->a, *b = t->b;
    const int64_t a_row = t->a_row, a_step = t->a_step, b_step = t->b_step;
    int64_t left = t->steps;

    RDK_UNROLL
    for (int r = 0; r < rows; r++) {
        RDK_UNROLL
        for (int i = 0; i < vectors; i++) {
            sum[r][i] = tile_zero();
            if (t->shrink)
                sum[r][i] = tile_mul(tile_load(t->c + r * t->c_row + i * TILE_LANES),
                                     tile_splat(t->shrink + r));
        }
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
        tile_put(t, sum, left + t->piece < t->steps, rows, vectors);
        RDK_UNROLL
        for (int r = 0; r < rows; r++) {
            RDK_UNROLL
            for (int i = 0; i < vectors; i++)
                sum[r][i] = tile_zero();
        }
    }
    tile_put(t, sum, t->steps > t->piece, rows, vectors);
    if (t->check)
        tile_check(t->check, sum, rows, vectors);
}

#define TILE(rows, vectors)                                                                        \
    static void tile_##rows##x##vectors(const tile *t) {                                           \
        tile_body(t, rows, vectors);                                                               \
    }
