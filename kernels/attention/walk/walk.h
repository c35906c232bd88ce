/* Attention over tiles: the walk that every vector ISA compiles. attention_<isa>.c includes this
 * file after the ISA's vocabulary and tiles; it gives walk_tasks(). The arithmetic is
 * docs/arithmetic.md section 10, as in attention_scalar.c. docs/design-attention.md shows the loops
 * in a picture.
 *
 * The words of these files:
 *
 *   row          one query of one query head
 *   row block    the rows of one key/value head that a task works on; their queries and sums lie
 *                in the scratch, in L2
 *   in step      said of row blocks that go through the keys together, block by block
 *   group        up to 24 or 48 rows of a row block, which meet a block together; their scores lie
 *                in L1
 *   unit         8 or 16 rows; every group begins at a multiple of it
 *   part         8 rows of a group, the fewest that tiles of scores leave out
 *   band         up to 6 rows of a group: the rows of a tile of values
 *   thin         a row block of at most 4 rows, which spends its time reading K and V
 *   enter        to put rows, or their queries, into the scratch
 *
 *   position     where a key stands in its sequence; blocks and chunks are cut at positions
 *   block        up to 128 keys, cut at positions that are multiples of 128
 *   chunk        up to 1024 keys, cut at multiples of 1024; each has a state of its own
 *   lane         a key's place in its block, 0 to 127; modulo 16, the lane of the sum that takes
 *                its weight
 *   run          keys, and their values, one step apart in memory
 *   sight        the keys that a row sees: from `first` to the one before `end`
 *   span         what the rows of a group see, and which chunk is open for them
 *
 *   chain        products added up one after the other: all of a score's, or every second one
 *   logit        a score in base 2; -inf where the key is hidden: the row does not see it
 *   reference    M, the integer that a row's weights are relative to; it moves when a logit lies
 *                far above it
 *   rescale      2^(old M - new M), which sums are multiplied with when M moves
 *   open, close  a chunk is open while a group goes through its blocks; closing it folds its state
 *                into the row's
 *   cold         a chunk with absurd logits, which is left to the reference
 *   plain        a group whose rows see keys of one chunk only, which is neither cold nor NaN
 *
 *   strip        as many columns of V as a tile of values takes at once; to pack the values of a
 *                block is to bring them together strip by strip
 *   panel        the rows of K, or of V, that a thin row block reads at a time
 *   beside       at the same time and in turn: prefetches beside FMAs, scores beside values
 *   stream       lines of memory that tiles fetch beside their sums
 *   notes        what tiles say of their results: the largest of each column, and sums that are
 *                NaN if a result is */
#include "kernels/attention/attention.h"
#include "kernels/attention/row.h"
#include "kernels/vec/f32x16_types.h"
#include "kernels/vec/weights.h"

enum {
    UNIT = TILE_UNIT,
    PART = 8, /* rows */
    MAX_PARTS = TILE_GROUP / PART,
    MAX_SPANS = RDK_MAX_ROWS / TILE_GROUP + 1 + RDK_MAX_IN_STEP,
    PACKED_STRIP = TILE_STRIP * RDK_BLOCK * 4, /* bytes of a strip of packed values */
};
_Static_assert(THIN == 0 || (int)THIN == (int)RDK_THIN, "thin rows are what plans take for them");

/* What is known of a group for as long as its row block is worked on. */
typedef struct span {
    rdk_sight sees; /* from the first key that one of its rows sees to the last */
    rdk_sight all;  /* what every row sees */
    int64_t open;   /* the number of the open chunk, or NO_CHUNK */
} span;
enum { NO_CHUNK = -1 };

typedef struct row_block {
    int64_t batch, kv_head;
    int64_t first, count; /* its rows in the scratch */
    span *spans;          /* one of each group */
    rdk_sight sees;       /* from the first key that one of its rows sees to the last */
} row_block;

/* What all functions of the walk share: set up once, then task by task. */
typedef struct pass {
    const rdk_plan *plan;
    const rdk_problem *call;
    int64_t width;    /* floats of a row's sums */
    int64_t chains;   /* of a score */
    bool same_layout; /* rows of K and of V have one length and one step */
    /* The scratch. */
    float *q;          /* group by group, [d_qk][width of the group] */
    float *first_sums; /* of a row's first chunk, then of all that are closed; row by row */
    float *sums;       /* of another chunk that is open */
    float *partial;    /* of one group over the first lanes of a block, until its last are added */
    float *scores;     /* of a block and group: [lane][row] or [row][lane]; then weights */
    float *values;     /* packed: [strip][lane][columns of the strip] */
    float *M, *T; /* of the open chunk: reference, largest logit; group by group, all rows twice */
    double *l;    /* the sum of the open chunk's weights, relative to M */
    rdk_row *rows;
    bool keeps_states; /* the caller asks for the LSE or for weights */
    /* The task. */
    row_block blocks[RDK_MAX_IN_STEP]; /* in step */
    int count;
    span spans[MAX_SPANS];
    rdk_task next; /* the task after this one; its `rows` is 0 if there is none */
} pass;

