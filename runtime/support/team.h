/* A team: the threads that run a launch on a CPU together.
 *
 * The thread that launches is a member, number 0.  The others look out for the next launch for a
 * moment and then sleep, so that they take no core from other processes; while launches follow each
 * other closely, they look out until the next one is late.  A launch wakes them if
 * the model of costs expects them to repay it; a smaller one is shared with those that are awake,
 * and the smallest ones run on the launching thread alone.
 *
 * Member 0 waits for those who have begun to run programs, and for no one else.  It finds all
 * programs itself if nobody comes: members that other processes keep from their cores are missed,
 * not waited for.  A process that was forked from the team's makes members of its own.
 *
 * The programs of a launch are shared as codegen/c/prelude_threads.c says.  Member 0 goes through
 * the parts in the order of the programs.  Hence programs that wait for ones before them end
 * however many members come: if the first program that has not ended is not begun either, member 0
 * has not reached it, so it runs an earlier program, which has ended: a contradiction.
 *
 * Programs that wait for any others (codegen/c/waits.c) are launched so that all are begun: while
 * none has been begun for a moment and there are some left, the launch takes twice as many threads.
 * Who launches may also ask for a thread for each program from the beginning.
 *
 * All functions are static: projects that `nereid build` writes hold this file, too, and a program
 * may have several of them. */
#ifndef NEREID_RUNTIME_SUPPORT_TEAM_H
#define NEREID_RUNTIME_SUPPORT_TEAM_H

#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* ---- what generated code knows: the same text as in codegen/c/prelude_threads.c ---- */

/* How many programs of a part of a launch have been begun; in a cache line of its own.
 * The first part of programs that wait for others also has whom they ask. */
typedef struct Waiting Waiting;
typedef struct {
  _Alignas(64) uint64_t begun;
  Waiting *waiting;
} Part;
/* Runs what is left of the parts, of which there are as many as threads. */
typedef void TeamBody(void *context, Part *parts, int self, int threads);
typedef struct Team Team;
struct Team {
  /* All n programs, which take about ns nanoseconds together. */
  void (*run)(Team *team, uint64_t n, double ns, TeamBody *body, void *context);
  /* All n programs, of which some wait for others: each of them is begun. */
  void (*run_waiting)(Team *team, uint64_t n, double ns, TeamBody *body, void *context);
};
/* A launch of programs that wait for others, as they see it. */
struct Waiting {
  /* Of a program that waits at `where`: lets others run.  True: it is to end. */
  bool (*wait)(Waiting *waiting, const char *where, const uint32_t program[3]);
};

/* ---- the rest ---- */

enum { TEAM_MOST = 1024 };         /* threads */
enum { TEAM_AT_ONCE_MOST = 1024 }; /* programs of a launch that has a thread for each */

/* Nanoseconds: of a launch that is shared with members who are awake; of one that wakes members,
 * which takes 8 us for four threads of a Sapphire Rapids; of each member's share at least; how long
 * members look out for the next launch, and how long where launches followed each other within that
 * time, as calls from Python do after 15 to 40 us. */
enum { TEAM_SHARED_NS = 8000, TEAM_WAKING_NS = 30000, TEAM_EACH_NS = 4000 };
enum { TEAM_SPIN_NS = 20000, TEAM_NEAR_NS = 100000 };

/* The same for programs that wait: how long none is begun before there are more threads, before
 * somebody is told, and between the times that whoever launches is asked whether to go on. */
enum { TEAM_STILL_NS = 5000000, TEAM_TELL_S = 10, TEAM_ASK_NS = 50000000 };

typedef struct Crew Crew;
typedef struct WaitingLaunch WaitingLaunch;

typedef struct {
  _Alignas(64) uint32_t asleep; /* atomic: whoever clears it posts `wake` */
  sem_t wake;
  pthread_t thread;
  Crew *crew;
  uint32_t seen; /* the last launch that it has noticed */
  int self;
} Member;

