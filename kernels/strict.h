/* No contraction: a compiler that makes one fma of a product and a sum rounds once where the
 * contract (docs/arithmetic.md) rounds twice. Comes before anything that computes, intrinsics
 * included. What it says of the flags, -ffp-contract=off, stays right where that is forgotten. */
#ifndef RDK_STRICT_H
#define RDK_STRICT_H

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("fp-contract=off") /* gcc does not know the standard's */
#else
#pragma STDC FP_CONTRACT OFF
#endif

#endif
