/* The choice of kernels, inside the library. */
#ifndef RDK_DISPATCH_H
#define RDK_DISPATCH_H

#include "kernels/attention/sight.h"
#include "kernels/kernels.h"

/* Fills *t for a CPU with `flags` (dispatch/cpu.h): scalar first, then every rung up to `isa` that
 * the flags allow; RDK_ISA_DEFAULT means all of them. */
void rdk_table_fill(rdk_table *t, unsigned flags, rdk_isa isa);

/* The best ISA of a CPU with `flags`, of those in this build. */
rdk_isa rdk_best_isa(unsigned flags);

/* The table for a descriptor's `isa` field; NULL and a reason in *status if there is none. */
const rdk_table *rdk_table_for(rdk_isa isa, rdk_status *status);

/* The public functions with the kernels of any table; NULL is that of the descriptor's `isa`. */
rdk_status rdk_softmax_with(const rdk_table *t, const rdk_softmax_desc *desc);
rdk_status rdk_attention_with(const rdk_table *t, const rdk_attention_desc *desc);

/* Attention whose queries see ranges of keys at most: ranges[b * q_len + i] is that of query i
 * of batch b. */
rdk_status rdk_attention_ranges_with(const rdk_table *t, const rdk_attention_desc *desc,
                                     const rdk_sight *ranges);

#endif
