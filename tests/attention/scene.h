/* A scene is a query with its keys and values. A setting puts the scene somewhere into a larger
 * call whose other elements are noise. */
#ifndef RDK_ATTENTION_SCENE_H
#define RDK_ATTENTION_SCENE_H

#include <stdbool.h>
#include <stdint.h>

#include "rootdk/rootdk.h"
#include "tests/lib/paths.h"

enum { MAX_KEYS = 1200, MAX_D = 160, MAX_FLOATS = 1 << 22, MAX_SCRATCH = 1 << 23 };

typedef struct scene {
    int64_t keys, d_qk, d_v, key_pos0;
    float scale, spread; /* of the queries and keys: large ones make cold chunks */
} scene;

typedef enum noise { NOISE_NORMAL, NOISE_NAN, NOISE_COLD, NOISE_COUNT } noise;

/* Where the query is, and what is around it. Zero is the query alone. */
typedef struct setting {
    int64_t batch, heads, group, q_len; /* of the call; 0: 1 */
    int64_t at_batch, at_head, at_query;
    int64_t hidden; /* keys behind those of the scene, for causal modes to hide */
    int64_t causal; /* 0 with hidden keys: 2 */
    int64_t ahead;  /* added to the positions of keys and queries */
    noise noise;
    bool no_lse, weights, by_position; /* [batch][position][head] */
} setting;

/* Room for everything a call reads and writes, none of it where it was for the last call. */
typedef struct room {
    float *q, *k, *v, *out, *lse, *weights;
} room;

typedef struct result {
    rdk_status status;
    float out[MAX_D], lse, weights[MAX_KEYS];
} result;

extern uint64_t seed;            /* of all scenes */
extern float floats[MAX_FLOATS]; /* room for calls */
extern char scratch[MAX_SCRATCH];
extern result alone; /* of the scene at hand, on the path at hand */

/* Draws the scene and computes its query alone; whether that succeeded. */
bool stand_alone(const path *p, const scene *s);

/* The call of a setting, without memory. */
rdk_attention_desc describe(const scene *s, const setting *t);

/* Lays the operands of the call out in `floats`, full of noise. */
room find_room(const setting *t, rdk_attention_desc *d);

/* Puts the scene there. */
void put_scene(const scene *s, const setting *t, const rdk_attention_desc *d, const room *m);

/* Runs the setting and takes the results of its query. */
void run(const path *p, const scene *s, const setting *t, result *got);

/* Whether results are the same bits; prints the first that differs. */
bool same_floats(const char *what, const path *p, const scene *s, const setting *t,
                 const float *got, const float *want, int64_t count);

/* Whether the query gives in the setting what it gave alone. */
bool same(const path *p, const scene *s, const setting *t);

#endif
