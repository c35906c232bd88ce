/* Which keys a query sees. */
#ifndef RDK_ATTENTION_SIGHT_H
#define RDK_ATTENTION_SIGHT_H

#include <stdbool.h>
#include <stdint.h>

/* Keys first ... end - 1; none if end <= first. */
typedef struct rdk_sight {
    int64_t first, end;
} rdk_sight;

/* The rule that says which keys the queries of a call see. */
typedef struct rdk_sight_rule {
    int64_t keys;            /* how many there are */
    bool causal;             /* query i sees no key from causal_end + i on */
    int64_t causal_end;      /* may be negative, or beyond the keys */
    int64_t queries;         /* of a batch */
    const rdk_sight *ranges; /* NULL, or the keys that each query of each batch sees at most */
} rdk_sight_rule;

static inline bool rdk_sees_nothing(rdk_sight s) {
    return s.end <= s.first;
}

/* The keys of s from `first` to before `end`. */
static inline rdk_sight rdk_sight_within(rdk_sight s, int64_t first, int64_t end) {
    return (rdk_sight){s.first > first ? s.first : first, s.end < end ? s.end : end};
}

/* From the first key that one of two sights has to the last. */
static inline rdk_sight rdk_sight_hull(rdk_sight a, rdk_sight b) {
    if (rdk_sees_nothing(a))
        return b;
    if (rdk_sees_nothing(b))
        return a;
    return (rdk_sight){a.first < b.first ? a.first : b.first, a.end > b.end ? a.end : b.end};
}

/* What query i of batch b sees. One that sees nothing has first = end = 0. */
static inline rdk_sight rdk_sight_of(const rdk_sight_rule *r, int64_t b, int64_t i) {
    rdk_sight s = {0, r->keys};
    if (r->causal)
        s = rdk_sight_within(s, 0, r->causal_end + i);
    if (r->ranges) {
        const rdk_sight most = r->ranges[b * r->queries + i];
        s = rdk_sight_within(s, most.first, most.end);
    }
    return rdk_sees_nothing(s) ? (rdk_sight){0, 0} : s;
}

/* Whether neither `first` nor `end` falls from one query of a batch to the next, among those that
 * see something. */
static inline bool rdk_sight_grows(const rdk_sight_rule *r) {
    return !r->ranges;
}

#endif
