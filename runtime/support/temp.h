/* Temporary folders, in $TMPDIR or /tmp. */
#ifndef NEREID_RUNTIME_SUPPORT_TEMP_H
#define NEREID_RUNTIME_SUPPORT_TEMP_H

#include "runtime/support/error.h"

enum { TEMP_PATH = 4096 };

/* A folder that goes away with its files: by temp_free(), or, after a run that was killed, by the
 * temp_sweep() of another. */
typedef struct {
  char path[TEMP_PATH];
  int lock; /* a descriptor; negative: none */
} TempFolder;

int temp_new(TempFolder *t);
void temp_free(TempFolder *t);
/* Removes what processes of the same user have left that are no more. */
void temp_sweep(void);
/* PATH/NAME */
void temp_name(char *out, size_t size, const TempFolder *t, const char *name);
int temp_write(const TempFolder *t, const char *name, const void *data, size_t size);
/* malloc'ed */
int temp_read(const TempFolder *t, const char *name, char **data, size_t *size);

#endif
