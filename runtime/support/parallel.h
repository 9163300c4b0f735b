/* Independent pieces of work on all cores. */
#ifndef NEREID_RUNTIME_SUPPORT_PARALLEL_H
#define NEREID_RUNTIME_SUPPORT_PARALLEL_H

#include <stddef.h>

/* body(context, i) for all i < n, on as many threads as there are cores; the caller's is one of
 * them.  Messages of errors belong to the thread that set them: a body that fails keeps its own.
 * An internal error in a body happens in the caller, after the others have ended. */
void parallel_for(size_t n, void (*body)(void *context, size_t i), void *context);

#endif
