/* Keys of requests and of compiled code: equal keys mean the same code. */
#ifndef NEREID_RUNTIME_COMPILE_CODE_KEY_H
#define NEREID_RUNTIME_COMPILE_CODE_KEY_H

#include "runtime/store/cache.h"
#include "runtime/image/image.h"

/* Of an image of PTX or C: of all that runs, and how it is launched.  Places in the source, which a
 * comment moves and another folder renames, are left out.  Zeros: out of memory. */
CacheKey code_key(const nereid_image *image);

/* Of the tile IR that a request gives, whatever the kernel is called, and without places: found
 * before anything is compiled.  Zeros after a failure, and of IR text of a later stage. */
int request_ir_key(CacheKey *out, const nereid_request *r);

/* Adds the parts of a request that code depends on, but for the source and the target. */
void request_key_add(KeyMaker *k, const nereid_request *r);

#endif
