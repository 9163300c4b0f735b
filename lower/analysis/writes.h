/* Which arguments a kernel may write through, told from its text at any stage: what `nereid run`
 * prints, and what a loader of images needs to know of a kernel's outputs.  A pointer that was
 * itself loaded from memory counts as no argument's. */
#ifndef NEREID_LOWER_ANALYSIS_WRITES_H
#define NEREID_LOWER_ANALYSIS_WRITES_H

#include "lower/lower.h"

/* written[i] for each parameter of the nest, or of the tile function before there is one. */
void lower_written(const Unit *u, bool *written);

#endif
