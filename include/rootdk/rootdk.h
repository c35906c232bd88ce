/* rootdk: fused scale + softmax and scaled dot-product attention for CPUs, with the same bits on
 * every instruction set.
 *
 * This header is the whole public interface. It compiles alone as C99 and as C++11.
 *
 * Conventions, for every function here:
 *   - Descriptors are plain structs. Set `size` to sizeof the struct and leave the rest zero, which
 *     is the default of every field; rdk_softmax_init() and rdk_attention_init() do so.
 *   - Sizes and strides are int64_t; strides count elements, not bytes. The innermost dimension is
 *     contiguous. Data pointers (void *) need no alignment.
 *   - Nothing is allocated, printed or started, and no byte outside the caller's buffers is read or
 *     written. Any function may be called from any thread.
 *   - On any status but RDK_OK nothing was written.
 *   - The floating-point environment of the caller (rounding, flush-to-zero, traps, sticky flags)
 *     neither changes the result nor is changed.
 */
#ifndef ROOTDK_H
#define ROOTDK_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define RDK_VERSION_MAJOR 0
#define RDK_VERSION_MINOR 1
#define RDK_VERSION_PATCH 0

/* The version of the arithmetic (docs/arithmetic.md). Two libraries with the same number give the
 * same bits for the same call, whatever their ISA, compiler or version. */
#define RDK_ARITHMETIC_VERSION 4

/* RDK_API marks what a shared library exports; define RDK_SHARED when linking one on Windows. */
#if defined(_WIN32) && defined(RDK_BUILDING)
#define RDK_API __declspec(dllexport)
#elif defined(_WIN32) && defined(RDK_SHARED)
#define RDK_API __declspec(dllimport)
#elif defined(__GNUC__) && !defined(_WIN32)
#define RDK_API __attribute__((visibility("default")))
#else
#define RDK_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Status ------------------------------------------------------------------------------- */

typedef enum rdk_status {
    RDK_OK = 0,
    RDK_ERR_NULL = 1,             /* a pointer that is needed is NULL */
    RDK_ERR_STRUCT_SIZE = 2,      /* `size` is too small or above 4096, or unknown bytes are set */
    RDK_ERR_SIZE = 3,             /* a count is negative or too large, or an extent overflows */
    RDK_ERR_STRIDE = 4,           /* a stride is negative, or rows would overlap */
    RDK_ERR_TYPE = 5,             /* an rdk_type that does not exist */
    RDK_ERR_MODE = 6,             /* a mode that does not exist */
    RDK_ERR_VISIBLE = 7,          /* a visible count is negative or above cols */
    RDK_ERR_OVERLAP = 8,          /* an output overlaps an input or another output */
    RDK_ERR_ISA_UNKNOWN = 9,      /* no ISA has that number or name */
    RDK_ERR_ISA_UNAVAILABLE = 10, /* this CPU, or this build, does not have that ISA */
    RDK_ERR_HEADS = 11,           /* q_heads is not a multiple of kv_heads */
    RDK_ERR_SCRATCH = 12,         /* the scratch is smaller than the call needs */
    RDK_ERR_OP_UNAVAILABLE = 13   /* this build leaves the operation out */
} rdk_status;

/* One line of English, never NULL, also for a number that is no status. */
RDK_API const char *rdk_status_string(rdk_status status);

/* ---- Version ------------------------------------------------------------------------------ */

/* The version of the library that runs, for example "0.1.0". */
RDK_API const char *rdk_version(void);

/* RDK_ARITHMETIC_VERSION of the library that runs. */
RDK_API int rdk_arithmetic_version(void);

/* ---- Element types ------------------------------------------------------------------------ */

typedef int32_t rdk_type;
enum {
    RDK_F32 = 0, /* IEEE binary32 */
    RDK_F16 = 1, /* IEEE binary16 */
    RDK_BF16 = 2 /* the upper half of a binary32 */
};

/* ---- Instruction sets --------------------------------------------------------------------- */

typedef int32_t rdk_isa;
enum {
    RDK_ISA_DEFAULT = 0, /* the dispatcher's choice */
    RDK_ISA_SCALAR = 1,  /* the reference; every CPU has it */
    RDK_ISA_AVX2 = 2,    /* x86-64 with AVX2, FMA and F16C */
    RDK_ISA_AVX512 = 3,  /* x86-64 with AVX-512 F, BW, DQ and VL */
    RDK_ISA_NEON = 4     /* AArch64 */
};
#define RDK_ISA_COUNT 5

/* "scalar", "avx2", "avx512", "neon"; "default" for 0; NULL for a number that is no ISA. */
RDK_API const char *rdk_isa_name(rdk_isa isa);

