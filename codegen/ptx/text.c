/* Lines, operands and templates. */
#include "codegen/ptx/ptx.h"

/* ---- the buffer ---- */

enum { FIRST_SIZE = 1 << 14 };

static void ptx_room(Ptx *p, size_t n) {
  if (p->len + n <= p->cap) return;
  size_t cap = p->cap ? p->cap * 2 : FIRST_SIZE;
  while (cap < p->len + n) cap *= 2;
  p->out = arena_grow(p->arena, p->out, p->len, cap);
  p->cap = cap;
}

static void ptx_putn(Ptx *p, const char *s, size_t n) {
  ptx_room(p, n);
  memcpy(p->out + p->len, s, n);
  p->len += n;
}

void ptx_puts(Ptx *p, const char *s) { ptx_putn(p, s, strlen(s)); }

static inline void put_char(Ptx *p, char c) {
  ptx_room(p, 1);
  p->out[p->len++] = c;
}

void ptx_put_int(Ptx *p, int64_t v) {
  char digits[24];
  int n = sizeof digits;
  uint64_t u = v < 0 ? 0 - (uint64_t)v : (uint64_t)v;
  do digits[--n] = (char)('0' + u % 10);
  while (u /= 10);
  if (v < 0) digits[--n] = '-';
  ptx_putn(p, digits + n, sizeof digits - (size_t)n);
}

static void put_hex(Ptx *p, uint64_t bits, int digits) {
  ptx_room(p, 16);
  for (int i = digits - 1; i >= 0; i--) p->out[p->len++] = "0123456789ABCDEF"[bits >> (4 * i) & 15];
}

/* ---- operands ---- */

static void put_constant(Ptx *p, const Operand *o) {
  if (o->kind == PO_F32) {
    ptx_putn(p, "0f", 2);
    put_hex(p, (uint64_t)o->bits, 8);
  } else if (o->kind == PO_F64 || o->bits == INT64_MIN) {
    ptx_putn(p, o->kind == PO_F64 ? "0d" : "0x", 2);
    put_hex(p, (uint64_t)o->bits, 16);
  } else {
    ptx_put_int(p, o->bits);
  }
}

void ptx_put_operand(Ptx *p, const Operand *o) {
  if (o->kind != PO_REG) {
    put_constant(p, o);
    return;
  }
  ptx_putn(p, o->name, o->len);
  if (o->num >= 0) ptx_put_int(p, o->num);
}

void ptx_put_vector(Ptx *p, const Operand *o, int n) {
  if (n > 1) put_char(p, '{');
  for (int i = 0; i < n; i++) {
    if (i) ptx_putn(p, ", ", 2);
    ptx_put_operand(p, &o[i]);
  }
  if (n > 1) put_char(p, '}');
}

static const struct {
  const char *name;
  char letter;
} classes[RC_COUNT] = {
    [RC_B16] = {"%$h", 'h'}, [RC_B32] = {"%$r", 'r'}, [RC_F32] = {"%$f", 'f'},
    [RC_B64] = {"%$l", 'l'}, [RC_F64] = {"%$D", 'D'}, [RC_PRED] = {"%$p", 'p'},
};
enum { TEMP_LEN = 3 };

static RegClass class_of(char letter) {
  int c = 0;
  while (c < RC_COUNT && classes[c].letter != letter) c++;
  BUG_IF(c == RC_COUNT, "no register class %c", letter);
  return (RegClass)c;
}

const char *ptx_temp_name(RegClass cls) { return classes[cls].name; }

static Operand temp(RegClass cls, int32_t num) {
  return (Operand){PO_REG, (uint8_t)cls, TEMP_LEN, num, classes[cls].name, 0};
}

static void temps_up_to(Ptx *p, RegClass cls, int32_t n) {
  p->temps[cls] = n;
  if (p->most_temps[cls] < n) p->most_temps[cls] = n;
}

Operand ptx_map(int32_t map) {
  return (Operand){PO_REG, RC_B64, sizeof PTX_MAP - 1, map, PTX_MAP, 0};
}

Operand ptx_temp(Ptx *p, RegClass cls) {
  Operand o = temp(cls, p->temps[cls]);
  temps_up_to(p, cls, p->temps[cls] + 1);
  return o;
}

Operand ptx_int(int64_t v) { return (Operand){.kind = PO_INT, .num = -1, .bits = v}; }

Operand ptx_f32(float v) {
  uint32_t u;
  memcpy(&u, &v, sizeof u);
  return (Operand){.kind = PO_F32, .cls = RC_F32, .num = -1, .bits = u};
}

