#include "import/archives/pickle.h"

#include <string.h>

#include "import/messages.h"

typedef struct {
  Arena *arena;
  const uint8_t *at, *end;
  bool (*known)(const char *name);
  const char *why; /* NULL: no error yet */
  bool stopped;
  VEC(PickleValue *) stack;
  VEC(size_t) marks; /* heights of the stack */
  VEC(PickleValue *) memo;
} Reader;

static void refuse(Reader *r, const char *why) {
  if (!r->why) r->why = why;
}

/* ---- bytes ---- */

static bool has_bytes(Reader *r, uint64_t n) {
  if ((uint64_t)(r->end - r->at) >= n) return true;
  refuse(r, E_PICKLE_BROKEN);
  return false;
}

/* A number of n bytes, the lowest first. */
static uint64_t read_unsigned(Reader *r, unsigned n) {
  uint64_t value = 0;
  if (!has_bytes(r, n)) return 0;
  for (unsigned i = 0; i < n; i++) value |= (uint64_t)r->at[i] << 8 * i;
  r->at += n;
  return value;
}

static int64_t read_signed(Reader *r, unsigned n) {
  uint64_t value = read_unsigned(r, n), sign = n && n < 8 ? UINT64_C(1) << (8 * n - 1) : 0;
  return (int64_t)((value ^ sign) - sign);
}

static const char *read_text(Reader *r, uint64_t n) {
  if (!has_bytes(r, n)) return "";
  if (memchr(r->at, 0, (size_t)n)) refuse(r, E_PICKLE_BROKEN);
  const char *text = arena_strndup(r->arena, (const char *)r->at, (size_t)n);
  r->at += n;
  return text;
}

static const char *read_line(Reader *r) {
  const uint8_t *newline = memchr(r->at, '\n', (size_t)(r->end - r->at));
  if (!newline) return refuse(r, E_PICKLE_BROKEN), "";
  const char *line = read_text(r, (uint64_t)(newline - r->at));
  r->at = newline + 1;
  return line;
}

/* ---- the stack ---- */

static PickleValue *push(Reader *r, PickleKind kind) {
  PickleValue *v = ARENA_NEW(r->arena, PickleValue);
  *v = (PickleValue){.kind = kind};
  vec_push(r->arena, &r->stack, v);
  return v;
}

static void push_int(Reader *r, PickleKind kind, int64_t value) { push(r, kind)->integer = value; }

/* What is above the last mark stays there. */
static size_t stack_floor(const Reader *r) {
  return r->marks.len ? r->marks.data[r->marks.len - 1] : 0;
}

static PickleValue *pop(Reader *r) {
  if (r->stack.len > stack_floor(r)) return r->stack.data[--r->stack.len];
  refuse(r, E_PICKLE_BROKEN);
  return push(r, PICKLE_NONE);
}

static PickleValue *top(Reader *r) {
  PickleValue *v = pop(r);
  vec_push(r->arena, &r->stack, v);
  return v;
}

static void add_items(Reader *r, PickleValue *to, size_t from) {
  for (size_t i = from; i < r->stack.len; i++)
    vec_push(r->arena, &to->items, r->stack.data[i]);
  r->stack.len = from;
}

/* The height of the stack at the last mark, which is gone then. */
static size_t pop_mark(Reader *r) {
  if (r->marks.len) return r->marks.data[--r->marks.len];
  refuse(r, E_PICKLE_BROKEN);
  return r->stack.len;
}

static void make_list(Reader *r, size_t from) {
  PickleValue *v = ARENA_NEW(r->arena, PickleValue);
  *v = (PickleValue){.kind = PICKLE_LIST};
  add_items(r, v, from);
  vec_push(r->arena, &r->stack, v);
}

static void make_list_of(Reader *r, size_t n) {
  if (r->stack.len < stack_floor(r) + n) refuse(r, E_PICKLE_BROKEN);
  else make_list(r, r->stack.len - n);
}

