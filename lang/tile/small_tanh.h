/* Hyperbolic tangents of small numbers: x * (c1 + c3 x^2 + c5 x^4) has an error of 2^-12.2 of the
 * result where |x| <= SMALL_TANH, half of what a GPU's instruction has, and x * (n1 + n3 x^2) where
 * |x| <= NEAR_TANH one of 2^-11, as the instruction has. */
#ifndef NEREID_LANG_TILE_SMALL_TANH_H
#define NEREID_LANG_TILE_SMALL_TANH_H

#define SMALL_TANH 0.75
#define SMALL_TANH_C1 0.99978515
#define SMALL_TANH_C3 (-0.32629603)
#define SMALL_TANH_C5 0.097354
#define NEAR_TANH 0.42
#define NEAR_TANH_N1 0.99951918
#define NEAR_TANH_N3 (-0.31123078)
/* The numbers that a GPU's kernel takes for small are those below it, the factor of the tangent's
 * operand included: the exponent's highest bit tells. */
#define SMALL_TANH_BELOW 2.0

#endif
