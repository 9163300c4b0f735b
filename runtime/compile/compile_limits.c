#include "runtime/compile/compile_limits.h"
#include "runtime/messages.h"

#include <stdlib.h>

enum { MEMORY_MIB = 1024, MILLION_STEPS = 400 };

ArenaUse compile_limits(void) {
  return (ArenaUse){(size_t)MEMORY_MIB << 20, (uint64_t)MILLION_STEPS * 1000000};
}

/* ---- the line that grew ---- */

typedef struct {
  Span at;
  uint64_t count;
} Line;

typedef VEC(Line) Lines;

static void add_op(Arena *a, Lines *lines, Span at) {
  Line *last = lines->len ? &vec_last(lines) : NULL;
  if (last && last->at.file == at.file && last->at.line == at.line) {
    last->count++;
    return;
  }
  Line line = {at, 1};
  vec_push(a, lines, line);
}

static void add_block(Arena *a, Lines *lines, const TileBlock *b) {
  for (const TileOp *op = b->first; op; op = op->next) {
    add_op(a, lines, op->span);
    for (uint32_t r = 0; r < op->nregions; r++) add_block(a, lines, op->regions[r]);
  }
}

static int by_place(const void *x, const void *y) {
  const Span *a = &((const Line *)x)->at, *b = &((const Line *)y)->at;
  if (a->file != b->file) return a->file < b->file ? -1 : 1;
  return (a->line > b->line) - (a->line < b->line);
}

/* The line with most operations, and the number of all; count 0 for an empty kernel. */
static Line largest_line(Arena *a, const TileFunc *f, uint64_t *all) {
  Lines lines = {0};
  add_block(a, &lines, f->body);
  if (lines.len) qsort(lines.data, lines.len, sizeof *lines.data, by_place);
  Line most = {0}, line = {0};
  *all = 0;
  for (size_t i = 0; i < lines.len; i++) {
    if (!i || by_place(&line, &lines.data[i])) line = (Line){lines.data[i].at, 0};
    line.count += lines.data[i].count;
    *all += lines.data[i].count;
    if (line.count > most.count) most = line;
  }
  return most;
}

/* ---- the message ---- */

typedef struct {
  Compilation *c;
  CompileStage stage;
} Refusal;

static const char *activity(const Refusal *r) {
  const Unit *u = r->c->unit;
  switch (r->stage) {
    case COMPILE_PARSE: return "the parser";
    case COMPILE_SEMA: return "evaluation";
    case COMPILE_PASSES: return arena_printf(r->c->arena, "pass %s", u->pass ? u->pass : "?");
    default: return "the code's printer";
  }
}

static Span place_of(const Compilation *c) {
  if (c->unit && c->unit->nest) return c->unit->nest->span;
  if (c->unit && c->unit->tile) return c->unit->tile->span;
  if (c->kernel) return c->kernel->span;
  return (Span){.file = diag_file_count(c->diags) ? 1 : 0, .line = 1, .col = 1, .len = 1};
}

/* One line tells more than the kernel's where it makes a part of the operations that counts. */
static void note_largest(const Compilation *c) {
  enum { PART = 20 };
  const TileFunc *f = c->unit ? c->unit->tile : c->program ? sema_unfinished(c->program) : NULL;
  uint64_t all = 0;
  Line most = f ? largest_line(c->arena, f, &all) : (Line){0};
  if (most.count * PART >= all && all)
    diag_note(c->diags, most.at, N_RUN_COMPILE_LINE, (unsigned long long)most.count,
              (unsigned long long)all);
}

static int refuse_body(void *arg) {
  const Refusal *r = arg;
  Compilation *c = r->c;
  bool memory = arena_excess(c->arena) == ARENA_BYTES;
  arena_limit(c->arena, (ArenaUse){0}); /* the message may take what it needs */
  if (!c->diags) return error_set(NEREID_E_RESOURCES, E_RUN_OUT_OF_MEMORY);
  diag_rewind(c->diags, 0);
  Span at = place_of(c);
  if (memory) diag_excess(c->diags, at, E_RUN_COMPILE_MEMORY, c->limits.bytes >> 20, activity(r));
  else diag_excess(c->diags, at, E_RUN_COMPILE_STEPS, c->limits.steps / 1e6, activity(r));
  note_largest(c);
  diag_hint(c->diags, H_RUN_COMPILE_LIMIT);
  Text text = text_new(c->arena);
  diag_print(c->diags, &text);
  return error_set(NEREID_E_RESOURCES, "%s", text.data);
}

int compile_refuse(Compilation *c, CompileStage stage) {
  Refusal r = {c, stage};
  return error_guard(c->arena, refuse_body, &r);
}
