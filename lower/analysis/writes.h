/* The arguments that a kernel may write through, from its IR at any level: `nereid run` prints
 * them, and a loader of images needs to know a kernel's outputs.  A pointer that was itself loaded
 * from memory counts as no argument's. */
#ifndef NEREID_LOWER_ANALYSIS_WRITES_H
#define NEREID_LOWER_ANALYSIS_WRITES_H

#include "lower/lower.h"

/* written[i] for each parameter of the nest, or of the tile function before there is one. */
void lower_written(const Unit *u, bool *written);

/* False, with an error at each op of the tile function that may write through a parameter which is
 * declared tl.const. */
bool lower_check_const(const Unit *u);

#endif
