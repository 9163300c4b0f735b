/* Which code of a kernel a launch runs.  Kernels take for granted that strides of their tensor maps
 * are multiples of 16 bytes, and have as many slots in a ring as the source says; launches of
 * others, and of few programs, run code that is compiled late (runtime/launch/late_code.c). */
#ifndef NEREID_LOWER_COST_LAUNCH_CODE_H
#define NEREID_LOWER_COST_LAUNCH_CODE_H

#include "lower/cost/launch_stats.h"
#include "lower/lower.h"

/* A parameter and the largest power of two up to 16 that divides its value. */
typedef struct {
  const char *name, *dtype;
  int divisor;
} LaunchDivisor;

/* Stages of rings that fill shared memory, of a kernel that has tile IR: a product's operands come
 * from far, and a launch of few programs waits for them.  0: there are no others, or few more. */
int launch_deep_stages(Arena *a, const Unit *u);
/* The divisors on which code for a launch depends that has strides which maps of the nest don't
 * take; NULL if they take all, as far as values are known. */
const LaunchDivisor *launch_divisors(Arena *a, const Nest *n, const EstimateInput *in, int *count);

#endif