/* Up to 128 keys: key j has lane j - key0. The row blocks see keys of lanes lo ... hi - 1 only. */
typedef struct key_block {
    int64_t key0; /* negative if the block begins before the first key */
    int lo, hi;
    int64_t chunk;
} key_block;

/* Lanes lo ... hi - 1 of a block; none if hi <= lo. */
typedef struct lanes {
    int lo, hi;
} lanes;

/* The lanes that PART rows see. */
typedef struct part {
    lanes some;   /* from the first that one of them sees to the last */
    lanes shared; /* what every one of them sees */
} part;

/* A group, what it sees of a block, and its scores there. */
typedef struct group {
    const row_block *of;
    span *span;
    int64_t first; /* its first row in the scratch */
    int count;     /* rows */
    int width;     /* the same, rounded up to whole or half vectors */
    /* What is seen of the block. */
    const key_block *block;
    int lo, hi;            /* lanes from the first that a row sees to the one before hi */
    bool whole;            /* every row sees all of these */
    lanes shared;          /* what every row sees */
    part parts[MAX_PARTS]; /* unless whole */
    /* Unless whole: the first lane that each row sees, and the one behind its last. A row that
     * sees none has RDK_BLOCK and 0. */
    _Alignas(RDK_LINE) float from[TILE_GROUP + RDK_LANES], end[TILE_GROUP + RDK_LANES];
    rdk_run kv; /* of lanes lo ... hi - 1 */
    bool opens; /* the block is the first of its chunk for these rows */
    /* Scores, and what becomes of them. */
    bool by_chain;           /* queries lie chain by chain */
    bool by_query;           /* scores lie [row][lane], not [lane][row] */
    float *scores;           /* of lane 0 and row 0 */
    int lane_step, row_step; /* floats from a score to that of the next lane, and row */
    float *sums;             /* of row 0 */
    bool has_notes;          /* tiles have left `notes` */
    bool rescales;           /* one of `rescale` is not 1 */
    _Alignas(RDK_LINE) float notes[2 * TILE_GROUP]; /* the largest score of each row; then sums */
    /* What the sums of each row are multiplied with: all rows twice. Eight more are read. */
    _Alignas(RDK_LINE) float rescale[2 * TILE_GROUP + 8];
} group;

static const char *key_at(const group *g, int lane) {
    return g->kv.k + (lane - g->lo) * g->kv.k_step;
}

static const char *value_at(const group *g, int lane) {
    return g->kv.v + (lane - g->lo) * g->kv.v_step;
}

static float *score_at(const group *g, int lane, int row) {
    return g->scores + lane * g->lane_step + row * g->row_step;
}

/* Whether the group sees nothing before this block, or nothing after it. */
static bool is_first_block(const group *g) {
    return g->block->key0 + g->lo == g->span->sees.first;
}

static bool is_last_block(const group *g) {
    return g->block->key0 + g->hi == g->span->sees.end;
}

static bool is_thin(const row_block *rows) {
    return THIN > 0 && rows->count <= RDK_THIN;
}

static int64_t chunk_of(const pass *p, int64_t key) {
    return (p->call->key_pos0 + key) / RDK_CHUNK;
}

/* ---- Blocks of keys ------------------------------------------------------------------------ */

/* The block of `key`, of the keys from first to end. */
static key_block block_of(const pass *p, int64_t key, rdk_sight keys) {
    const int64_t position = p->call->key_pos0 + key;
    const int64_t key0 = key - position % RDK_BLOCK;
    return (key_block){.key0 = key0,
                       .lo = (int)(rdk_most(key0, keys.first) - key0),
                       .hi = (int)(rdk_least(key0 + RDK_BLOCK, keys.end) - key0),
                       .chunk = position / RDK_CHUNK};
}

/* The first key from `key` on that lies in the span of a group; the end of all keys if there
 * is none. */
static int64_t next_key(const pass *p, int64_t key) {
    const row_block *rows = &p->blocks[0]; /* row blocks in step see the same */
    int64_t next = rows->sees.end;
    for (int i = 0; i * TILE_GROUP < rows->count; i++)
        if (key < rows->spans[i].sees.end)
            next = rdk_least(next, rdk_most(key, rows->spans[i].sees.first));
    return next;
}

/* Makes b the next block that a group sees something of. False if there is none. Before the first
 * block, b->hi is 0. */
static bool next_block(const pass *p, key_block *b) {
    const rdk_sight keys = p->blocks[0].sees;
    const int64_t key = next_key(p, b->hi ? b->key0 + b->hi : keys.first);
    if (key >= keys.end)
        return false;
    *b = block_of(p, key, keys);
    return true;
}

#include "kernels/attention/walk/fetch.h"
#include "kernels/attention/walk/rows.h"
#include "kernels/attention/walk/scores.h"
#include "kernels/attention/walk/logits.h"
#include "kernels/attention/walk/softmax.h"
#include "kernels/attention/walk/stage.h"
#include "kernels/attention/walk/values.h"
#include "kernels/attention/walk/finish.h"
#include "kernels/attention/walk/few.h"
#include "kernels/attention/walk/many.h"
#include "kernels/attention/walk/weights.h"
#include "kernels/attention/walk/tasks.h"