/* A team with all that its members share. */
struct Crew {
  Team team;
  int threads, started; /* members that there may be, and are; with member 0 */
  int most;             /* atomic: threads that a launch may have now, `threads` at most */
  pid_t process; /* atomic: whose threads the members are; 0 while a fork forgets them */
  TeamBody *body; /* of the launch, as far as `waking` */
  void *context;
  int taking; /* atomic: members below it may take part */
  int waking; /* atomic: members below it are woken */
  Part *parts;
  Member *members;
  int64_t ended;      /* when the last launch that was shared ended; of who has `taken` */
  int32_t spin_ns;    /* atomic: how long members look out */
  bool stop;                         /* atomic */
  _Alignas(64) uint32_t epoch;       /* atomic: launches so far */
  _Alignas(64) uint32_t taken;       /* atomic: a launch has the members */
  _Alignas(64) uint32_t inside;      /* atomic: members but 0 in the launch, and TEAM_OPEN */
  _Alignas(64) uint32_t looking_out; /* atomic: members who spin */
};

#define TEAM_OPEN 0x80000000u

static inline void team_relax(void) {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ volatile("yield");
#endif
}

static inline int64_t team_now_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

static inline bool team_is(const uint32_t *at, uint32_t value) {
  return __atomic_load_n(at, __ATOMIC_SEQ_CST) == value;
}

/* Spins for so long; is *at == value, or != value, as `equal` says? */
static inline bool team_spin(const uint32_t *at, uint32_t value, bool equal, int32_t ns) {
  enum { LOOKS = 32 };
  for (int64_t end = team_now_ns() + ns;;) {
    for (int i = 0; i < LOOKS; i++, team_relax())
      if (team_is(at, value) == equal) return true;
    if (team_now_ns() >= end) return false;
  }
}

/* Sleeps until *at == value, or != value.  The thread that changes it calls team_wake
 * afterwards. */
static inline void team_sleep(Member *m, const uint32_t *at, uint32_t value, bool equal) {
  while (team_is(at, value) != equal) {
    __atomic_store_n(&m->asleep, 1, __ATOMIC_SEQ_CST);
    bool done = team_is(at, value) == equal;
    if (done && __atomic_exchange_n(&m->asleep, 0, __ATOMIC_SEQ_CST)) return;
    while (sem_wait(&m->wake)) continue; /* a signal has come */
  }
}

static inline void team_wake(Member *m) {
  if (!__atomic_load_n(&m->asleep, __ATOMIC_SEQ_CST)) return;
  if (__atomic_exchange_n(&m->asleep, 0, __ATOMIC_SEQ_CST)) sem_post(&m->wake);
}

/* Members wake each other, so that a large team is awake sooner. */
static inline void team_wake_next(const Member *m) {
  enum { EACH = 8 };
  const Crew *c = m->crew;
  const int waking = __atomic_load_n(&c->waking, __ATOMIC_RELAXED);
  for (int i = EACH * m->self + 1; i <= EACH * m->self + EACH && i < waking; i++)
    team_wake(&c->members[i]);
}

/* ---- members ---- */

static inline bool team_enter(Crew *c) {
  uint32_t inside = __atomic_load_n(&c->inside, __ATOMIC_RELAXED);
  while (inside & TEAM_OPEN)
    if (__atomic_compare_exchange_n(&c->inside, &inside, inside + 1, true, __ATOMIC_ACQUIRE,
                                    __ATOMIC_RELAXED))
      return true;
  return false;
}

static inline void team_leave(Crew *c) {
  if (__atomic_sub_fetch(&c->inside, 1, __ATOMIC_SEQ_CST) == 0) team_wake(&c->members[0]);
}

static inline void team_take_part(const Member *m) {
  Crew *c = m->crew;
  if (m->self >= __atomic_load_n(&c->taking, __ATOMIC_RELAXED)) return;
  team_wake_next(m);
  if (!team_enter(c)) return;
  const int threads = __atomic_load_n(&c->taking, __ATOMIC_RELAXED);
  if (m->self < threads) c->body(c->context, c->parts, m->self, threads);
  team_leave(c);
}

