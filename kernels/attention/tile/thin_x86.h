/* Scores of thin row blocks, on AVX2 and above. A tile would leave most of its columns empty, so
 * the keys become the columns: a vector has a lane for each chain of each key. Keys with one chain
 * are transposed in registers, those with two need half of that. */
#ifndef RDK_THIN_X86_H
#define RDK_THIN_X86_H

#include <immintrin.h>

#include "kernels/attention/tile/tile.h"

enum {
    THIN = 4,       /* queries at most */
    THIN_QUADS = 1, /* queries are wanted by four elements */
};

/* Pairs of vectors of keys at once, by chains and queries. An fma waits four cycles for the one
 * before in its chain, and two begin in each cycle: eight sums would be best, but for one query
 * their keys would take too much of L1. */
enum { THIN_PAIRS = TILE_REGISTERS / 16 }; /* with two chains and three or four queries */
static const int THIN_PAIRS_OF[2][THIN + 1] = {{0, 2, 2, 1, 1}, {0, 2, 2, THIN_PAIRS, THIN_PAIRS}};

/* Keys at once. A vector has a lane for each chain of a key. */
static int thin_keys(int queries, int64_t lanes) {
    return THIN_PAIRS_OF[lanes - 1][queries] * 16 / (int)lanes;
}

/* The address n keys on, hidden from the compiler: it would keep a pointer to each key, for which
 * there are no registers. */
RDK_INLINE const char *keys_on(const char *key, int64_t step, const int n) {
    key += n * step;
    __asm__("" : "+r"(key));
    return key;
}

/* ---- Four elements of some keys ------------------------------------------------------------ */

/* Which four elements: the first of eight, the second four of them, or the last of a key, which may
 * be fewer. */
typedef enum quad { QUAD_FIRST, QUAD_SECOND, QUAD_LAST } quad;

/* Four elements of one key, with those of another in the upper half. The load spreads one over both
 * halves, and the other is blended in from a load of eight elements. Any pipe can blend, only one
 * can insert. */
RDK_INLINE __m256 two_keys(const char *one, const char *another, const quad which, __m128i mask) {
    const float *low = (const float *)(const void *)one;
    const float *high = (const float *)(const void *)another;
    if (which == QUAD_LAST)
        return _mm256_set_m128(_mm_maskload_ps(high, mask), _mm_maskload_ps(low, mask));
    if (which == QUAD_FIRST)
        return _mm256_blend_ps(_mm256_broadcast_ps((const __m128 *)high), _mm256_loadu_ps(low),
                               0x0f);
    return _mm256_blend_ps(_mm256_broadcast_ps((const __m128 *)low), _mm256_loadu_ps(high - 4),
                           0xf0);
}

RDK_INLINE __m256 pairs_low(__m256 a, __m256 b) {
    return _mm256_castpd_ps(_mm256_unpacklo_pd(_mm256_castps_pd(a), _mm256_castps_pd(b)));
}

RDK_INLINE __m256 pairs_high(__m256 a, __m256 b) {
    return _mm256_castpd_ps(_mm256_unpackhi_pd(_mm256_castps_pd(a), _mm256_castps_pd(b)));
}

/* Transposes 8 / lanes keys: m[0] has elements 0 ... lanes - 1 of each, m[1] the next ones, and so
 * on. */
RDK_INLINE void transpose_keys(__m256 m[4], const char *key, int64_t step, const quad which,
                               __m128i mask, const int lanes) {
    const int half = 4 / lanes; /* keys in each half of it */
    const char *above = keys_on(key, step, half);
    __m256 p[4];
    RDK_UNROLL
    for (int i = 0; i < 4; i++)
        if (i < half) {
            p[i] = two_keys(key + i * step, above + i * step, which, mask);
            TILE_PIN(p[i]);
        }
    if (lanes == 2) {
        m[0] = pairs_low(p[0], p[1]);
        m[1] = pairs_high(p[0], p[1]);
    } else {
        __m256 a = _mm256_unpacklo_ps(p[0], p[1]), b = _mm256_unpackhi_ps(p[0], p[1]);
        __m256 c = _mm256_unpacklo_ps(p[2], p[3]), d = _mm256_unpackhi_ps(p[2], p[3]);
        m[0] = pairs_low(a, c);
        m[1] = pairs_high(a, c);
        m[2] = pairs_low(b, d);
        m[3] = pairs_high(b, d);
    }
}