/* ---- lines ---- */

static void put_source_line(Ptx *p) {
  const Source *f = diag_file(p->diags, p->span.file);
  if (!f || p->span.file == p->nest->ir_file) return;
  if (p->loc_file == p->span.file && p->loc_line == p->span.line) return;
  p->loc_file = p->span.file;
  p->loc_line = p->span.line;
  uint32_t *number = &p->file_number[p->span.file];
  if (!*number) {
    vec_push(p->arena, &p->files, f->name);
    *number = (uint32_t)p->files.len;
  }
  ptx_puts(p, "\t.loc ");
  ptx_put_int(p, *number);
  put_char(p, ' ');
  ptx_put_int(p, p->span.line);
  put_char(p, ' ');
  ptx_put_int(p, p->span.col);
  put_char(p, '\n');
}

void ptx_begin(Ptx *p) {
  if (p->loc_line != p->span.line || p->loc_file != p->span.file) put_source_line(p);
  put_char(p, '\t');
  p->instructions++;
  if (!p->guard.kind) return;
  put_char(p, '@');
  ptx_put_operand(p, &p->guard);
  put_char(p, ' ');
}

void ptx_end(Ptx *p) { ptx_putn(p, ";\n", 2); }

int32_t ptx_label(Ptx *p) { return p->nlabels++; }

void ptx_put_label(Ptx *p, int32_t label) {
  ptx_putn(p, "$L", 2);
  ptx_put_int(p, label);
}

void ptx_place_label(Ptx *p, int32_t label) {
  ptx_put_label(p, label);
  ptx_putn(p, ":\n", 2);
}

/* ---- templates ---- */

typedef struct {
  const Operand *d, *a, *b, *c;
  int32_t base[RC_COUNT], used[RC_COUNT], label, labels;
} Expansion;

/* Expands the word after a `$`; returns the text after it. */
static const char *put_hole(Ptx *p, Expansion *e, const char *s) {
  switch (*s) {
    case 'd': ptx_put_operand(p, e->d); return s + 1;
    case 'a': ptx_put_operand(p, e->a); return s + 1;
    case 'b': ptx_put_operand(p, e->b); return s + 1;
    case 'c': ptx_put_operand(p, e->c); return s + 1;
    default: break;
  }
  int n = *s - '0';
  if (s[1] == 'x') {
    ptx_put_label(p, e->label + n);
    if (e->labels <= n) e->labels = n + 1;
    return s + 2;
  }
  RegClass cls = class_of(s[1]);
  Operand o = temp(cls, e->base[cls] + n);
  if (e->used[cls] <= n) e->used[cls] = n + 1;
  ptx_put_operand(p, &o);
  return s + 2;
}

/* Expands one instruction or label; returns the text after its `;`. */
static const char *put_template_line(Ptx *p, Expansion *e, const char *s) {
  bool label = s[0] == '$' && s[1] && s[2] == 'x' && s[3] == ':';
  if (!label) ptx_begin(p);
  while (*s && *s != ';') {
    const char *end = s + strcspn(s, "$;");
    ptx_putn(p, s, (size_t)(end - s));
    s = *end == '$' ? put_hole(p, e, end + 1) : end;
  }
  if (label) put_char(p, '\n');
  else ptx_end(p);
  while (*s == ';' || *s == ' ') s++;
  return s;
}

void ptx_emit(Ptx *p, const char *text, Operand d, Operand a, Operand b, Operand c) {
  Expansion e = {.d = &d, .a = &a, .b = &b, .c = &c, .label = p->nlabels};
  memcpy(e.base, p->temps, sizeof e.base);
  while (*text) text = put_template_line(p, &e, text);
  for (int k = 0; k < RC_COUNT; k++)
    if (e.used[k]) temps_up_to(p, (RegClass)k, e.base[k] + e.used[k]);
  p->nlabels += e.labels;
}

void ptx_fail(Ptx *p, const char *fmt, ...) {
  va_list ap;
  va_start(ap, fmt);
  diag_error(p->diags, p->span, "%s", arena_vprintf(p->arena, fmt, ap));
  diag_format(p->diags, fmt);
  va_end(ap);
  p->failed = true;
}

void ptx_jump_if(Ptx *p, const Operand *condition, bool when, int32_t label) {
  ptx_begin(p);
  if (condition) {
    ptx_puts(p, when ? "@" : "@!");
    ptx_put_operand(p, condition);
    ptx_puts(p, " ");
  }
  ptx_puts(p, condition && p->threads_differ ? "bra " : "bra.uni ");
  ptx_put_label(p, label);
  ptx_end(p);
}
