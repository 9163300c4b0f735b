/* The version of the kernel language that a request's source is written in. */
#ifndef NEREID_RUNTIME_COMPILE_LANGUAGE_H
#define NEREID_RUNTIME_COMPILE_LANGUAGE_H

#include "lang/base/options.h"
#include "runtime/support/error.h"

/* The version that the request names; else 3.9 for a file whose package requires it: in the nearest
 * pyproject.toml, in its folder or above, all requirements on triton start at 3.9 or later; else
 * 3.6.  NEREID_E_USAGE, and 3.6, for a name that is no version. */
int language_of_request(Language *out, const nereid_request *r);

#endif
