/* Faults while kernels run on a CPU, in a program that embeds the library: told, then left to whom
 * they went to before.
 *
 * The handler is installed once and stays, since others may save it and put it back.  It tells only
 * while the device runs a kernel, once, and uses nothing that is unsafe in a handler. */
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

#include "runtime/device/device.h"
#include "runtime/messages.h"

enum { FAULTS = 2 };
static const int fault_signals[FAULTS] = {SIGSEGV, SIGBUS};

/* A handler gets no argument of ours. */
static struct {
  _Atomic(const nereid_device *) device;
  atomic_flag installed, told;
  struct sigaction before[FAULTS];
} watch = {.installed = ATOMIC_FLAG_INIT, .told = ATOMIC_FLAG_INIT};

/* ---- in the handler ---- */

static void write_all(const char *text, size_t n) {
  while (n) {
    ssize_t written = write(STDERR_FILENO, text, n);
    if (written <= 0) return;
    text += written;
    n -= (size_t)written;
  }
}

/* The kernel may have written over its own name. */
static size_t name_length(const char *name) {
  enum { NAME_MOST = 256 };
  size_t n = 0;
  while (n < NAME_MOST && name[n] > ' ' && name[n] <= '~') n++;
  return name[n] ? 0 : n;
}

static void tell_fault(const char *kernel) {
  static const char message[] = "nereid: " E_RUN_FAULT "\n";
  const char *at = strstr(message, "%s");
  write_all(message, (size_t)(at - message));
  write_all(name_length(kernel) ? kernel : "?", name_length(kernel) ? name_length(kernel) : 1);
  write_all(at + 2, strlen(at + 2));
}

/* If there was no handler before, the fault occurs again, and ends the process. */
static void pass_on(int number, siginfo_t *info, void *context) {
  const struct sigaction *before = &watch.before[number == fault_signals[1]];
  if (before->sa_flags & SA_SIGINFO) before->sa_sigaction(number, info, context);
  else if (before->sa_handler == SIG_DFL) signal(number, SIG_DFL);
  else if (before->sa_handler != SIG_IGN) before->sa_handler(number);
}

static void on_fault(int number, siginfo_t *info, void *context) {
  const nereid_device *d = atomic_load(&watch.device);
  const char *kernel = d ? device_running(d) : NULL;
  if (kernel && !atomic_flag_test_and_set(&watch.told)) tell_fault(kernel);
  pass_on(number, info, context);
}

/* ---- watching ---- */

int nereid_device_tell_faults(nereid_device *d) {
  REQUIRE(d);
  atomic_store(&watch.device, d);
  if (atomic_flag_test_and_set(&watch.installed)) return 0;
  struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_ONSTACK};
  sigemptyset(&action.sa_mask);
  for (int i = 0; i < FAULTS; i++) sigaction(fault_signals[i], &action, &watch.before[i]);
  return 0;
}

void device_forget_faults(const nereid_device *d) {
  atomic_compare_exchange_strong(&watch.device, &d, NULL);
}
