/* Reading whole files, and replacing them without ever leaving a half-written one. */
#ifndef NEREID_RUNTIME_SUPPORT_FILES_H
#define NEREID_RUNTIME_SUPPORT_FILES_H

#include <stdbool.h>
#include <stdio.h>

#include "runtime/support/error.h"

/* The bytes of a kernel file in the arena, with a NUL after them. */
int files_read(Arena *a, const char *path, const char **text, size_t *len);
/* Reads "a file of others", which must have less than `mib` MiB, or 64 if it is a device or a pipe:
 * these may have no end. */
int files_read_most(Arena *a, const char *path, const char *what, int mib, const char **text,
                    size_t *len);

/* Does it begin as NumPy's array files do? */
bool files_is_npy(const char *start, size_t len);

/* A file that appears under `path` when it is complete. */
typedef struct {
  FILE *file;
  char *path, *temporary;
} FileWriter;

/* Would files_create work?  Asked before hours of work whose result goes there. */
int files_check(const char *path);
int files_create(FileWriter *w, const char *path);
/* Renames it into place if all was written. */
int files_commit(FileWriter *w);

#endif
