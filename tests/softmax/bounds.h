/* How far results may be from the exact ones, in ULP. */
#ifndef RDK_BOUNDS_H
#define RDK_BOUNDS_H

#define BOUND_EXP2 1.03
#define BOUND_SOFTMAX 4.0
#define BOUND_LOG 2.0

#endif