/* Moves what is above `from` into the container below it. */
static void extend(Reader *r, size_t from, bool pairs) {
  if (from > r->stack.len || from <= stack_floor(r)) return refuse(r, E_PICKLE_BROKEN);
  PickleValue *to = r->stack.data[from - 1];
  bool fits = pairs ? to->kind == PICKLE_DICT : to->kind == PICKLE_LIST;
  if (!fits || (pairs && (r->stack.len - from) % 2)) return refuse(r, E_PICKLE_BROKEN);
  add_items(r, to, from);
}

static void extend_by(Reader *r, size_t n, bool pairs) {
  if (r->stack.len < n) refuse(r, E_PICKLE_BROKEN);
  else extend(r, r->stack.len - n, pairs);
}

/* ---- names and records ---- */

static bool is_printable(const char *s) {
  while (*s > ' ' && *s < 127) s++;
  return !*s;
}

enum { NAME_MOST = 256 }; /* characters of a module and a name; each mention of one is kept */

static void push_name(Reader *r, const char *module, const char *name) {
  if (strlen(module) + strlen(name) > NAME_MOST) return refuse(r, E_PICKLE_BROKEN);
  const char *full = arena_printf(r->arena, "%s.%s", module, name);
  if (!is_printable(full)) refuse(r, E_PICKLE_BROKEN);
  else if (!r->known(full)) refuse(r, arena_printf(r->arena, E_PICKLE_NAME, full));
  push(r, PICKLE_GLOBAL)->string = full;
}

static void stack_global(Reader *r) {
  const PickleValue *name = pop(r), *module = pop(r);
  if (name->kind != PICKLE_STRING || module->kind != PICKLE_STRING)
    return refuse(r, E_PICKLE_BROKEN);
  push_name(r, module->string, name->string);
}

static void make_object(Reader *r) {
  PickleValue *args = pop(r), *callee = pop(r), *v = push(r, PICKLE_OBJECT);
  if (callee->kind != PICKLE_GLOBAL || args->kind != PICKLE_LIST)
    return refuse(r, E_PICKLE_BROKEN);
  if (!strcmp(callee->string, "collections.OrderedDict") && !args->items.len) {
    v->kind = PICKLE_DICT;
    return;
  }
  vec_push(r->arena, &v->items, callee);
  vec_push(r->arena, &v->items, args);
}

static void set_state(Reader *r) {
  PickleValue *state = pop(r), *of = top(r);
  if (of->kind != PICKLE_OBJECT) return refuse(r, E_PICKLE_BROKEN);
  vec_push(r->arena, &of->items, state);
}

static void make_reference(Reader *r) {
  PickleValue *key = pop(r), *v = push(r, PICKLE_REFERENCE);
  vec_push(r->arena, &v->items, key);
}

static void put(Reader *r, uint64_t at) {
  /* A pickle numbers what it keeps from 0 on. */
  PickleValue *v = top(r);
  if (at > r->memo.len) return refuse(r, E_PICKLE_BROKEN);
  if (at == r->memo.len) vec_push(r->arena, &r->memo, v);
  else r->memo.data[at] = v;
}

static void get(Reader *r, uint64_t at) {
  if (at >= r->memo.len) return refuse(r, E_PICKLE_BROKEN);
  vec_push(r->arena, &r->stack, r->memo.data[at]);
}

/* ---- opcodes ---- */

/* Strings have their length in 1, 4 or 8 bytes. */
static void push_string(Reader *r, unsigned length) {
  uint64_t n = read_unsigned(r, length);
  push(r, PICKLE_STRING)->string = read_text(r, n);
}

static void push_long(Reader *r) {
  uint64_t n = read_unsigned(r, 1);
  if (n > 8) { /* nothing that a tensor is made of */
    if (has_bytes(r, n)) r->at += n, push(r, PICKLE_NONE);
    return;
  }
  push_int(r, PICKLE_INT, read_signed(r, (unsigned)n));
}

/* The highest byte comes first. */
static void push_float(Reader *r) {
  uint64_t bits = __builtin_bswap64(read_unsigned(r, 8));
  PickleValue *v = push(r, PICKLE_FLOAT);
  memcpy(&v->real, &bits, sizeof v->real);
}