/* The ISA of that name, upper or lower case. RDK_ERR_ISA_UNKNOWN and *isa untouched if there is
 * none, RDK_ERR_NULL if a pointer is NULL. */
RDK_API rdk_status rdk_isa_from_name(const char *name, rdk_isa *isa);

/* RDK_OK if kernels for `isa` are in this build and this CPU and its kernel can run them;
 * always for RDK_ISA_DEFAULT. */
RDK_API rdk_status rdk_isa_available(rdk_isa isa);

/* What runs when a descriptor says RDK_ISA_DEFAULT. Until rdk_set_isa() is called, that is the
 * ISA named by the environment variable RDK_ISA (ignored in setuid programs), else the best
 * one of this CPU and build. */
RDK_API rdk_isa rdk_get_isa(void);

/* Whether RDK_ISA in the environment, or the last rdk_set_isa(), was honoured. After an unknown or
 * unavailable name the choice is scalar, never silently the best. */
RDK_API rdk_status rdk_isa_status(void);

/* Choose for all later calls; RDK_ISA_DEFAULT goes back to the best. If `isa` cannot be had, the
 * status says so and scalar is chosen. */
RDK_API rdk_status rdk_set_isa(rdk_isa isa);

/* ---- Operations --------------------------------------------------------------------------- */

typedef int32_t rdk_op;
enum { RDK_OP_SOFTMAX = 0, RDK_OP_ATTENTION = 1 };
#define RDK_OP_COUNT 2

/* The name of the kernel that runs for `op` by default, for example "rdk_softmax_avx2"; NULL for a
 * number that is no operation, and for an operation that this build leaves out. Every function of
 * such an operation is there, looks at no descriptor and returns RDK_ERR_OP_UNAVAILABLE. */
RDK_API const char *rdk_kernel_name(rdk_op op);

/* ---- Softmax ------------------------------------------------------------------------------ */

typedef int32_t rdk_softmax_mode;
enum {
    RDK_SOFTMAX = 0,     /* y = exp(z) / sum(exp(z)), z = scale * x + bias */
    RDK_LOG_SOFTMAX = 1, /* y = z - log(sum(exp(z))) */
    RDK_SOFTMAX_LSE = 2  /* only lse = log(sum(exp(z))); y is neither read nor written */
};

/* Softmax over each of `rows` rows of `cols` elements.
 *
 * Of row r the first `visible[r]` columns take part (all, if `visible` is NULL). A bias of
 * -0x1.62e43p+15 (-45426.09) or less (so -inf, -1e9, the lowest finite value of any type) takes its
 * column out as well: whatever x holds there, NaN included, touches nothing. The weight of a column
 * taken out is +0 (log: -inf).
 *
 * A row with nothing left, or only -inf (or logits below -2.36e38), is all +0 (log: -inf) with
 * lse = -inf. A row with a visible NaN or +inf logit, or a scale that times log2(e) is not a finite
 * float, is all NaN in its visible columns. Every NaN written is 0x7fc00000 (f16 0x7e00, bf16
 * 0x7fc0). */
typedef struct rdk_softmax_desc {
    size_t size;           /* sizeof(rdk_softmax_desc) */
    rdk_isa isa;           /* RDK_ISA_DEFAULT, or this ISA for this call */
    rdk_softmax_mode mode; /* RDK_SOFTMAX, RDK_LOG_SOFTMAX or RDK_SOFTMAX_LSE */
    int64_t rows;          /* 0 or more */
    int64_t cols;          /* 0 to 2^31 */

    const void *x; /* rows x cols of x_type */
    int64_t
        x_stride; /* elements between rows: cols or more, or 0 to read one row again and again */
    void *y;      /* rows x cols of y_type; may be x itself if type and stride are equal */
    int64_t y_stride; /* elements between rows: cols or more */
    rdk_type x_type;
    rdk_type y_type;

    const float
        *row_scale; /* NULL, or one scale per row, literally (0 is 0), in place of `scale` */
    float scale;    /* multiplies x; 0 means 1; 1 / temperature */
    rdk_type bias_type;
    const void *bias;       /* NULL, or rows x cols added to scale * x */
    int64_t bias_stride;    /* elements between rows: cols or more, or 0 for one row for all */
    const int64_t *visible; /* NULL, or how many columns of each row take part, 0 to cols */
    float *lse;             /* NULL, or one log-sum-exp per row */
} rdk_softmax_desc;

RDK_API rdk_status rdk_softmax(const rdk_softmax_desc *desc);

/* ---- Attention ---------------------------------------------------------------------------- */

