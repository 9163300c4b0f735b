/* The kernel templates: graph/kernels/templates/NAME.py. */
#ifndef NEREID_GRAPH_KERNELS_TEMPLATES_H
#define NEREID_GRAPH_KERNELS_TEMPLATES_H

#include "lang/base/embedded.h"

extern const EmbeddedFile template_files[];

#endif
