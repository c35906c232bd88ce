/* K and V that tiles cannot read in place, or not fast enough: they are brought together once per
 * block. */

/* How many columns of V are whole vectors, which tiles can read in place. */
static int64_t whole_vectors(const pass *p) {
    return p->call->d_v / RDK_LANES * RDK_LANES;
}

/* How many of the columns are whole strips. */
static int64_t whole_strips(int64_t columns) {
    return columns / TILE_STRIP * TILE_STRIP;
}

/* Whether all columns are whole strips: then tiles can pack what they read, or write results. */
static bool strips_are_whole(const pass *p) {
    return p->call->d_v % TILE_STRIP == 0;
}

/* Packs the values of some lanes from column `first` on. */
static void pack_values(const pass *p, const group *g, lanes l, int64_t first) {
    const int64_t whole = whole_vectors(p);
    for (int lane = l.lo; lane < l.hi; lane++) {
        const char *v = value_at(g, lane);
        for (int64_t c = first; c < p->width; c += RDK_LANES) {
            const int64_t strip = c - (c - first) % TILE_STRIP;
            const int64_t columns = rdk_least(TILE_STRIP, p->width - strip);
            float *to = p->values + strip * RDK_BLOCK + lane * columns + (c - strip);
            f32x16_store(to, c < whole ? f32x16_load(v + c * 4)
                                       : f32x16_load_first(v + c * 4, (int)(p->call->d_v - c)));
        }
    }
}

/* V of a block as tiles of values are given it. */
typedef struct strips {
    const char *values;   /* of the group's first lane */
    int64_t step, across; /* bytes from lane to lane, and from strip to strip */
} strips;

static strips strips_in_place(const group *g) {
    return (strips){g->kv.v, g->kv.v_step, TILE_STRIP * 4};
}

/* Strips that were packed, from column `first` and lane `lo` on. */
static strips packed_strips(const pass *p, int64_t first, int lo) {
    const int64_t columns = rdk_least(TILE_STRIP, p->width - first);
    return (strips){(const char *)(p->values + first * RDK_BLOCK + lo * columns), columns * 4,
                    PACKED_STRIP};
}

/* How the values of a block are read. */
typedef enum staging {
    IN_PLACE,
    PACK,   /* in place, and the first band packs them */
    PACKED, /* from where they were packed */
} staging;

/* How many bands the rows of a group make, of nearly equal height: 8 rows are 4 and 4, not 6
 * and 2. */
static int bands_of(const group *g) {
    return (g->count + TILE_QUERIES - 1) / TILE_QUERIES;
}

/* Whether tiles of so many rows are as wide as a strip. */
static bool fill_strips(int rows) {
    return TILE_VECTORS_OF[rows] * TILE_LANES == TILE_STRIP;
}

/* Whether every row of the group sees every lane of its block. */
static bool sees_block(const group *g) {
    return g->whole && g->lo == g->block->lo && g->hi == g->block->hi;
}

/* Whether to pack values for this group and those after it, `groups` in all. Rows of V that lie
 * far apart share few sets of a cache: they are packed at once, for three groups or more. Others
 * wait for a group that sees the whole block, whose tiles can pack what they read. */
static bool is_worth_packing(const pass *p, const group *g, int groups) {
    const rdk_packing *r = &p->plan->packing;
    if (!r->ever)
        return false;
    if (g->kv.v_step >= r->far_step)
        return groups > 2;
    return sees_block(g) && groups > (strips_are_whole(p) ? r->groups_beside : r->groups_apart);
}

/* How this group reads values that are to be packed. If the first band cannot pack the block while
 * it reads, all of it is packed here. */
static staging pack_block(const pass *p, const group *g) {
    if (fill_strips(g->count / bands_of(g)) && strips_are_whole(p) && sees_block(g))
        return PACK;
    pack_values(p, g, (lanes){g->block->lo, g->block->hi}, 0);
    return PACKED;
}

/* How a group reads the values of its block, which `groups` groups read from this one on. */
static staging staging_of(const pass *p, const group *g, int groups, bool packed) {
    if (packed)
        return PACKED;
    return is_worth_packing(p, g, groups) ? pack_block(p, g) : IN_PLACE;
}

/* Gathers the next keys of a thin row block where packed values would lie, of which a thin row
 * block has none at this time. Their rows lie so far apart that a cache's sets hold too few. */
static void gather_keys(const pass *p, thin *f, int count) {
    const int64_t d = p->call->d_qk;
    if (count * d > RDK_BLOCK * p->width)
        return;
    for (int i = 0; i < count; i++)
        memcpy(p->values + i * d, f->key + i * f->key_step, (size_t)d * sizeof(float));
    f->key = (const char *)p->values;
    f->key_step = d * 4;
}
