#include "lang/base/bug.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static _Thread_local struct {
  JumpPlace *innermost;
  const char *stage;
  BugReport report;
} thread;

void bug_catch(JumpPlace *p) {
  p->before = thread.innermost;
  p->stage = thread.stage;
  thread.innermost = p;
}

void bug_release(JumpPlace *p) {
  thread.innermost = p->before;
  thread.stage = p->stage;
}

_Noreturn void bug_again(void) {
  const BugReport *r = &thread.report;
  if (thread.innermost) longjmp(thread.innermost->jump, JUMP_BUG);
  fprintf(stderr, "nereid: internal error at %s:%d: %s\n", r->file, r->line, r->text);
  abort();
}

bool bug_guard(void (*body)(void *), void *arg) {
  JumpPlace place;
  bug_catch(&place);
  bool good = !setjmp(place.jump);
  if (good) body(arg);
  bug_release(&place);
  return good;
}

_Noreturn void bug_raise(const BugReport *report) {
  thread.report = *report;
  bug_again();
}

const BugReport *bug_report(void) { return &thread.report; }

void bug_(const char *file, int line, const char *fmt, ...) {
  BugReport *r = &thread.report;
  *r = (BugReport){.file = file, .line = line, .stage = thread.stage ? thread.stage : ""};
  va_list ap;
  va_start(ap, fmt);
  vsnprintf(r->text, sizeof r->text, fmt, ap);
  va_end(ap);
  bug_again();
}

void bug_stage(const char *name) {
  const char *failing = getenv("NEREID_FAIL_STAGE");
  thread.stage = name;
  if (failing && !strcmp(failing, name)) BUG("NEREID_FAIL_STAGE is %s", name);
}
