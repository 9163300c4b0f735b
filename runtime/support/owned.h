/* Text that a caller owns, and frees with nereid_text_free(). */
#ifndef NEREID_RUNTIME_SUPPORT_OWNED_H
#define NEREID_RUNTIME_SUPPORT_OWNED_H

#include "runtime/support/error.h"

/* A copy of `len` bytes with a NUL after them. */
int owned_copy(char **out, size_t *size, const char *from, size_t len);

#endif
