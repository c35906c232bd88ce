#include "tests/attention/axes.h"

#include "tests/attention/axes/walk.h"

const axis ATTENTION_AXES[] = {
    {"rows", walk_rows},
    {"keys", walk_keys},
    {"edges of blocks and chunks", walk_key_edges},
    {"halves of blocks", walk_halves},
    {"chains of scores", walk_chains},
    {"d_qk and d_v", walk_dims},
    {"groups of heads", walk_groups},
    {"query blocks", walk_query_blocks},
    {"wide query blocks", walk_wide_blocks},
    {"packed values", walk_packed_values},
    {"empty", walk_empty},
    {"positions", walk_positions},
    {"bottom right", walk_bottom_right},
    {"NaN and Inf", walk_specials},
    {"NaN and Inf of some rows", walk_specials_of_some},
    {"ranges of keys", walk_ranges},
    {"NaN and Inf in ranges", walk_specials_in_ranges},
    {"zero strides", walk_zero_strides},
    {"strides", walk_strides},
    {"pairs of strides", walk_pairs_of_strides},
    {"expanded heads", walk_expanded},
    {"V inside K", walk_value_in_key},
    {"gaps", walk_gaps},
    {"misaligned", walk_misaligned},
    {"full scratch", walk_full_scratch},
    {"outputs", walk_outputs},
    {"scales", walk_scales},
    {"families of scores", walk_families},
    {"values", walk_values},
    {"edge of hot", walk_hot_edge},
    {"hot and cold chunks", walk_cold},
    {"references", walk_references},
    {"signs of zero", walk_signs_of_zero},
    {0},
};

bool attention_walk_draws(uint64_t seed, uint64_t first, uint64_t count, visitor *visit,
                          void *context) {
    for (uint64_t i = first; i < first + count; i++) {
        attention_case c = attention_draw(seed, i);
        if (!visit(context, &c))
            return false;
    }
    return true;
}
