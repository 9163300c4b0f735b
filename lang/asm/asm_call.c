#include "lang/asm/asm_call.h"

#include <string.h>

#include "lang/messages.h"

/* ---- constraints ---- */

unsigned asm_register_bits(char letter) {
  switch (letter) {
    case 'b': return 1;
    case 'c':
    case 'h': return 16;
    case 'r':
    case 'f': return 32;
    case 'l':
    case 'N':
    case 'd': return 64;
    default: return 0;
  }
}

typedef struct {
  const char *s;
  size_t len;
} Word;

/* The next constraint of a list; false at its end. */
static bool next_constraint(const char **at, Word *w) {
  const char *s = *at;
  if (!s) return false;
  while (*s == ' ' || *s == '\n' || *s == '\t') s++;
  size_t n = strcspn(s, ",");
  *at = s[n] ? s + n + 1 : NULL;
  while (n && (s[n - 1] == ' ' || s[n - 1] == '\n' || s[n - 1] == '\t')) n--;
  *w = (Word){s, n};
  return true;
}

static bool is_clobber(const Word *w) { return w->len && *w->s == '~'; }
static bool is_constant(const Word *w) { return w->len == 1 && (*w->s == 'n' || *w->s == 'i'); }

/* The elements of a value of type t that share a register. */
static uint32_t shared_elements(DType t, uint32_t pack) {
  uint32_t bits = dtype_bits(t), n = bits < 32 ? 32 / bits : 1;
  return n < pack ? n : pack;
}

typedef struct {
  Arena *arena;
  const AsmTypes *types;
  AsmCall *call;
  uint32_t value, first; /* the next elements */
} Reader;

/* The register of the next elements of the results or arguments. */
static const char *add_register(Reader *r, const Word *w, bool output, char letter, int tied) {
  uint32_t n = output ? r->types->nresults : r->types->nargs, pack = r->types->pack;
  const char *what = output ? "results" : "arguments";
  if (r->value == n)
    return arena_printf(r->arena, E_ASM_MANY, (int)w->len, w->s, output ? "output" : "input", n,
                        what, pack);
  DType t = output ? r->types->results[r->value] : r->types->args[r->value];
  uint32_t elements = shared_elements(t, pack), bits = elements * dtype_bits(t);
  unsigned width = asm_register_bits(letter);
  if (!width) return arena_printf(r->arena, E_ASM_LETTER, (int)w->len, w->s);
  bool whole = letter == 'f' || letter == 'd' || letter == 'b';
  if (bits > width || (whole && bits != width))
    return arena_printf(r->arena, E_ASM_WIDTH, (int)w->len, w->s, width, elements, dtype_name(t));
  if (r->call->nregisters == ASM_MAX_REGISTERS)
    return arena_printf(r->arena, E_ASM_REGISTERS, (int)ASM_MAX_REGISTERS);
  r->call->registers[r->call->nregisters++] = (AsmRegister){.letter = letter,
                                                            .output = output,
                                                            .tied = tied,
                                                            .value = r->value,
                                                            .first = r->first,
                                                            .elements = elements,
                                                            .type = t};
  r->first += elements;
  if (r->first < pack) return NULL;
  r->first = 0;
  r->value++;
  return NULL;
}

static const char *read_output(Reader *r, const Word *w) {
  size_t at = 1;
  while (at < w->len && (w->s[at] == '&' || w->s[at] == '%')) at++;
  if (r->call->nregisters > r->call->noutputs)
    return arena_printf(r->arena, E_ASM_ORDER, (int)w->len, w->s);
  if (w->len != at + 1) return arena_printf(r->arena, E_ASM_LETTER, (int)w->len, w->s);
  const char *error = add_register(r, w, true, w->s[at], -1);
  r->call->noutputs = r->call->nregisters;
  return error;
}

static const char *read_input(Reader *r, const Word *w) {
  if (r->call->noutputs == r->call->nregisters) r->value = r->first = 0;
  bool digits = w->len > 0 && w->len < 4;
  uint32_t k = 0;
  for (size_t i = 0; i < w->len && digits; i++) {
    digits = w->s[i] >= '0' && w->s[i] <= '9';
    k = k * 10 + (uint32_t)(w->s[i] - '0');
  }
  if (digits && k < r->call->noutputs)
    return add_register(r, w, false, r->call->registers[k].letter, (int)k);
  if (digits) return arena_printf(r->arena, E_ASM_TIED, (int)w->len, w->s, r->call->noutputs);
  if (w->len && *w->s == '+') return arena_printf(r->arena, E_ASM_PLUS, (int)w->len, w->s);
  if (w->len != 1) return arena_printf(r->arena, E_ASM_LETTER, (int)w->len, w->s);
  return add_register(r, w, false, *w->s, -1);
}

