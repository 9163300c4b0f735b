/* Filling templates: `{{slot}}` is replaced by its text.  A slot alone on its line takes the lines
 * of a text as they are. */
#ifndef NEREID_PLANNER_KERNELS_TEMPLATE_FILL_H
#define NEREID_PLANNER_KERNELS_TEMPLATE_FILL_H

#include "lang/base/strings.h"

typedef struct {
  const char *slot, *text;
} Slot;

/* The template of that name with its slots filled; all that it has must be given. */
void template_fill(Text *out, const char *name, const Slot *slots, size_t n);
/* Fills a template that is given as text. */
void template_fill_text(Text *out, const char *text, const Slot *slots, size_t n);

#endif
