/* The kernels of a file of IR text: read all at once, so that nothing in the file goes unseen, and
 * looked up as those of a source file are. */
#ifndef NEREID_RUNTIME_COMPILE_UNITS_H
#define NEREID_RUNTIME_COMPILE_UNITS_H

#include "lower/lower.h"

typedef struct {
  Unit **data;
  uint32_t len;
  uint32_t file;
} Units;

/* False after errors, which are in `d`. */
bool units_read(Units *out, Arena *a, Pool *names, Diags *d, uint32_t file);
/* NAME, NAME@LINE, or NULL/"" for the only one: of two with one name the last counts.  NULL and an
 * error that lists what there is if it is none or several. */
Unit *units_find(const Units *units, Diags *d, const char *which);
/* Is there a later one of the same name? */
bool units_shadowed(const Units *units, uint32_t i);

#endif
