/* Operands and results in memory of transforms whose lanes are signals. */
#ifndef NEREID_PLANNER_KERNELS_FOURIER_FOURIER_MEMORY_H
#define NEREID_PLANNER_KERNELS_FOURIER_FOURIER_MEMORY_H

#include "planner/kernels/fourier/fourier_kernel.h"

Strides fourier_strides(const Fourier *f);
/* Are operands of neighbouring lanes neighbours in memory, or every other element? */
bool fourier_has_near_lanes(const Fourier *f);
/* Names addresses of element `index` of both parts. */
void fourier_point_at(Fourier *f, const char *const names[2], const char *index);
/* The element `t` after those of addresses `from`, which is in memory. */
Wave fourier_in_memory(Fourier *f, const char *const from[2], int64_t t);
/* Loads `count` elements of both parts.  Pairs are loaded one after the other: so all are
 * neighbours in memory. */
void fourier_load_waves(Fourier *f, const char *const from[2], int64_t count, Wave *x);
/* The operands, or results, of the last radix's column at `k` and `element`
 * (fourier_open_middles). */
void fourier_take_spectrum(Fourier *f, Wave *x);
void fourier_give_spectrum(Fourier *f, Wave *y);

#endif
