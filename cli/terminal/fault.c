/* Kernels of device cpu run in this process, and one that faults ends it: with a message.  This is
 * for a program: a library takes no signals away from its caller. */
#include "cli/terminal/diagnostics.h"

#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

#include "cli/messages.h"
#include "cli/terminal/args.h"
#include "runtime/device/device.h"
#include "runtime/support/log.h"

/* A handler gets no argument of ours. */
static const nereid_device *watched;

/* ---- in a handler: nothing here may allocate, lock or use stdio ---- */

static void write_error(const char *text, size_t n) {
  while (n) {
    ssize_t written = write(STDERR_FILENO, text, n);
    if (written <= 0) return;
    text += written;
    n -= (size_t)written;
  }
}

static void tell_fault(const char *kernel) {
  static const char text[] = "nereid: error: " E_CLI_FAULT "\n";
  static const char with_id[] = "nereid: error: " E_CLI_FAULT " [E_CLI_FAULT]\n";
  static const char object[] = "{\"severity\":\"error\",\"id\":\"E_CLI_FAULT\",\"message\":\""
                               E_CLI_FAULT "\",\"notes\":[]}\n";
  const char *message = message_is_json() ? object : message_has_id() ? with_id : text;
  const char *at = strstr(message, "%s");
  write_error(message, (size_t)(at - message));
  write_error(kernel, strlen(kernel));
  write_error(at + 2, strlen(at + 2));
}

/* If no kernel runs, the fault is this program's own, and ends it as it did before.  The first of
 * several threads that fault at once prints the message. */
static void on_fault(int signal_number) {
  static atomic_flag told = ATOMIC_FLAG_INIT;
  const char *kernel = device_running(watched);
  if (!kernel) {
    signal(signal_number, SIG_DFL);
    return;
  }
  while (atomic_flag_test_and_set(&told)) pause();
  tell_fault(kernel);
  _exit(STATUS_PROBLEM);
}

/* ---- watching ---- */

void fault_watch(const nereid_device *d) {
  struct sigaction action = {.sa_handler = d ? on_fault : SIG_DFL};
  sigemptyset(&action.sa_mask);
  if (d) watched = d;
  sigaction(SIGSEGV, &action, NULL);
  sigaction(SIGBUS, &action, NULL);
}