static const char *check_types(Arena *a, const AsmTypes *types) {
  uint32_t n = types->nresults + types->nargs, pack = types->pack;
  for (uint32_t i = 0; i < n; i++) {
    DType t = i < types->nresults ? types->results[i] : types->args[i - types->nresults];
    if (pack % shared_elements(t, pack) || (t == DT_I1 && pack > 1))
      return arena_printf(a, E_ASM_PACK, pack, dtype_name(t));
  }
  return NULL;
}

static const char *read_constraints(Reader *r, const char *list) {
  const char *error = check_types(r->arena, r->types);
  bool any = list[strspn(list, " \n\t")] != 0;
  Word w;
  r->call->registers = ARENA_ARRAY(r->arena, AsmRegister, ASM_MAX_REGISTERS);
  while (!error && any && next_constraint(&list, &w)) {
    if (is_clobber(&w)) continue;
    error = w.len && *w.s == '=' ? read_output(r, &w) : read_input(r, &w);
  }
  if (error) return error;
  uint32_t outputs = 0, inputs = 0, pack = r->types->pack;
  for (uint32_t i = 0; i < r->types->nresults; i++)
    outputs += pack / shared_elements(r->types->results[i], pack);
  for (uint32_t i = 0; i < r->types->nargs; i++)
    inputs += pack / shared_elements(r->types->args[i], pack);
  uint32_t has_outputs = r->call->noutputs, has_inputs = r->call->nregisters - has_outputs;
  if (has_outputs != outputs || has_inputs != inputs)
    return arena_printf(r->arena, E_ASM_COUNT, has_outputs, has_inputs, outputs, inputs);
  return NULL;
}

/* ---- the text ---- */

const char *asm_place(Arena *a, const char *text, size_t at) {
  unsigned line = 1, column = 1;
  for (size_t i = 0; i < at && text[i]; i++) {
    column++;
    if (text[i] == '\n') line++, column = 1;
  }
  return arena_printf(a, "line %u, column %u", line, column);
}

typedef VEC(AsmPiece) Pieces;

static size_t digits_at(const char *s) { return strspn(s, "0123456789"); }

static uint32_t number_at(const char *s, size_t n) {
  uint32_t k = 0;
  for (size_t i = 0; i < n && k < ASM_MAX_REGISTERS; i++) k = k * 10 + (uint32_t)(s[i] - '0');
  return k;
}

/* After a `$`: the bytes of the operand's name, 0 if it is none. */
static size_t read_hole(const char *s, AsmPiece *p) {
  static const char uid[] = "{:uid}";
  if (!strncmp(s, uid, sizeof uid - 1)) {
    p->kind = ASM_UID;
    return sizeof uid - 1;
  }
  bool braces = *s == '{';
  size_t n = digits_at(s + braces);
  if (!n || (braces && s[1 + n] != '}')) return 0;
  p->kind = ASM_OPERAND;
  p->operand = number_at(s + braces, n);
  return n + 2 * (size_t)braces;
}

static const char *split_text(Arena *a, const char *text, uint32_t operands, Pieces *out) {
  for (size_t at = 0; text[at];) {
    AsmPiece p = {.text = text + at, .at = at};
    size_t n = strcspn(text + at, "$");
    if (!n && text[at + 1] == '$') {
      p.len = 1;
      n = 2;
    } else if (!n) {
      n = 1 + read_hole(text + at + 1, &p);
      if (n == 1) return arena_printf(a, E_ASM_HOLE, asm_place(a, text, at));
      if (p.kind == ASM_OPERAND && p.operand >= operands)
        return arena_printf(a, E_ASM_OPERAND, (int)n, text + at, asm_place(a, text, at), operands);
    } else {
      p.len = n;
    }
    vec_push(a, out, p);
    at += n;
  }
  return NULL;
}

/* The end of the comment at s, the start if there is none; NULL if it has no end. */
static const char *skip_comment(const char *s) {
  if (s[0] == '/' && s[1] == '/') return s + strcspn(s, "\n");
  if (s[0] != '/' || s[1] != '*') return s;
  const char *end = strstr(s + 2, "*/");
  return end ? end + 2 : NULL;
}