static inline void *team_member(void *argument) {
  Member *m = argument;
  Crew *c = m->crew;
  for (;;) {
    __atomic_add_fetch(&c->looking_out, 1, __ATOMIC_RELAXED);
    const int32_t ns = __atomic_load_n(&c->spin_ns, __ATOMIC_RELAXED);
    const bool soon = team_spin(&c->epoch, m->seen, false, ns);
    __atomic_sub_fetch(&c->looking_out, 1, __ATOMIC_RELAXED);
    if (!soon) team_sleep(m, &c->epoch, m->seen, false);
    m->seen = __atomic_load_n(&c->epoch, __ATOMIC_SEQ_CST);
    if (__atomic_load_n(&c->stop, __ATOMIC_SEQ_CST)) return NULL;
    team_take_part(m);
  }
}

/* Signals to the process go to threads of the program's own; a fault stays with who made it. */
static inline void team_block_signals(sigset_t *before) {
  static const int faults[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP, SIGABRT, SIGSYS};
  sigset_t most;
  sigfillset(&most);
  for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) sigdelset(&most, faults[i]);
  pthread_sigmask(SIG_SETMASK, &most, before);
}

/* As many as are wanted, or as there can be. */
static inline void team_start(Crew *c, int threads) {
  sigset_t before;
  if (c->started >= threads) return;
  team_block_signals(&before);
  while (c->started < threads) {
    Member *m = &c->members[c->started];
    m->seen = __atomic_load_n(&c->epoch, __ATOMIC_RELAXED);
    if (pthread_create(&m->thread, NULL, team_member, m)) break;
    c->started++;
  }
  pthread_sigmask(SIG_SETMASK, &before, NULL);
}

/* ---- programs that wait for others ---- */

/* What a launch of such programs is told, and asks.  Members may be NULL. */
typedef struct {
  bool at_once; /* a thread for each program, or none runs */
  bool failed;  /* there were not as many threads */
  bool stopped; /* the launch was interrupted */
  /* Of a program at `where` that has waited for `seconds`; by any thread, once a launch. */
  void (*tell)(void *context, const char *where, const uint32_t program[3], int seconds);
  /* By the thread that launches: is the launch to end? */
  bool (*interrupted)(void *context);
  void *context;
} TeamHooks;

/* A launch with hooks: a team to generated code, for the time of one call. */
typedef struct {
  Team team;
  Crew *crew;
  TeamHooks hooks;
} HookedTeam;

typedef struct {
  pthread_t thread;
  WaitingLaunch *launch;
  int self;
} MoreThread;

enum { TEAM_GATE_SHUT, TEAM_GATE_OPEN, TEAM_GATE_GIVEN_UP };

struct WaitingLaunch {
  Waiting waiting;
  TeamHooks *hooks;
  TeamBody *body;
  void *context;
  Part *parts;
  uint64_t n; /* programs */
  int threads; /* parts */
  pthread_t launcher;
  int64_t asked; /* the last time, by the launcher */
  uint32_t gate, stop, running; /* atomic: the threads' below; is the launch to end; who runs */
  pthread_mutex_t lock; /* of what follows */
  MoreThread *more;     /* room for TEAM_MOST, or NULL */
  int nmore;
  uint64_t begun;
  int64_t since, grown; /* when a program was begun, or threads were added */
  bool told;
};

static inline void *team_more_thread(void *argument) {
  const MoreThread *m = argument;
  WaitingLaunch *w = m->launch;
  while (team_is(&w->gate, TEAM_GATE_SHUT)) sched_yield();
  if (team_is(&w->gate, TEAM_GATE_OPEN))
    w->body(w->context, w->parts, m->self % w->threads, w->threads);
  __atomic_sub_fetch(&w->running, 1, __ATOMIC_SEQ_CST);
  return NULL;
}

/* As many more as are wanted, or as there can be; under the lock. */
static inline void team_add_threads(WaitingLaunch *w, int n) {
  sigset_t before;
  if (!w->more) w->more = malloc(TEAM_MOST * sizeof *w->more);
  team_block_signals(&before);
  for (; w->more && n > 0 && w->nmore < TEAM_MOST; n--) {
    MoreThread *m = &w->more[w->nmore];
    *m = (MoreThread){.launch = w, .self = w->nmore + 1};
    __atomic_add_fetch(&w->running, 1, __ATOMIC_SEQ_CST);
    if (pthread_create(&m->thread, NULL, team_more_thread, m)) {
      __atomic_sub_fetch(&w->running, 1, __ATOMIC_SEQ_CST);
      break;
    }
    w->nmore++;
  }
  pthread_sigmask(SIG_SETMASK, &before, NULL);
}