/* ---- Sums ---------------------------------------------------------------------------------- */

/* X(t, r) for pair t of vectors of keys and query r. As in tile_body.h sums are fields, so that
 * every compiler keeps them in registers. */
/* clang-format off */
#define THIN_PLACES(X) X(0, 0) X(0, 1) X(0, 2) X(0, 3) X(1, 0) X(1, 1) X(1, 2) X(1, 3)
/* clang-format on */

typedef struct thin_sums {
#define THIN_FIELD(t, r) __m256 low##t##_##r, high##t##_##r;
    THIN_PLACES(THIN_FIELD)
#undef THIN_FIELD
} thin_sums;

/* As many elements of a query as a key has lanes, once for every key of a vector. */
RDK_INLINE __m256 thin_query(const float *q, const int lanes) {
    double two; /* floats, as one thing to spread */
    if (lanes == 1)
        return _mm256_broadcast_ss(q);
    memcpy(&two, q, sizeof two);
    return _mm256_castpd_ps(_mm256_set1_pd(two));
}

/* What a thin function is made for: queries, pairs of vectors of keys, lanes of a key. */
typedef struct thin_shape {
    int rows, pairs, lanes;
} thin_shape;

/* Adds one or two elements of a pair of vectors of keys, times those of all queries. */
RDK_INLINE void thin_column(thin_sums *sums, __m256 low, __m256 high, const float *q,
                            const int pair, const thin_shape are) {
    __m256 x;
#define THIN_ADD(t, r)                                                                             \
    if (t == pair && r < are.rows) {                                                               \
        x = thin_query(q + 4 * r, are.lanes);                                                      \
        sums->low##t##_##r = _mm256_fmadd_ps(x, low, sums->low##t##_##r);                          \
        sums->high##t##_##r = _mm256_fmadd_ps(x, high, sums->high##t##_##r);                       \
        TILE_PIN(sums->low##t##_##r);                                                              \
        TILE_PIN(sums->high##t##_##r);                                                             \
    }
    THIN_PLACES(THIN_ADD)
#undef THIN_ADD
}

/* Keeps vectors in memory until they are needed. With four queries and one chain sixteen registers
 * are too few, and a compiler would keep a sum in memory, for which its chain would wait. */
#define THIN_SET_ASIDE(v) __asm__ volatile("" : "+m"(v))

/* Four elements of a key, from element c on. Those that the mask leaves out lie behind its end. */
typedef struct thin_four {
    int64_t c;
    quad which;
    __m128i mask;
} thin_four;

/* Adds four elements of a pair of vectors of keys, times those of all queries. */
RDK_INLINE void thin_step(thin_sums *sums, const thin *f, const thin_four four, const int pair,
                          const thin_shape are) {
    __m256 low[4], high[4], later[2];
    const int lanes = are.lanes;
    const bool crowded = TILE_REGISTERS == 16 && lanes == 1 && are.rows == 4;
    const int64_t step = f->key_step;
    const char *key = keys_on(f->key + four.c * 4, step, pair * 16 / lanes);
    const float *q = f->quads + four.c * THIN;
    transpose_keys(low, key, step, four.which, four.mask, lanes);
    if (crowded) {
        later[0] = low[2];
        later[1] = low[3];
        THIN_SET_ASIDE(later);
    }
    transpose_keys(high, keys_on(key, step, 8 / lanes), step, four.which, four.mask, lanes);
    thin_column(sums, low[0], high[0], q, pair, are);
    thin_column(sums, low[1], high[1], q + lanes, pair, are);
    if (lanes == 2)
        return;
    thin_column(sums, crowded ? later[0] : low[2], high[2], q + 2, pair, are);
    thin_column(sums, crowded ? later[1] : low[3], high[3], q + 3, pair, are);
}

/* The same for all keys. */
RDK_INLINE void thin_steps(thin_sums *sums, const thin *f, const thin_four four,
                           const thin_shape are) {
    RDK_UNROLL
    for (int t = 0; t < 2; t++)
        if (t < are.pairs)
            thin_step(sums, f, four, t, are);
}

/* Adds elements c ... end - 1 of all keys. As many lines are fetched as are read. */
RDK_INLINE void thin_elements(thin_sums *sums, const thin *f, int64_t c, int64_t end,
                              const thin_shape are) {
    static const int32_t FIRST[8] = {-1, -1, -1, -1};
    const __m128i all = _mm_setzero_si128();
    const int lines = 2 * are.pairs / are.lanes; /* of four elements, in each of two places */
    stream s = *f->fetch;
    for (; c + 8 <= end; c += 8) {
        thin_steps(sums, f, (thin_four){c, QUAD_FIRST, all}, are);
        stream_fetch(&s, lines);
        thin_steps(sums, f, (thin_four){c + 4, QUAD_SECOND, all}, are);
        stream_fetch(&s, lines);
    }
    *f->fetch = s;
    for (; c < end; c += 4) {
        int64_t n = end - c < 4 ? end - c : 4;
        __m128i mask = _mm_loadu_si128((const __m128i *)(const void *)(FIRST + 4 - n));
        thin_steps(sums, f, (thin_four){c, QUAD_LAST, mask}, are);
    }
}

/* ---- Scores -------------------------------------------------------------------------------- */

/* Adds the sums of a pair of vectors of keys, chain by chain, to the scores of one query. */
RDK_INLINE void thin_join(float *c, __m256 low, __m256 high, bool is_first, const int lanes) {
    RDK_UNROLL
    for (int i = 0; i < 2; i++) {
        __m256 sums = i ? high : low;
        if (lanes == 1) { /* there is one piece only */
            _mm256_storeu_ps(c + 8 * i, sums);
        } else {
            __m128 x = is_first ? _mm_setzero_ps() : _mm_loadu_ps(c + 4 * i);
            __m128 a = _mm256_castps256_ps128(sums), b = _mm256_extractf128_ps(sums, 1);
            x = _mm_add_ps(x, _mm_shuffle_ps(a, b, 0x88));
            _mm_storeu_ps(c + 4 * i, _mm_add_ps(x, _mm_shuffle_ps(a, b, 0xdd)));
        }
    }
}

RDK_INLINE void thin_body(const thin *f, const thin_shape are) {
    int64_t end;
    for (int64_t first = 0; first < f->d; first = end) {
        thin_sums sums;
        end = rdk_piece_end(first, f->d);
#define THIN_CLEAR(t, r) sums.low##t##_##r = sums.high##t##_##r = _mm256_setzero_ps();
        THIN_PLACES(THIN_CLEAR)
#undef THIN_CLEAR
        thin_elements(&sums, f, first, end, are);
#define THIN_JOIN(t, r)                                                                            \
    if (t < are.pairs && r < are.rows)                                                             \
        thin_join(f->c + r * RDK_BLOCK + t * 16 / are.lanes, sums.low##t##_##r,                    \
                  sums.high##t##_##r, first == 0, are.lanes);
        THIN_PLACES(THIN_JOIN)
#undef THIN_JOIN
    }
}

#define THIN_FUNCTION(rows, pairs, lanes)                                                          \
    static void thin_##rows##_##lanes(const thin *f) {                                             \
        thin_body(f, (thin_shape){rows, pairs, lanes});                                            \
    }
THIN_FUNCTION(1, 2, 1)
THIN_FUNCTION(2, 2, 1)
THIN_FUNCTION(3, 1, 1)
THIN_FUNCTION(4, 1, 1)
THIN_FUNCTION(1, 2, 2)
THIN_FUNCTION(2, 2, 2)
THIN_FUNCTION(3, THIN_PAIRS, 2)
THIN_FUNCTION(4, THIN_PAIRS, 2)
#undef THIN_FUNCTION

static void run_thin_in_c(const thin *f, int queries) {
    static thin_function *const THIN_OF[][THIN + 1] = {
        {NULL, thin_1_1, thin_2_1, thin_3_1, thin_4_1},
        {NULL, thin_1_2, thin_2_2, thin_3_2, thin_4_2}};
    thin_in_turn(f, thin_keys(queries, f->chains), THIN_OF[f->chains - 1][queries]);
}

#endif
