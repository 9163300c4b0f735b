/* The dtypes of operands of libdevice's functions, by the table lang/std/operand_dtypes.h.  The
 * check comes before a function is evaluated, which would fold what is known at compile time. */
#include <string.h>

#include "lang/std/operand_dtypes.h"
#include "sema/messages.h"
#include "sema/value/context.h"

typedef struct {
  const char *operands, *names;
} Row;

static const Row rows[] = {
#define X(operands, names) {operands, names},
    OPERAND_DTYPES(X)
#undef X
};

/* All names of the table, with the rows that have them. */
static void index_rows(Program *p) {
  for (uint32_t i = 0; i < sizeof rows / sizeof *rows; i++)
    for (const char *at = rows[i].names; *at; at += strspn(at, " ")) {
      size_t len = strcspn(at, " ");
      map_set(p->arena, &p->operand_dtypes, pool_namen(p->names, at, len), i);
      at += len;
    }
}

/* True for the files whose functions the table has. */
static bool is_listed_file(const ModuleInfo *m) {
  const char *name = strrchr(m->path, '/');
  return name && strstr(OPERAND_DTYPE_FILES, name + 1);
}

/* NULL: any. */
static const char *operands_of(Program *p, const Func *fn) {
  uint32_t i;
  if (!fn->def || !fn->module || !fn->module->is_std || !is_listed_file(fn->module)) return NULL;
  if (!p->operand_dtypes.count) index_rows(p);
  return map_get(&p->operand_dtypes, fn->def->name, &i) ? rows[i].operands : NULL;
}

typedef struct {
  char letter;
  const char *text;
  DType takes[4]; /* DT_NONE after the last */
} Letter;

static const Letter letters[] = {
    {'F', "['fp32', 'fp64']", {DT_F32, DT_F64}},
    {'S', "['fp32']", {DT_F32}},
    {'D', "['fp64']", {DT_F64}},
    {'I', "['int32', 'int64', 'uint32', 'uint64']", {DT_I32, DT_I64, DT_U32, DT_U64}},
    {'i', "['int32']", {DT_I32}},
    {'u', "['uint32']", {DT_U32}},
    {'l', "['int64']", {DT_I64}},
    {'m', "['uint64']", {DT_U64}},
};
enum { LETTERS = sizeof letters / sizeof *letters };

static const Letter *letter_row(char letter) {
  int i = 0;
  while (i < LETTERS && letters[i].letter != letter) i++;
  BUG_IF(i == LETTERS, "no operand dtype %c", letter);
  return &letters[i];
}

static bool letter_takes(const Letter *l, DType t) {
  for (int i = 0; i < 4; i++)
    if (l->takes[i] == t) return true;
  return false;
}

/* The common dtype of the operands with this letter; DT_NONE after an error. */
static DType dtype_of_letter(Sema *S, const Func *fn, const char *operands, char letter, Span at) {
  DType t = DT_NONE;
  for (uint32_t i = 0; operands[i]; i++) {
    if (operands[i] != letter) continue;
    Value v = frame_var(S->frame, fn->def->params.data[i].name)->value;
    if (!value_is_operand(v)) {
      if (v.kind != V_ERROR)
        sema_error(S, at, E_SEMA_WANTED, fn->def->params.data[i].name, "a tile or a scalar",
                   value_describe(S->arena, v));
      return DT_NONE;
    }
    v = typed(S, v, at);
    if (v.kind == V_ERROR) return DT_NONE;
    if (t == DT_NONE) t = (DType)value_type(v).dtype;
    else t = common_dtype(S, value_const(t, (Scalar){0}), v, false, fn->def->name, at);
    if (t == DT_NONE) return t;
  }
  return t;
}

bool operands_fit(Sema *S, const Func *fn, Span at) {
  const char *operands = operands_of(S->p, fn);
  for (uint32_t i = 0; operands && operands[i]; i++) {
    if (memchr(operands, operands[i], i)) continue;
    DType t = dtype_of_letter(S, fn, operands, operands[i], at);
    if (t == DT_NONE) return false;
    const Letter *letter = letter_row(operands[i]);
    if (letter_takes(letter, t)) continue;
    sema_error(S, at, E_SEMA_OPERAND_DTYPE, letter->text,
               value_text(S->arena, value_dtype(type_scalar(t))));
    if (strchr("FS", operands[i])) sema_hint(S, H_SEMA_OPERAND_FLOAT);
    return false;
  }
  return true;
}
