#include "lang/base/options.h"

#include <stdlib.h>
#include <string.h>

enum { TUNED = OPTION_IS_TUNED, SCHEDULE = OPTION_IS_SCHEDULE, IR = OPTION_IS_IR };

const OptionRow option_rows[OPTION_COUNT] = {
#define X(kind, name, dflt, least, most, uses, flag, argument, choices, meaning)              \
  [OPTION_OF_##name] = {#name,    OPTION_##kind, dflt,    least,                              \
                        most,     uses,          flag,    argument,                           \
                        choices,  meaning,       offsetof(Options, name)},
    NEREID_KERNEL_OPTIONS(X, X)
#undef X
};

#define X(kind, name, dflt, least, most, uses, ...)                                 \
  _Static_assert(((uses) & TUNED) ? OPTION_OF_##name < OPTION_TUNED                 \
                                  : OPTION_OF_##name >= OPTION_TUNED,               \
                 "options of configurations are the first rows: " #name);
NEREID_KERNEL_OPTIONS(X, X)
#undef X

Options options_default(void) {
  return (Options){
      .target = "sm_90a",
#define X(kind, name, dflt, ...) .name = dflt,
      NEREID_KERNEL_OPTIONS(X, X)
#undef X
  };
}

const OptionRow *option_tuned(const char *name) {
  for (int i = 0; i < OPTION_TUNED; i++)
    if (!strcmp(option_rows[i].name, name)) return &option_rows[i];
  return NULL;
}

int *options_number(Options *o, const OptionRow *row) {
  return row->kind == OPTION_WORD ? NULL : (int *)(void *)((char *)o + row->offset);
}

bool option_admits(const OptionRow *row, int64_t value) {
  char *end;
  if (value < row->least || value > row->most) return false;
  for (const char *at = row->choices; at && *at; at = end)
    if (strtol(at, &end, 10) == value) return true;
  return !row->choices;
}

int options_warps(const Options *o) {
  int warps = o->num_warps * o->num_ctas, most = option_rows[OPTION_OF_num_warps].most;
  return warps < most ? warps : most;
}

/* ---- IR text ---- */

/* IR text has one value of `alias` alone, as a flag: others are up to a launch. */
static const char ordered[] = "ordered", checked[] = "checked";

static bool is_printed(const OptionRow *row, int value) {
  if (row == &option_rows[OPTION_OF_num_warps]) return true;
  return row->kind == OPTION_ALIAS ? value == NEREID_ALIAS_ORDERED : value != row->dflt;
}

uint32_t options_to_attrs(IrAttr list[OPTION_COUNT + 1], const Options *o) {
  Options of = *o;
  uint32_t n = 0;
  for (int i = 0; i < OPTION_COUNT; i++) {
    const OptionRow *row = &option_rows[i];
    const int *value = options_number(&of, row);
    if (!(row->uses & OPTION_IS_IR) || !value || !is_printed(row, *value)) continue;
    list[n++] = (IrAttr){.key = row->kind == OPTION_ALIAS ? ordered : row->name,
                         .kind = row->kind == OPTION_INT ? IA_INT : IA_FLAG,
                         .i = row->kind == OPTION_INT ? *value : 1};
  }
  if (o->checked) list[n++] = (IrAttr){.key = checked, .kind = IA_FLAG, .i = 1};
  return n;
}

static void take_flag(IrReader *r, const IrAttr *a, int *to) {
  if (a->kind == IA_FLAG) *to = (int)a->i;
  else ir_attr_wrong(r, a, "true or false");
}

static void take_number(IrReader *r, const IrAttr *a, const OptionRow *row, int *to) {
  bool is_number = a->kind == IA_INT && !a->wide;
  int least = row->dflt < row->least ? row->dflt : row->least;
  if (is_number && (a->i == row->dflt || option_admits(row, a->i))) *to = (int)a->i;
  else if (row->choices) ir_attr_wrong(r, a, arena_printf(r->arena, "one of %s", row->choices));
  else ir_attr_wrong(r, a, arena_printf(r->arena, "an integer from %d to %d", least, row->most));
}

bool options_from_attr(IrReader *r, const IrAttr *a, Options *o) {
  int flag = 0;
  if (!strcmp(a->key, checked)) {
    take_flag(r, a, &flag);
    return o->checked = flag, true;
  }
  if (!strcmp(a->key, ordered)) {
    take_flag(r, a, &flag);
    return o->alias = flag ? NEREID_ALIAS_ORDERED : NEREID_ALIAS_GUARDED, true;
  }
  for (int i = 0; i < OPTION_COUNT; i++) {
    const OptionRow *row = &option_rows[i];
    bool in_text = (row->uses & OPTION_IS_IR) && row->kind != OPTION_ALIAS;
    if (!in_text || strcmp(row->name, a->key)) continue;
    if (row->kind == OPTION_INT) take_number(r, a, row, options_number(o, row));
    else take_flag(r, a, options_number(o, row));
    return true;
  }
  return false;
}
