/* Requests as parts of keys. */
#ifndef NEREID_RUNTIME_COMPILE_REQUEST_KEY_H
#define NEREID_RUNTIME_COMPILE_REQUEST_KEY_H

#include "runtime/store/cache.h"

/* All that code depends on, but for the source and the target. */
void request_key_add(KeyMaker *k, const nereid_request *r);

#endif