static void push_global(Reader *r) {
  const char *module = read_line(r), *name = read_line(r);
  push_name(r, module, name);
}

static bool run_constant(Reader *r, uint8_t op) {
  switch (op) {
    case 'N': push(r, PICKLE_NONE); return true;
    case 0x88: push_int(r, PICKLE_BOOL, 1); return true;
    case 0x89: push_int(r, PICKLE_BOOL, 0); return true;
    case ')':
    case ']': push(r, PICKLE_LIST); return true;
    case '}': push(r, PICKLE_DICT); return true;
    case 'J': push_int(r, PICKLE_INT, read_signed(r, 4)); return true;
    case 'K': push_int(r, PICKLE_INT, (int64_t)read_unsigned(r, 1)); return true;
    case 'M': push_int(r, PICKLE_INT, (int64_t)read_unsigned(r, 2)); return true;
    case 0x8a: push_long(r); return true;
    case 'G': push_float(r); return true;
    case 0x8c: push_string(r, 1); return true;
    case 'X': push_string(r, 4); return true;
    case 0x8d: push_string(r, 8); return true;
    case 'c': push_global(r); return true;
    default: return false;
  }
}

static bool run_container(Reader *r, uint8_t op) {
  switch (op) {
    case '(': vec_push(r->arena, &r->marks, r->stack.len); return true;
    case 't':
    case 'l': make_list(r, pop_mark(r)); return true;
    case 0x85:
    case 0x86:
    case 0x87: make_list_of(r, op - 0x84u); return true;
    case 'a': extend_by(r, 1, false); return true;
    case 'e': extend(r, pop_mark(r), false); return true;
    case 's': extend_by(r, 2, true); return true;
    case 'u': extend(r, pop_mark(r), true); return true;
    default: return false;
  }
}

static bool run_record(Reader *r, uint8_t op) {
  switch (op) {
    case 0x93: stack_global(r); return true;
    case 'R':
    case 0x81: make_object(r); return true;
    case 'b': set_state(r); return true;
    case 'Q': make_reference(r); return true;
    case 'q': put(r, read_unsigned(r, 1)); return true;
    case 'r': put(r, read_unsigned(r, 4)); return true;
    case 0x94: put(r, r->memo.len); return true;
    case 'h': get(r, read_unsigned(r, 1)); return true;
    case 'j': get(r, read_unsigned(r, 4)); return true;
    case 0x80: read_unsigned(r, 1); return true; /* the protocol */
    case 0x95: read_unsigned(r, 8); return true; /* a frame */
    case '.': r->stopped = true; return true;
    default: return false;
  }
}

const PickleValue *pickle_read(Arena *a, const uint8_t *bytes, size_t size,
                               bool (*known)(const char *name), const char **why) {
  Reader r = {.arena = a, .at = bytes, .end = bytes + size, .known = known};
  if (size > PICKLE_SIZE_MAX) refuse(&r, E_PICKLE_BROKEN);
  while (!r.why && !r.stopped) {
    uint8_t op = (uint8_t)read_unsigned(&r, 1);
    if (r.why || run_constant(&r, op) || run_container(&r, op) || run_record(&r, op)) continue;
    refuse(&r, arena_printf(a, E_PICKLE_OPCODE, op));
  }
  const PickleValue *v = r.why ? NULL : pop(&r);
  *why = r.why;
  return r.why ? NULL : v;
}

int pickle_integers(const PickleValue *v, int64_t *out, int most) {
  if (!pickle_is(v, PICKLE_LIST) || v->items.len > (size_t)most) return -1;
  for (size_t i = 0; i < v->items.len; i++) {
    if (v->items.data[i]->kind != PICKLE_INT) return -1;
    out[i] = v->items.data[i]->integer;
  }
  return (int)v->items.len;
}

bool pickle_calls(const PickleValue *v, const char *name) {
  return pickle_is(v, PICKLE_OBJECT) && !strcmp(v->items.data[0]->string, name);
}
