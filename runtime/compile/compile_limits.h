/* Limits of a compilation: memory, and steps of work.  No source takes a compilation more than some
 * seconds or a GiB: past a limit it ends with a message that names the kernel's place, the pass at
 * work, and the line from which most of the kernel's operations come. */
#ifndef NEREID_RUNTIME_COMPILE_COMPILE_LIMITS_H
#define NEREID_RUNTIME_COMPILE_COMPILE_LIMITS_H

#include "runtime/compile/compilation.h"

/* Bytes of a compilation, and steps of each of its stages. */
ArenaUse compile_limits(void);
/* Reports that a limit was passed in this stage: NEREID_E_RESOURCES. */
int compile_refuse(Compilation *c, CompileStage stage);

#endif
