/* Helpers: how threads share the programs of a launch.  They are C text, see Helper. */
#include "codegen/c/c.h"

const Helper c_helpers_threads[] = {
    {"Waiting", NULL, "typedef struct Waiting Waiting;\n"},
    {"Part", NULL,
     "/* How many programs of a part of a launch have been begun; in a cache line of its own.\n"
     " * The first part of programs that wait for others also has whom they ask. */\n"
     "typedef struct {\n"
     "  _Alignas(64) uint64_t begun;\n"
     "  Waiting *waiting;\n"
     "} Part;\n"},
    {"Team", NULL,
     "/* Runs what is left of the parts, of which there are as many as threads. */\n"
     "typedef void TeamBody(void *context, Part *parts, int self, int threads);\n"
     "typedef struct Team Team;\n"
     "struct Team {\n"
     "  /* All n programs, which take about ns nanoseconds together. */\n"
     "  void (*run)(Team *team, uint64_t n, double ns, TeamBody *body, void *context);\n"
     "  /* The same for programs that wait for others, all of which are begun. */\n"
     "  void (*run_waiting)(Team *team, uint64_t n, double ns, TeamBody *body, void *context);\n"
     "};\n"},
    {"wait_turn", NULL,
     "/* A launch of programs that wait for others, as they see it. */\n"
     "struct Waiting {\n"
     "  /* Of a program that waits at `where`: lets others run.  True: it is to end. */\n"
     "  bool (*wait)(Waiting *waiting, const char *where, const uint32_t program[3]);\n"
     "};\n"
     "extern int program_yield(void) __asm__(\"sched_yield\");\n"
     "extern int program_tell(int file, const char *format, ...) __asm__(\"dprintf\");\n"
     "/* After an iteration of a loop that waits: others may have the core now and then.\n"
     " * Without a team it tells that programs after this one can't end its waiting. */\n"
     "INLINE bool wait_turn(Waiting *waiting, uint32_t *turns, const char *where, uint32_t x,\n"
     "    uint32_t y, uint32_t z) {\n"
     "  if (++*turns % 64) return false;\n"
     "  if (!waiting && *turns == 1u << 26)\n"
     "    program_tell(2,\n"
     "        \"%s: program (%u, %u, %u) waits, and those after it run when it has ended: \"\n"
     "        \"launch it with a team of threads\\n\",\n"
     "        where, x, y, z);\n"
     "  if (!waiting) return program_yield(), false;\n"
     "  return waiting->wait(waiting, where, (const uint32_t[]){x, y, z});\n"
     "}\n"},
    {"LaunchProgram", NULL,
     "typedef void LaunchProgram(const char *args, const uint32_t *grid, uint32_t pid_0,\n"
     "    uint32_t pid_1, uint32_t pid_2, char *shared, bool stream, Waiting *waiting);\n"},
    {"Launch", NULL,
     "/* A launch of n programs, as its threads see it. */\n"
     "typedef struct {\n"
     "  const void *args;\n"
     "  const uint32_t *grid;\n"
     "  uint64_t n;\n"
     "  LaunchProgram *program;\n"
     "  size_t shared; /* bytes that all the programs of a thread use in turn; if there are any,\n"
     "                  * the thread's number is 64 bytes before */\n"
     "  bool stream, waits;\n"
     "} Launch;\n"},
    {"Share", NULL,
     "/* A thread's view of a launch of n programs, which fall into as many parts as there are\n"
     " * threads.  The thread begins with its own part, the same in every launch of as many: so\n"
     " * it often reads what it wrote, and few caches hold the same lines, which makes writing\n"
     " * them anew cheap.  Then it helps the threads after it.  Programs of a part are begun in\n"
     " * order, and its thread leaves it when all have been begun: so of programs that wait for\n"
     " * ones before them, the first that has not ended runs, or is its thread's next one. */\n"
     "typedef struct {\n"
     "  Part *parts;\n"
     "  uint64_t n, step;\n"
     "  int threads, self, helped;\n"
     "} Share;\n"},
    {"loop_trips", NULL,
     "/* How often a loop from lo to hi runs. */\n"
     "INLINE double loop_trips(double lo, double hi, double step) {\n"
     "  const double n = (hi - lo) / step;\n"
     "  return n > 0 ? __builtin_ceil(n) : 0;\n"
     "}\n"},
    {"share_of", NULL,
     "INLINE Share share_of(Part *parts, uint64_t n, int self, int threads) {\n"
     "  const uint64_t step = threads == 1 ? n : n / (32 * (uint64_t)threads) + 1;\n"
     "  return (Share){parts, n, step, threads, self, 0};\n"
     "}\n"},
    {"share_next", NULL,
     "/* The programs that the thread is to run next; false: there are none left. */\n"
     "INLINE bool share_next(Share *s, uint64_t *begin, uint64_t *end) {\n"
     "  const uint64_t each = s->n / s->threads, more = s->n % s->threads;\n"
     "  for (; s->helped < s->threads; s->helped++) {\n"
     "    const uint64_t i = (uint64_t)(s->self + s->helped) % s->threads;\n"
     "    const uint64_t first = each * i + (i < more ? i : more), size = each + (i < more);\n"
     "    uint64_t *begun = &s->parts[i].begun;\n"
     "    if (__atomic_load_n(begun, __ATOMIC_RELAXED) >= size) continue;\n"
     "    const uint64_t at = __atomic_fetch_add(begun, s->step, __ATOMIC_RELAXED);\n"
     "    if (at >= size) continue;\n"
     "    *begin = first + at;\n"
     "    *end = first + (size - at < s->step ? size : at + s->step);\n"
     "    return true;\n"
     "  }\n"
     "  return false;\n"
     "}\n"},
    {"launch_range", NULL,
     "/* Programs begin <= i < end of the linear grid (axis 0 fastest), counted up: dividing\n"
     " * costs as much as a small program does. */\n"
     "INLINE void launch_range(const Launch *l, uint64_t begin, uint64_t end, char *shared,\n"
     "    Waiting *waiting) {\n"
     "  const uint32_t *grid = l->grid;\n"
     "  uint32_t at_0 = begin % grid[0], at_1 = begin / grid[0] % grid[1];\n"
     "  uint32_t at_2 = begin / grid[0] / grid[1];\n"
     "  for (uint64_t at = begin; at < end; at++) {\n"
     "    l->program(l->args, grid, at_0, at_1, at_2, shared, l->stream, waiting);\n"
     "    if (++at_0 < grid[0]) continue;\n"
     "    at_0 = 0;\n"
     "    if (++at_1 < grid[1]) continue;\n"
     "    at_1 = 0;\n"
     "    at_2++;\n"
     "  }\n"
     "}\n"},
    {"launch_share", NULL,
     "/* One thread's part of a launch; see Share. */\n"
     "COMMON void launch_share(void *context, Part *parts, int self, int threads) {\n"
     "  const Launch *l = context;\n"
     "  char *const room = l->shared ? aligned_alloc(64, 64 + l->shared) : NULL;\n"
     "  if (l->shared && !room) abort();\n"
     "  char *const shared = room ? room + 64 : NULL;\n"
     "  if (room) *(int32_t *)room = self;\n"
     "  Share share = share_of(parts, l->n, self, threads);\n"
     "  if (l->waits) share.step = 1; /* one may wait for the next */\n"
     "  for (uint64_t i, end; share_next(&share, &i, &end);)\n"
     "    launch_range(l, i, end, shared, parts->waiting);\n"
     "  if (l->stream) stream_end();\n"
     "  free(room);\n"
     "}\n"},
    {"launch_all", NULL,
     "/* All programs, by the threads of a team; without one (NULL), by this thread. */\n"
     "COMMON void launch_all(Launch *l, Team *team, double ns) {\n"
     "  Part part = {0};\n"
     "  if (!team || (l->n == 1 && !l->waits)) launch_share(l, &part, 0, 1);\n"
     "  else if (l->waits) team->run_waiting(team, l->n, ns, launch_share, l);\n"
     "  else team->run(team, l->n, ns, launch_share, l);\n"
     "}\n"},
    {0},
};