/* Braces of blocks and comments are closed, so that what follows is not part of them. */
static const char *check_nesting(Arena *a, const char *text) {
  const char *open[64];
  size_t depth = 0;
  for (const char *s = text; *s;) {
    const char *next = skip_comment(s);
    if (!next) return arena_printf(a, E_ASM_OPEN, "/*", asm_place(a, text, (size_t)(s - text)));
    if (next != s) {
      s = next;
      continue;
    }
    if (*s == '{' && depth == sizeof open / sizeof *open)
      return arena_printf(a, E_TILE_DEPTH, (int)depth);
    if (*s == '{') open[depth++] = s;
    if (*s == '}' && !depth--)
      return arena_printf(a, E_ASM_CLOSE, asm_place(a, text, (size_t)(s - text)));
    s++;
  }
  if (!depth) return NULL;
  return arena_printf(a, E_ASM_OPEN, "{", asm_place(a, text, (size_t)(open[depth - 1] - text)));
}

const char *asm_parse(Arena *a, const char *text, const char *constraints, const AsmTypes *types,
                      AsmCall *call) {
  *call = (AsmCall){.text = text, .pack = types->pack};
  Reader r = {.arena = a, .types = types, .call = call};
  Pieces pieces = {0};
  const char *error = read_constraints(&r, constraints);
  if (!error) error = check_nesting(a, text);
  if (!error) error = split_text(a, text, call->nregisters, &pieces);
  call->pieces = pieces.data;
  call->npieces = (uint32_t)pieces.len;
  return error;
}

/* ---- constants ---- */

typedef struct {
  Word word;
  int argument; /* -1: it is no constant */
} Constraint;
typedef VEC(Constraint) Constraints;

/* Constraints in order, with the argument of each that is a constant.  A constant takes one
 * register, whatever its type is, as its elements are one number. */
static Constraints list_constraints(Arena *a, const char *list, const AsmTypes *types) {
  Constraints out = {0};
  uint32_t value = 0, first = 0;
  Word w;
  while (next_constraint(&list, &w)) {
    Constraint c = {w, -1};
    bool input = w.len && *w.s != '=' && !is_clobber(&w);
    if (input && value < types->nargs) {
      if (is_constant(&w)) {
        c.argument = (int)value++;
      } else {
        first += shared_elements(types->args[value], types->pack);
        if (first >= types->pack) first = 0, value++;
      }
    }
    vec_push(a, &out, c);
  }
  return out;
}

void asm_find_constants(Arena *a, const char *constraints, const AsmTypes *types, bool *constant) {
  Constraints list = list_constraints(a, constraints, types);
  for (size_t i = 0; i < list.len; i++)
    if (list.data[i].argument >= 0) constant[list.data[i].argument] = true;
}

const char *asm_fold_constants(Arena *a, const char *text, const char *constraints,
                               const AsmTypes *types, const char *const *literals,
                               const char **folded, const char **rest) {
  Constraints list = list_constraints(a, constraints, types);
  Pieces pieces = {0};
  Text out = text_new(a), kept = text_new(a);
  const char *literal_of[ASM_MAX_REGISTERS] = {0};
  uint32_t number_of[ASM_MAX_REGISTERS] = {0}, next = 0, n = 0;
  for (size_t i = 0; i < list.len; i++) {
    const Constraint *c = &list.data[i];
    const char *literal = c->argument >= 0 ? literals[c->argument] : NULL;
    bool clobber = is_clobber(&c->word);
    if (!clobber && n == ASM_MAX_REGISTERS)
      return arena_printf(a, E_ASM_REGISTERS, (int)ASM_MAX_REGISTERS);
    if (!clobber) {
      literal_of[n] = literal;
      number_of[n++] = next;
      next += !literal;
    }
    if (!literal) text_printf(&kept, "%s%.*s", kept.len ? "," : "", (int)c->word.len, c->word.s);
  }
  const char *error = split_text(a, text, n, &pieces);
  if (error) return error;
  for (size_t i = 0; i < pieces.len; i++) {
    const AsmPiece *p = &pieces.data[i];
    if (p->kind == ASM_UID) text_puts(&out, "${:uid}");
    else if (p->kind == ASM_TEXT && p->len == 1 && *p->text == '$') text_puts(&out, "$$");
    else if (p->kind == ASM_TEXT) text_putn(&out, p->text, p->len);
    else if (literal_of[p->operand]) text_puts(&out, literal_of[p->operand]);
    else text_printf(&out, "${%u}", number_of[p->operand]);
  }
  *folded = out.data;
  *rest = kept.data;
  return NULL;
}
