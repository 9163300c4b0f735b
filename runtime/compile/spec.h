/* The texts that say what a kernel is compiled for: TYPE and constexpr VALUE of nereid_arg. */
#ifndef NEREID_RUNTIME_COMPILE_SPEC_H
#define NEREID_RUNTIME_COMPILE_SPEC_H

#include "runtime/support/error.h"
#include "lang/base/strings.h"
#include "sema/sema.h"

/* "*bf16:16", "i32:1", "none", or a constant of a tuple, as "3:constexpr". */
int spec_type(KernelArg *out, Pool *names, const char *name, const char *text);
/* "128", "True", "tl.float16", "fn:gelu", "class:Point", "()", or a string, in quotes or not. */
int spec_constexpr(KernelArg *out, Pool *names, const char *name, const char *text);
/* Is the text a constant even where arguments are run-time values: "3:constexpr", "None", "()",
 * "fn:gelu", "class:Point", "tl.float16"? */
bool spec_is_constant(const char *text);
/* Reads the type of a tensor descriptor, "tensordesc<bf16[64,64]>" or
 * "tensordesc<bf16[64,64],padding=nan>", that `text` begins with: the element type and the shape of
 * its block, and "zero" or "nan".  Returns NULL with *len as the length of the type, or why it is
 * none. */
const char *spec_descriptor(const char *text, Type *block, const char **padding, size_t *len);
bool spec_begins_descriptor(const char *text);
/* Prints such a type.  Writes at most `size` bytes. */
void spec_print_descriptor(char *out, size_t size, Type block, const char *padding);
/* A number of the whole text: an integer (Python's forms, with _ and 0x) or a float.  Returns 1
 * for an integer that fits i64 (or u64, by its bits, with *is_u64 set), 2 for a float, 3 for a
 * decimal integer that fits neither, 0 if it is no number. */
int spec_number(const char *text, size_t len, int64_t *i, double *f, bool *is_u64);

#endif