static inline uint64_t team_programs_begun(const WaitingLaunch *w) {
  const uint64_t each = w->n / w->threads, over = w->n % w->threads;
  uint64_t sum = 0;
  for (int i = 0; i < w->threads; i++) {
    const uint64_t size = each + ((uint64_t)i < over);
    const uint64_t begun = __atomic_load_n(&w->parts[i].begun, __ATOMIC_RELAXED);
    sum += begun < size ? begun : size;
  }
  return sum;
}

/* Some program waits: is any other begun meanwhile? */
static inline void team_look_at_progress(WaitingLaunch *w, const char *where,
                                         const uint32_t program[3]) {
  const int64_t now = team_now_ns();
  const uint64_t begun = team_programs_begun(w);
  if (pthread_mutex_trylock(&w->lock)) return;
  if (begun != w->begun) {
    w->begun = begun;
    w->since = w->grown = now;
  }
  if (begun < w->n && !w->hooks->at_once && now - w->grown > TEAM_STILL_NS) {
    const uint64_t left = w->n - begun, twice = (uint64_t)w->threads + w->nmore;
    team_add_threads(w, (int)(left < twice ? left : twice));
    w->grown = now;
  }
  const bool tells = !w->told && now - w->since > TEAM_TELL_S * INT64_C(1000000000);
  if (tells && w->hooks->tell) {
    w->told = true;
    w->hooks->tell(w->hooks->context, where, program, TEAM_TELL_S);
  }
  pthread_mutex_unlock(&w->lock);
}

static inline void team_ask(WaitingLaunch *w) {
  if (!w->hooks->interrupted || !pthread_equal(pthread_self(), w->launcher)) return;
  const int64_t now = team_now_ns();
  if (now - w->asked < TEAM_ASK_NS) return;
  w->asked = now;
  if (!w->hooks->interrupted(w->hooks->context)) return;
  w->hooks->stopped = true;
  __atomic_store_n(&w->stop, 1, __ATOMIC_SEQ_CST);
}

static inline bool team_wait(Waiting *waiting, const char *where, const uint32_t program[3]) {
  WaitingLaunch *w = (WaitingLaunch *)waiting;
  sched_yield();
  team_look_at_progress(w, where, program);
  team_ask(w);
  return __atomic_load_n(&w->stop, __ATOMIC_RELAXED);
}

static inline WaitingLaunch team_waiting_launch(TeamHooks *hooks, uint64_t n, TeamBody *body,
                                                void *context) {
  const int64_t now = team_now_ns();
  return (WaitingLaunch){.waiting = {team_wait},
                         .hooks = hooks,
                         .body = body,
                         .context = context,
                         .n = n,
                         .gate = TEAM_GATE_OPEN,
                         .launcher = pthread_self(),
                         .asked = now,
                         .since = now,
                         .grown = now,
                         .lock = PTHREAD_MUTEX_INITIALIZER};
}

/* After the launcher's own programs: waits for those of others, `inside` among them. */
static inline void team_end_waiting(WaitingLaunch *w, const uint32_t *inside) {
  const struct timespec moment = {0, 100000};
  while (!team_is(&w->running, 0) || (inside && !team_is(inside, 0))) {
    team_ask(w);
    nanosleep(&moment, NULL);
  }
  for (int i = 0; i < w->nmore; i++) pthread_join(w->more[i].thread, NULL);
  free(w->more);
}

/* ---- a launch ---- */

static inline void team_alone(TeamBody *body, void *context, WaitingLaunch *waiting) {
  Part part = {0};
  if (waiting) {
    part.waiting = &waiting->waiting;
    waiting->parts = &part;
    waiting->threads = 1;
  }
  body(context, &part, 0, 1);
  if (waiting) team_end_waiting(waiting, NULL);
}

