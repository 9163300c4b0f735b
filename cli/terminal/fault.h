/* Kernels of device cpu run in this process, and one that faults ends it: with a message.  This is
 * for a program: a library takes no signals away from its caller. */
#ifndef NEREID_CLI_TERMINAL_FAULT_H
#define NEREID_CLI_TERMINAL_FAULT_H

#include "runtime/nereid.h"

/* From now on; one device at a time.  NULL, before it is closed: faults are as they were. */
void fault_watch(const nereid_device *d);

#endif