/* Rows in memory, one for each batch, head and position. Row i of head h in batch b begins at
 * element b * batch_stride + h * head_stride + i * row_stride and is contiguous. So views are
 * [batch][head][position][d], [batch][position][head][d], and q, k, v interleaved in one buffer. */
typedef struct rdk_const_view {
    const void *data;
    int64_t batch_stride, head_stride, row_stride;
    rdk_type type;
} rdk_const_view;

typedef struct rdk_view {
    void *data;
    int64_t batch_stride, head_stride, row_stride;
    rdk_type type;
} rdk_view;

typedef int32_t rdk_causal;
enum {
    RDK_CAUSAL_NONE = 0,         /* every query sees every key */
    RDK_CAUSAL_BOTTOM_RIGHT = 1, /* the last query sees all keys, the one before all but one, ... */
    RDK_CAUSAL_FROM_POSITION = 2 /* query i has position q_pos + i and sees the keys up to it */
};

#define RDK_MAX_HEAD_DIM 1024

/* out = softmax(scale * q k^T) v for each batch, head and query, on the calling thread.
 *
 * q_heads is a multiple of kv_heads: query head h attends to key/value head
 * h / (q_heads / kv_heads). Key j has position key_pos0 + j. The position fixes the order of all
 * sums, so a query gives the same bits whether it comes alone or among others, as a prefill or as a
 * decode step, and whether the keys it does not see are in the call or not. (After older keys have
 * been evicted, say so with key_pos0.)
 *
 * What a query does not see touches nothing, NaN and infinities included. A query that sees
 * nothing, or only scores of -inf, gives zeros and an LSE of -inf. One that sees a score of NaN or
 * +inf, or any score when scale * log2(e) is not a finite float, gives NaN. Every NaN written is
 * 0x7fc00000.
 *
 * Inputs may have strides of 0 and may overlap each other. Outputs overlap neither themselves, nor
 * each other, nor an input, nor the scratch. Views of size 0 may have NULL data. All types are
 * RDK_F32. */
typedef struct rdk_attention_desc {
    size_t size;            /* sizeof(rdk_attention_desc) */
    rdk_isa isa;            /* RDK_ISA_DEFAULT, or this ISA for this call */
    rdk_causal causal;      /* which keys a query sees */
    int64_t batch, q_heads; /* 0 to 2^31 each */
    int64_t kv_heads;       /* 0 to 2^31; 0 means q_heads */
    int64_t q_len, kv_len;  /* 0 to 2^31 each */
    int64_t d_qk;           /* elements of a query and a key, 1 to 1024 */
    int64_t d_v;            /* elements of a value and an output, 1 to 1024; 0 means d_qk */

    rdk_const_view q; /* batch x q_heads x q_len rows of d_qk */
    rdk_const_view k; /* batch x kv_heads x kv_len rows of d_qk */
    rdk_const_view v; /* batch x kv_heads x kv_len rows of d_v */
    rdk_view out;     /* batch x q_heads x q_len rows of d_v */

    int64_t q_pos;    /* of the first query, if causal is RDK_CAUSAL_FROM_POSITION; within +-2^61 */
    int64_t key_pos0; /* position of the first key, 0 to 2^61 */
    float scale;      /* multiplies the scores; 0 means 1 / sqrt(d_qk) */

    rdk_view lse;     /* unless data is NULL: the log-sum-exp of each query, rows of one element */
    rdk_view weights; /* unless data is NULL: the softmax itself, rows of kv_len */

    void *scratch;       /* rdk_attention_scratch() bytes of any alignment, unchecked contents */
    size_t scratch_size; /* how many there are */
} rdk_attention_desc;

RDK_API rdk_status rdk_attention(const rdk_attention_desc *desc);

/* How many bytes of scratch rdk_attention() needs for `desc`, whatever the ISA. They depend on what
 * is computed for a query (d_qk, d_v, types, what is asked for), never on how many batches, heads,
 * queries or keys there are: one buffer serves all calls of a model. Pointers, counts and strides
 * are not looked at. */
RDK_API rdk_status rdk_attention_scratch(const rdk_attention_desc *desc, size_t *bytes);

/* ---- Which field is wrong ----------------------------------------------------------------- */

/* The status that the call would give, without the call. *field becomes the name of the wrong field
 * ("cols", "k.row_stride", "scratch_size"), "desc" if desc is NULL, or "" if the status is RDK_OK
 * or RDK_ERR_OP_UNAVAILABLE; nothing else is written. The name lives as long as the library.
 * `field` may be NULL. Softmax's counts in `visible` are read.
 *
 * Where a status concerns several fields, the name is that of
 *   - RDK_ERR_OVERLAP: the output, or the later of two outputs in the descriptor, where the scratch
 *     counts as one;
 *   - RDK_ERR_STRIDE, for an output that overlaps itself: its smallest stride that is too small;
 *   - RDK_ERR_SIZE, for a view that has no address for every element: its data, if one row of it
 *     has none, else the first of its strides by row, head and batch that leads too far;
 *   - RDK_ERR_HEADS: kv_heads. */
