/* Internal errors: invariants of ours that do not hold.
 *
 * An internal error ends what the library was asked for, never the process: it jumps to the
 * innermost place that its thread has set, which frees the arena of that work and reports the error
 * (runtime/support/error.h, NEREID_E_INTERNAL).  The places are those of running out of memory
 * (arena.h), so code between a place and an error holds nothing outside of arenas, or releases it
 * by arena_guard().  A thread without a place has nobody to tell: there the process ends.
 *
 * A thread's places, its stage and its last report are the thread's own, as errno is. */
#ifndef NEREID_LANG_BASE_BUG_H
#define NEREID_LANG_BASE_BUG_H

#include <setjmp.h>
#include <stdbool.h>

/* What a jump says: the second argument of longjmp. */
enum { JUMP_MEMORY = 1, JUMP_BUG };

/* A place to jump to, in the frame of a function that calls setjmp(p.jump). */
typedef struct JumpPlace {
  jmp_buf jump;
  struct JumpPlace *before; /* of the thread */
  struct JumpPlace *outer;  /* of the arena */
  const char *stage;        /* of the thread, when the place was set */
} JumpPlace;

/* From now on the thread's internal errors jump to `p`. */
void bug_catch(JumpPlace *p);
/* No longer, nor to the places that were set after it; the stage is what it was. */
void bug_release(JumpPlace *p);
/* After a jump by an internal error, and bug_release: on to the next place. */
_Noreturn void bug_again(void);

/* Runs body(arg), in a thread or a function that has no arena to guard.  False: an internal error
 * has ended it, and bug_report() says which. */
bool bug_guard(void (*body)(void *), void *arg);

/* The stage that begins, for the report: its name must live on.  Stages end with their place.
 * NEREID_FAIL_STAGE=NAME ends the stage of that name by an internal error. */
void bug_stage(const char *name);

/* The thread's last internal error. */
typedef struct {
  const char *file; /* of our sources */
  int line;
  const char *stage; /* "" outside of any */
  char text[512];
} BugReport;
const BugReport *bug_report(void);
/* The internal error that ended another thread's work happens here, too. */
_Noreturn void bug_raise(const BugReport *report);

/* An internal error here. */
#define BUG(...) bug_(__FILE__, __LINE__, __VA_ARGS__)
_Noreturn void bug_(const char *file, int line, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* An assertion: an internal error if the condition, which must never hold, does.  `make stress`
 * lets each of them fail. */
#ifndef BUG_DEMANDED
#define BUG_DEMANDED(file, line) false
#endif
#define BUG_IF(condition, ...)                                             \
  do {                                                                     \
    if ((condition) || BUG_DEMANDED(__FILE__, __LINE__)) BUG(__VA_ARGS__); \
  } while (0)

#endif
