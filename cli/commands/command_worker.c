/* nereid worker: measures kernels for a tuner that has started it.  Not for people. */
#include <signal.h>
#include <sys/prctl.h>

#include "cli/commands/commands.h"
#include "runtime/measure/worker.h"
#include "runtime/support/tool.h"

static const Option options[] = {{0}};

static int run_worker(int argc, char **argv) {
  (void)argc, (void)argv;
  /* A kernel that hangs must not outlive who waits for it. */
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  worker_serve(PROGRAM_SOCKET);
  return STATUS_OK;
}

const Command command_worker = {
    "worker", "", "Measures kernels for a tuner that has started it.", options, run_worker,
};