RDK_API rdk_status rdk_softmax_check(const rdk_softmax_desc *desc, const char **field);
RDK_API rdk_status rdk_attention_check(const rdk_attention_desc *desc, const char **field);

/* ---- Descriptors and views, filled in ----------------------------------------------------- */

/* These set what is no error, but seldom meant, if it is forgotten or confused: a stride of 0 reads
 * one row again and again, and a count of 0 leaves nothing to do. They are compiled into the
 * program, because `size` is that of the struct with which the program was compiled. */

/* Softmax from x to y, rows x cols floats each without gaps. y is x for in place, and NULL for
 * RDK_SOFTMAX_LSE. All other fields are zero; set the types or longer strides afterwards. */
static inline rdk_softmax_desc rdk_softmax_init(int64_t rows, int64_t cols, const void *x,
                                                void *y) {
    rdk_softmax_desc d;
    memset(&d, 0, sizeof d);
    d.size = sizeof d;
    d.rows = rows;
    d.cols = cols;
    d.x = x;
    d.x_stride = cols;
    d.y = y;
    d.y_stride = cols;
    return d;
}

/* Attention of these counts, which come in the order of the fields; kv_heads may be 0. All other
 * fields are zero: d_v means d_qk, every query sees every key, and the views and the scratch are
 * still to be set. */
static inline rdk_attention_desc rdk_attention_init(int64_t batch, int64_t q_heads,
                                                    int64_t kv_heads, int64_t q_len, int64_t kv_len,
                                                    int64_t d_qk) {
    rdk_attention_desc d;
    memset(&d, 0, sizeof d);
    d.size = sizeof d;
    d.batch = batch;
    d.q_heads = q_heads;
    d.kv_heads = kv_heads;
    d.q_len = q_len;
    d.kv_len = kv_len;
    d.d_qk = d_qk;
    return d;
}

/* a * b as a stride; INT64_MAX if a or b is not positive or the product is too large. A call whose
 * view has a second element along such a stride says RDK_ERR_SIZE, where it would accept 0. */
static inline int64_t rdk_stride(int64_t a, int64_t b) {
    return a <= 0 || b <= 0 || a > INT64_MAX / b ? INT64_MAX : a * b;
}

/* The view of an array of floats: [batch][heads][positions][d] (BHSD), or
 * [batch][positions][heads][d] (BSHD). The numbers are those of the whole array, in its order. So k
 * and v have kv_heads, and a cache has the positions for which there is room, however few (kv_len)
 * are in use. d is d_qk for q and k, d_v for v and out, 1 for lse, kv_len for weights. 0 stands for
 * no other number here. */
static inline rdk_const_view rdk_const_view_bhsd(const void *data, int64_t heads, int64_t positions,
                                                 int64_t d) {
    rdk_const_view v;
    v.data = data;
    v.row_stride = rdk_stride(d, 1);
    v.head_stride = rdk_stride(positions, v.row_stride);
    v.batch_stride = rdk_stride(heads, v.head_stride);
    v.type = RDK_F32;
    return v;
}

static inline rdk_const_view rdk_const_view_bshd(const void *data, int64_t positions, int64_t heads,
                                                 int64_t d) {
    rdk_const_view v;
    v.data = data;
    v.head_stride = rdk_stride(d, 1);
    v.row_stride = rdk_stride(heads, v.head_stride);
    v.batch_stride = rdk_stride(positions, v.row_stride);
    v.type = RDK_F32;
    return v;
}

/* The view of other memory with the strides of v, for an output. */
static inline rdk_view rdk_view_like(void *data, rdk_const_view v) {
    rdk_view other;
    other.data = data;
    other.batch_stride = v.batch_stride;
    other.head_stride = v.head_stride;
    other.row_stride = v.row_stride;
    other.type = v.type;
    return other;
}

/* The two layouts, for an output. */
static inline rdk_view rdk_view_bhsd(void *data, int64_t heads, int64_t positions, int64_t d) {
    return rdk_view_like(data, rdk_const_view_bhsd(data, heads, positions, d));
}

static inline rdk_view rdk_view_bshd(void *data, int64_t positions, int64_t heads, int64_t d) {
    return rdk_view_like(data, rdk_const_view_bshd(data, positions, heads, d));
}

#ifdef __cplusplus
}
#endif

#endif