static inline void team_together(Crew *c, int threads, bool waking, TeamBody *body, void *context,
                                 WaitingLaunch *waiting) {
  memset(c->parts, 0, (size_t)threads * sizeof *c->parts);
  c->body = body;
  c->context = context;
  if (waiting) {
    c->parts->waiting = &waiting->waiting;
    waiting->parts = c->parts;
    waiting->threads = threads;
  }
  const bool near = team_now_ns() - c->ended < TEAM_NEAR_NS;
  __atomic_store_n(&c->spin_ns, near ? TEAM_NEAR_NS : TEAM_SPIN_NS, __ATOMIC_RELAXED);
  __atomic_store_n(&c->taking, threads, __ATOMIC_RELAXED);
  __atomic_store_n(&c->waking, waking ? threads : 0, __ATOMIC_RELAXED);
  __atomic_store_n(&c->inside, TEAM_OPEN, __ATOMIC_RELEASE);
  __atomic_add_fetch(&c->epoch, 1, __ATOMIC_SEQ_CST);
  team_wake_next(&c->members[0]);
  body(context, c->parts, 0, threads);
  const bool others = __atomic_and_fetch(&c->inside, ~TEAM_OPEN, __ATOMIC_SEQ_CST) != 0;
  if (waiting) team_end_waiting(waiting, &c->inside);
  else if (others && !team_spin(&c->inside, 0, true, TEAM_SPIN_NS))
    team_sleep(&c->members[0], &c->inside, 0, true);
  c->ended = team_now_ns();
}

/* Threads for a launch, by its cost; 1: it is not worth sharing.  A cost that is not a number is
 * that of a launch of unknown size. */
static inline int team_size(const Crew *c, uint64_t n, double ns, bool waking) {
  int threads = __atomic_load_n(&c->most, __ATOMIC_RELAXED);
  if (ns < TEAM_SHARED_NS) return 1;
  if (!waking && !__atomic_load_n(&c->looking_out, __ATOMIC_RELAXED)) return 1;
  if (n < (uint64_t)threads) threads = (int)n;
  if (ns / TEAM_EACH_NS < threads) threads = (int)(ns / TEAM_EACH_NS);
  return threads;
}

/* The members that a forked process has inherited are none: their threads are in the other one.
 * Of several threads in the fork that come here first, one forgets them; the others' launches have
 * no members meanwhile. */
static inline bool team_is_here(Crew *c) {
  const pid_t now = getpid();
  pid_t of = __atomic_load_n(&c->process, __ATOMIC_ACQUIRE);
  if (of == now) return true;
  if (of == 0 || !__atomic_compare_exchange_n(&c->process, &of, 0, false, __ATOMIC_ACQUIRE,
                                              __ATOMIC_RELAXED))
    return false;
  for (int i = 0; i < c->threads; i++) {
    c->members[i].asleep = 0;
    sem_init(&c->members[i].wake, 0, 0);
  }
  c->started = 1;
  c->taken = c->inside = c->looking_out = 0;
  __atomic_store_n(&c->process, now, __ATOMIC_RELEASE);
  return true;
}

/* While another thread's launch has the members, this one runs on its own thread. */
static inline void team_share(Crew *c, uint64_t n, double ns, TeamBody *body, void *context,
                              WaitingLaunch *waiting) {
  const bool waking = !(ns < TEAM_WAKING_NS);
  int threads = team_size(c, n, ns, waking);
  if (threads > 1 && team_is_here(c) && !__atomic_exchange_n(&c->taken, 1, __ATOMIC_ACQUIRE)) {
    if (waking) team_start(c, threads);
    if (threads > c->started) threads = c->started;
    if (threads > 1) team_together(c, threads, waking, body, context, waiting);
    else team_alone(body, context, waiting);
    __atomic_store_n(&c->taken, 0, __ATOMIC_RELEASE);
  } else {
    team_alone(body, context, waiting);
  }
}

static inline void team_run(Team *team, uint64_t n, double ns, TeamBody *body, void *context) {
  team_share((Crew *)team, n, ns, body, context, NULL);
}

static inline void team_run_waiting(Team *team, uint64_t n, double ns, TeamBody *body,
                                    void *context) {
  TeamHooks none = {0};
  WaitingLaunch w = team_waiting_launch(&none, n, body, context);
  team_share((Crew *)team, n, ns, body, context, &w);
}

