/* From tile IR to loop nests: the pass lists and their driver.
 *
 * Each machine has one visible list of passes (lower/passes.c); each pass names the level it takes
 * and the level it gives, and every level has a verifier that runs after each pass in debug builds
 * and tests.
 */
#ifndef NEREID_LOWER_LOWER_H
#define NEREID_LOWER_LOWER_H

#include "lower/target/machine.h"
#include "lower/nest/nest.h"

typedef struct Schedule Schedule; /* lower/schedule/schedule.h */

/* What goes through the passes: a tile function with its schedule, then a nest. */
typedef struct {
  Arena *arena;
  Pool *names;
  Diags *diags;
  const Machine *machine;
  TileFunc *tile;
  Schedule *schedule; /* NULL before pass schedule */
  Nest *nest;         /* NULL before pass build */
  const char *pass;   /* that runs, or ran last */
  Span place;         /* where it begins in the IR text that it was read from */
  size_t begin, end;  /* its bytes there */
} Unit;

typedef enum { STAGE_TILE, STAGE_SCHEDULED, STAGE_NEST, STAGE_THREAD } Stage;

typedef struct {
  const char *name;
  Stage takes, gives;
  bool (*run)(Unit *u); /* false: errors are in u->diags */
  const char *doc;
} Pass;

const Pass *lower_passes(const Machine *m, int *n); /* in order */
const Pass *lower_find_pass(const char *name);

/* After each pass, if not NULL (for --dump-after, timing and verification). */
typedef void (*PassHook)(void *ctx, const Pass *p, Unit *u, double seconds, bool changed);

/* Runs the machine's passes from the unit's stage until it has reached `until`. */
bool lower_run(Unit *u, Stage until, PassHook hook, void *ctx);
/* Runs these passes only, comma-separated: names that lower_find_pass knows. */
bool lower_run_named(Unit *u, const char *names);
Stage lower_stage(const Unit *u);
/* The unit as text at its stage: tile IR (with its schedule, if it has one), or a nest. */
void lower_print(Text *out, const Unit *u);
/* Structure, types and attributes at the unit's stage; errors go to u->diags. */
bool lower_verify(const Unit *u);
/* Reads and verifies the next of what lower_print wrote: the kernel at byte *at of the file, which
 * is then behind it.  NULL after errors, and without any at the end of the file. */
Unit *lower_parse(Arena *a, Pool *names, Diags *d, uint32_t file, size_t *at);
const char *lower_name(const Unit *u);

#endif
