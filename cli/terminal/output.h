/* The destination of results. */
#ifndef NEREID_CLI_TERMINAL_OUTPUT_H
#define NEREID_CLI_TERMINAL_OUTPUT_H

#include "lang/base/strings.h"

/* Writes to a file (under a temporary name, then renamed), or to standard output if path is NULL.
 * Returns a status; failures are printed. */
int output_write(const char *path, const char *data, size_t size);
/* Writes a text that `print` makes of `what`. */
int output_print(const char *path, void (*print)(Text *out, const void *what), const void *what);
/* Prints the IR after a pass to standard error, for --dump-after; NULL: it changed nothing. */
void output_pass(void *ignored, const char *pass, const char *ir, double seconds);
/* The status after standard output could not be written, for errno. */
int output_failed(int error);

#endif