/* A thread for each program, or none runs. */
static inline void team_run_at_once(HookedTeam *t, uint64_t n, TeamBody *body, void *context) {
  WaitingLaunch w = team_waiting_launch(&t->hooks, n, body, context);
  w.threads = (int)n;
  w.gate = TEAM_GATE_SHUT;
  w.parts = n <= TEAM_AT_ONCE_MOST ? aligned_alloc(64, n * sizeof *w.parts) : NULL;
  if (w.parts) {
    memset(w.parts, 0, n * sizeof *w.parts);
    w.parts->waiting = &w.waiting;
    team_add_threads(&w, (int)n - 1);
  }
  t->hooks.failed = !w.parts || (uint64_t)w.nmore + 1 < n;
  __atomic_store_n(&w.gate, t->hooks.failed ? TEAM_GATE_GIVEN_UP : TEAM_GATE_OPEN,
                   __ATOMIC_SEQ_CST);
  if (!t->hooks.failed) body(context, w.parts, 0, (int)n);
  team_end_waiting(&w, NULL);
  free(w.parts);
}

static inline void team_run_hooked(Team *team, uint64_t n, double ns, TeamBody *body,
                                   void *context) {
  HookedTeam *t = (HookedTeam *)team;
  if (t->hooks.at_once) team_run_at_once(t, n, body, context);
  else team_share(t->crew, n, ns, body, context, NULL);
}

static inline void team_run_hooked_waiting(Team *team, uint64_t n, double ns, TeamBody *body,
                                           void *context) {
  HookedTeam *t = (HookedTeam *)team;
  if (t->hooks.at_once) {
    team_run_at_once(t, n, body, context);
    return;
  }
  WaitingLaunch w = team_waiting_launch(&t->hooks, n, body, context);
  team_share(t->crew, n, ns, body, context, &w);
}

static inline HookedTeam team_hooked(Team *team, TeamHooks hooks) {
  return (HookedTeam){{team_run_hooked, team_run_hooked_waiting}, (Crew *)team, hooks};
}

/* ---- making ---- */

/* From the next launch on; those of programs that wait for others have as many as they need. */
static inline void team_set_most(Team *team, int threads) {
  Crew *c = (Crew *)team;
  const int most = threads < 1 ? 1 : threads < c->threads ? threads : c->threads;
  __atomic_store_n(&c->most, most, __ATOMIC_RELAXED);
}

static inline void team_free(Team *team) {
  Crew *c = (Crew *)team;
  if (!c) return;
  const int joined = c->process == getpid() ? c->started : 1;
  __atomic_store_n(&c->stop, true, __ATOMIC_SEQ_CST);
  __atomic_add_fetch(&c->epoch, 1, __ATOMIC_SEQ_CST);
  for (int i = 1; i < joined; i++) team_wake(&c->members[i]);
  for (int i = 1; i < joined; i++) pthread_join(c->members[i].thread, NULL);
  for (int i = 0; c->members && i < c->threads; i++) sem_destroy(&c->members[i].wake);
  free(c->members);
  free(c->parts);
  free(c);
}

/* Threads other than the caller's are made when a launch first wants them.  NULL: no memory. */
static inline Team *team_new(int threads) {
  Crew *c = aligned_alloc(64, sizeof *c);
  if (!c) return NULL;
  if (threads > TEAM_MOST) threads = TEAM_MOST;
  memset(c, 0, sizeof *c);
  c->team = (Team){team_run, team_run_waiting};
  c->threads = c->most = threads;
  c->spin_ns = TEAM_SPIN_NS;
  c->started = 1;
  c->process = getpid();
  c->parts = aligned_alloc(64, (size_t)threads * sizeof *c->parts);
  c->members = aligned_alloc(64, (size_t)threads * sizeof *c->members);
  if (c->members) memset(c->members, 0, (size_t)threads * sizeof *c->members);
  for (int i = 0; c->members && i < threads; i++) {
    c->members[i].crew = c;
    c->members[i].self = i;
    sem_init(&c->members[i].wake, 0, 0);
  }
  if (c->parts && c->members) return &c->team;
  team_free(&c->team);
  return NULL;
}

#endif
