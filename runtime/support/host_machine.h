/* The host: its memory, its cores, and its clock. */
#ifndef NEREID_RUNTIME_SUPPORT_HOST_MACHINE_H
#define NEREID_RUNTIME_SUPPORT_HOST_MACHINE_H

#include "runtime/support/error.h"

/* Memory, aligned for any kernel, or an error where the machine lacks it: Linux promises more than
 * there is.  The device is not used; the functions are those of a device, too. */
int host_alloc(nereid_device *d, void **out, size_t size);
void host_free(nereid_device *d, void *p);
/* Memory that ends at a page which nobody may touch, so that running past it ends the process. */
int host_alloc_fenced(void **out, size_t size);
void host_free_fenced(void *p, size_t size);

/* A byte that is not 0, and is in processes that are forked later.  NULL: no memory. */
const char *host_fork_mark(void);
void host_free_fork_mark(const char *mark);

int host_cores(void);
/* Nanoseconds for which threads of this process have waited for a core, together; 0: not known. */
int64_t host_waited_ns(void);
/* Seconds since some moment, never set back. */
double host_now(void);

#endif
