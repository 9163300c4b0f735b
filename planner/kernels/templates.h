/* The kernel templates: planner/kernels/templates/NAME.py. */
#ifndef NEREID_PLANNER_KERNELS_TEMPLATES_H
#define NEREID_PLANNER_KERNELS_TEMPLATES_H

#include "lang/base/embedded.h"

extern const EmbeddedFile template_files[];

#endif
