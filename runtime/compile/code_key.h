/* Keys of requests and of compiled code: equal keys mean the same code. */
#ifndef NEREID_RUNTIME_COMPILE_CODE_KEY_H
#define NEREID_RUNTIME_COMPILE_CODE_KEY_H

#include "runtime/store/cache.h"
#include "runtime/image/image.h"

/* The key of an image of PTX or C: of all code that runs, and how it is launched.  It leaves out
 * source locations, which a comment moves and another folder renames.  Zeros: out of memory. */
CacheKey code_key(const nereid_image *image);

/* The key of the tile IR that a request gives, whatever the kernel is called, and without source
 * locations: it is found before any code is generated.  Zeros after a failure, and for IR text of a
 * later stage. */
int request_ir_key(CacheKey *out, const nereid_request *r);

/* Adds the parts of a request that code depends on, but for the source and the target. */
void request_key_add(KeyMaker *k, const nereid_request *r);

#endif
