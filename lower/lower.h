/* From tile IR to loop nests: the driver of the passes.
 *
 * This room takes the tile IR of one kernel (sema makes it, lang/tile/tile.h defines it) and gives
 * a nest of level thread, which codegen prints.  It owns schedules (layouts by value), the
 * loop-nest IR with its text, verifier and interpreter, the descriptions of machines, and the cost
 * model.  Passes are rows of one table (lower/passes.h); each names the level that it takes and
 * the one that it gives, and every level has a verifier. */
#ifndef NEREID_LOWER_LOWER_H
#define NEREID_LOWER_LOWER_H

#include "lang/base/pass.h"
#include "lower/target/machine.h"
#include "lower/nest/nest.h"

typedef struct Schedule Schedule; /* lower/schedule/schedule.h */

/* The unit of compilation that the passes work on: a tile function with its schedule, then a
 * nest. */
typedef struct Unit {
  Arena *arena;
  Pool *names;
  Diags *diags;
  const Machine *machine;
  TileFunc *tile;
  Text ordered; /* the tile IR before a pass changed the order of accesses; empty: it is `tile` */
  Schedule *schedule; /* NULL before pass schedule */
  Nest *nest;         /* NULL before pass build */
  const char *pass;   /* that runs, or ran last */
  bool verifies;      /* after each pass, not only its budget */
  bool synchronous;   /* no copy and no product runs on past its statement */
  int most_stages;    /* of a loop whose copies run ahead; 0: as many as the kernel asks for */
  int stages;         /* the most that a loop has */
  bool crowded;       /* they leave too little shared memory for the rest of the kernel */
  bool unproven;      /* pass prove_rings has found a fault, or too much to explore */
  Span span;          /* its start in the IR text that it was read from */
  size_t begin, end;  /* its bytes there */
} Unit;

/* The passes of all machines, in order (lower/passes.h); a machine's list has those that its
 * capabilities include. */
PassList lower_passes(void);

/* After each pass, if not NULL (for --dump-after, timing and verification). */
typedef void (*PassHook)(void *ctx, const Pass *p, Unit *u, double seconds, bool changed);

/* Runs the machine's passes from the unit's level until it has reached `until`. */
bool lower_run(Unit *u, Level until, PassHook hook, void *ctx);
/* Runs these passes only, comma-separated: names of lower_passes. */
bool lower_run_named(Unit *u, const char *names, PassHook hook, void *ctx);
Level lower_level(const Unit *u);
/* The unit as text at its level: tile IR (with its schedule, if it has one), or a nest. */
void lower_print(Text *out, const Unit *u);
/* Structure, types and attributes at the unit's level; errors go to u->diags.  Text that is read is
 * verified once; what passes make, where the unit says so. */
bool lower_verify(const Unit *u);
/* Reads and verifies the next kernel of a text that lower_print wrote, from byte *at of the file
 * on, and moves *at to its end.  NULL after errors, and without any at the end of the file. */
Unit *lower_parse(Arena *a, Pool *names, Diags *d, uint32_t file, size_t *at);
/* The tile IR from which code for other launches of the kernel is compiled; its accesses are in the
 * order of the source. */
Text lower_ordered_text(const Unit *u);
const char *lower_name(const Unit *u);

#endif
