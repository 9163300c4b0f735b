#include "lang/asm/asm_program.h"

#include <stdlib.h>
#include <string.h>

#include "lang/asm/asm_state.h"
#include "lang/base/diag.h"
#include "lang/messages.h"

/* ======== reading ======== */

static void skip_space(Ptx *p) {
  for (;;) {
    while (*p->s == ' ' || *p->s == '\t' || *p->s == '\n' || *p->s == '\r') p->s++;
    if (p->s[0] == '/' && p->s[1] == '/') p->s += strcspn(p->s, "\n");
    else if (p->s[0] == '/' && p->s[1] == '*') p->s = strstr(p->s + 2, "*/") + 2;
    else return;
  }
}

static bool accept(Ptx *p, char c) {
  skip_space(p);
  if (*p->s != c) return false;
  p->s++;
  return true;
}

static void expect(Ptx *p, char c) {
  if (accept(p, c)) return;
  char want[] = {c, 0};
  asm_fail(p, p->s, E_ASM_EXPECTED, want, 1);
}

static bool is_name(char c, bool first) {
  bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$';
  return letter || c == '%' || (!first && c >= '0' && c <= '9');
}

static Part read_name(Ptx *p) {
  Part x = {p->s, 0};
  while (is_name(x.s[x.len], !x.len)) x.len++;
  p->s += x.len;
  return x;
}

static bool find_register(const Ptx *p, Part name, uint32_t *reg) {
  for (size_t i = p->registers.len; i-- > p->ncall;) {
    const Register *r = &p->registers.data[i];
    if (r->len != name.len || strncmp(r->name, name.s, name.len)) continue;
    *reg = (uint32_t)i;
    return true;
  }
  return false;
}

static void declare_register(Ptx *p, Part name, unsigned bits) {
  Register r = {name.s, name.len, (uint8_t)bits, asm_constant(p, 0)};
  vec_push(p->arena, &p->registers, r);
}

/* ---- numbers ---- */

static bool read_hex_float(Ptx *p, Op *o) {
  if (*p->s != '0') return false;
  char letter = p->s[1];
  int digits = letter == 'f' || letter == 'F' ? 8 : letter == 'd' || letter == 'D' ? 16 : 0;
  if (!digits) return false;
  o->kind = OP_BITS;
  o->number = digits == 16;
  for (int i = 0; i < digits; i++) {
    char c = p->s[2 + i];
    int x = c >= '0' && c <= '9'   ? c - '0'
            : c >= 'a' && c <= 'f' ? c - 'a' + 10
            : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                   : -1;
    if (x < 0) {
      asm_fail(p, p->s, E_ASM_NUMBER, p->s, (size_t)i + 2);
      return true;
    }
    o->bits = o->bits << 4 | (uint64_t)x;
  }
  p->s += 2 + digits;
  return true;
}

static void read_integer(Ptx *p, Op *o) {
  const char *start = p->s;
  unsigned base = 10;
  if (*p->s == '0' && (p->s[1] == 'x' || p->s[1] == 'X')) base = 16, p->s += 2;
  else if (*p->s == '0' && (p->s[1] == 'b' || p->s[1] == 'B')) base = 2, p->s += 2;
  else if (*p->s == '0') base = 8;
  const char *first = p->s;
  bool over = false;
  for (;; p->s++) {
    char c = *p->s;
    unsigned x = c >= '0' && c <= '9'   ? (unsigned)(c - '0')
                 : c >= 'a' && c <= 'f' ? (unsigned)(c - 'a') + 10
                 : c >= 'A' && c <= 'F' ? (unsigned)(c - 'A') + 10
                                        : 99;
    if (x >= base) break;
    over |= __builtin_mul_overflow(o->bits, base, &o->bits) ||
            __builtin_add_overflow(o->bits, x, &o->bits);
  }
  bool empty = p->s == first;
  p->s += *p->s == 'U';
  if (empty || over || is_name(*p->s, false))
    asm_fail(p, start, E_ASM_NUMBER, start, (size_t)(p->s - start));
}

static void read_number(Ptx *p, Op *o) {
  size_t n = strspn(p->s, "0123456789");
  if (read_hex_float(p, o)) return;
  bool decimal = p->s[n] == '.' || ((p->s[n] == 'e' || p->s[n] == 'E') && *p->s != '0');
  if (!decimal) {
    o->kind = OP_INTEGER;
    read_integer(p, o);
    return;
  }
  size_t len = n + (p->s[n] == '.');
  len += strspn(p->s + len, "0123456789");
  if (p->s[len] == 'e' || p->s[len] == 'E') {
    size_t sign = p->s[len + 1] == '-' || p->s[len + 1] == '+';
    size_t digits = strspn(p->s + len + 1 + sign, "0123456789");
    if (digits) len += 1 + sign + digits;
  }
  o->kind = OP_DECIMAL;
  if (!text_to_double(p->s, len, &o->number)) asm_fail(p, p->s, E_ASM_NUMBER, p->s, len);
  p->s += len;
}

/* ---- operands ---- */

static void read_register(Ptx *p, Op *o) {
  o->kind = OP_REGISTER;
  if (*p->s == 1) {
    o->reg = (uint32_t)strtoul(p->s + 1, NULL, 10);
    p->s += strcspn(p->s, "\2") + 1;
    const AsmRegister *r = &p->call->registers[o->reg];
    if (r->tied >= 0) o->reg = (uint32_t)r->tied;
    return;
  }
  Part name = read_name(p);
  if (name.len == 1 && *name.s == '_') {
    o->kind = OP_SINK;
    return;
  }
  if (find_register(p, name, &o->reg)) return;
  while (*p->s == '.' || is_name(*p->s, false)) p->s++;
  name.len = (size_t)(p->s - name.s);
  asm_fail(p, name.s, *name.s == '%' ? E_ASM_SPECIAL : E_TILE_UNDECLARED, name.s,
           name.len ? name.len : 1);
}

static Op read_operand(Ptx *p, int depth);

static void read_vector(Ptx *p, Op *o, int depth) {
  o->kind = OP_VECTOR;
  o->items = ARENA_ARRAY(p->arena, Op, MAX_VECTOR);
  do {
    if (o->nitems == MAX_VECTOR || depth) {
      asm_fail(p, o->at, E_ASM_OPERAND_KIND, p->now->name, p->now->len);
      return;
    }
    o->items[o->nitems++] = read_operand(p, depth + 1);
  } while (!p->error && accept(p, ','));
  expect(p, '}');
}

static Op read_operand(Ptx *p, int depth) {
  skip_space(p);
  Op o = {.at = p->s};
  if (accept(p, '{')) {
    read_vector(p, &o, depth);
    return o;
  }
  bool minus = accept(p, '-');
  skip_space(p);
  if ((*p->s >= '0' && *p->s <= '9') || minus) {
    read_number(p, &o);
    if (minus && o.kind == OP_BITS) asm_fail(p, o.at, E_ASM_NUMBER, o.at, (size_t)(p->s - o.at));
    if (minus) o.bits = 0 - o.bits, o.number = -o.number;
    return o;
  }
  if (accept(p, '!')) o.negated = true;
  skip_space(p);
  if (*p->s == '[') {
    asm_fail_unknown(p, p->now);
    return o;
  }
  read_register(p, &o);
  if (!p->error && accept(p, '|')) {
    Op q = read_operand(p, depth + 1);
    if (q.kind != OP_REGISTER) asm_fail(p, o.at, E_ASM_OPERAND_KIND, p->now->name, p->now->len);
    o.other = q.reg + 1;
  }
  return o;
}

/* ---- statements ---- */

/* .reg .b32 a, %r<4>; */
static void read_declaration(Ptx *p) {
  Part word = read_name(p);
  if (word.len != 3 || strncmp(word.s, "reg", 3)) {
    asm_fail(p, word.s - 1, E_ASM_UNKNOWN, word.s - 1, word.len + 1);
    return;
  }
  expect(p, '.');
  if (p->error) return;
  Part type = read_name(p);
  const PtxType *t = asm_find_type(type.s, type.len);
  if (!t || t->bits < 8 * (t->bits > 1)) {
    asm_fail(p, type.s, E_ASM_TYPE, type.s, type.len);
    return;
  }
  enum { MAX_DECLARED = 4096 };
  do {
    skip_space(p);
    Part name = read_name(p);
    if (!name.len) {
      asm_fail(p, p->s, E_ASM_EXPECTED, "a name", 6);
      return;
    }
    if (!accept(p, '<')) {
      declare_register(p, name, asm_type_bits(t));
      continue;
    }
    Op count = {0};
    skip_space(p);
    read_number(p, &count);
    if (!p->error && (count.kind != OP_INTEGER || count.bits > MAX_DECLARED))
      asm_fail(p, name.s, E_ASM_NUMBER, name.s, (size_t)(p->s - name.s));
    for (uint64_t i = 0; i < count.bits && !p->error; i++) {
      const char *each =
          arena_printf(p->arena, "%.*s%llu", (int)name.len, name.s, (unsigned long long)i);
      declare_register(p, (Part){each, strlen(each)}, asm_type_bits(t));
    }
    expect(p, '>');
  } while (!p->error && accept(p, ','));
}

/* `add.s32` into its parts. */
static void read_opcode(Ptx *p, Instruction *in) {
  in->name = p->s;
  do {
    Part x = read_name(p);
    const PtxType *t = in->nparts ? asm_find_type(x.s, x.len) : NULL;
    if (!x.len || in->nparts == MAX_MODIFIERS || (t && in->ntypes == 3)) {
      asm_fail(p, in->name, E_ASM_EXPECTED, "an instruction", 14);
      return;
    }
    if (t) in->types[in->ntypes++] = t;
    else in->parts[in->nparts++] = x;
    if (p->s[0] == ':' && p->s[1] == ':') { /* .L1::evict_last */
      p->s += 2;
      (void)read_name(p);
      if (in->nparts < MAX_MODIFIERS) in->parts[in->nparts++] = (Part){"::", 2};
    }
  } while (*p->s == '.' && p->s++);
  in->len = (size_t)(p->s - in->name);
}
static void read_operands(Ptx *p, Instruction *in) {
  do {
    if (in->nops == MAX_OPERANDS) {
      asm_fail(p, in->name, E_ASM_OPERANDS, in->name, in->len);
      return;
    }
    in->ops[in->nops++] = read_operand(p, 0);
  } while (!p->error && accept(p, ','));
}

static void read_instruction(Ptx *p) {
  Instruction in = {0};
  p->now = &in;
  if (accept(p, '@')) {
    skip_space(p);
    in.name = p->s;
    in.guarded = true;
    in.guard.negated = accept(p, '!');
    skip_space(p);
    in.guard.at = p->s;
    read_register(p, &in.guard);
    if (!p->error && in.guard.kind != OP_REGISTER)
      asm_fail(p, in.name, E_ASM_EXPECTED, "a predicate", 11);
    skip_space(p);
  }
  if (p->error) return;
  read_opcode(p, &in);
  if (p->error) return;
  skip_space(p);
  if (*p->s == ':') asm_fail(p, in.name, E_ASM_LABEL, in.name, in.len);
  else if (!asm_is_known(&in)) asm_fail_unknown(p, &in);
  else read_operands(p, &in);
  if (p->error) return;
  asm_run(p, &in);
}

static void read_statement(Ptx *p) {
  static const Instruction none = {.name = ""};
  p->now = &none;
  if (accept(p, '{')) {
    p->scopes[p->depth++] = p->registers.len; /* asm_parse bounds the depth */
    return;
  }
  if (p->depth && accept(p, '}')) {
    p->registers.len = p->scopes[--p->depth];
    return;
  }
  if (accept(p, ';')) return;
  if (accept(p, '.')) read_declaration(p);
  else read_instruction(p);
  skip_space(p);
  if (*p->s && *p->s != '}') expect(p, ';');
}

/* ---- the whole ---- */

static void flatten_text(Ptx *p) {
  Text t = text_new(p->arena);
  for (uint32_t i = 0; i < p->call->npieces; i++) {
    const AsmPiece *x = &p->call->pieces[i];
    vec_push(p->arena, &p->starts, t.len);
    vec_push(p->arena, &p->origins, x->at);
    if (x->kind == ASM_OPERAND) text_printf(&t, "\1%u\2", x->operand);
    else if (x->kind == ASM_UID) text_puts(&t, "0");
    else text_putn(&t, x->text, x->len);
  }
  p->text = p->s = t.data;
}

static void declare_call(Ptx *p) {
  for (uint32_t i = 0; i < p->call->nregisters; i++) {
    const AsmRegister *r = &p->call->registers[i];
    AsmNode input = {.fn = ASM_FN_INPUT, .bits = i};
    if (r->output) input = (AsmNode){.fn = ASM_FN_CONST};
    vec_push(p->arena, &p->nodes, input);
    const char *name = arena_printf(p->arena, "$%u", i);
    Register x = {name, strlen(name), (uint8_t)asm_register_bits(r->letter), i};
    vec_push(p->arena, &p->registers, x);
    if (r->tied >= 0) p->registers.data[r->tied].node = i;
  }
  p->ncall = p->call->nregisters;
}

const char *asm_read_program(Arena *a, const AsmCall *call, AsmProgram *out) {
  Ptx *p = ARENA_NEW(a, Ptx);
  *p = (Ptx){.arena = a, .call = call};
  flatten_text(p);
  declare_call(p);
  for (skip_space(p); *p->s && !p->error; skip_space(p)) read_statement(p);
  *out = (AsmProgram){.gpu_only = p->gpu_only};
  if (p->error) return p->error;
  uint32_t *outputs = ARENA_ARRAY(a, uint32_t, call->noutputs);
  for (uint32_t i = 0; i < call->noutputs; i++) outputs[i] = p->registers.data[i].node;
  *out = (AsmProgram){p->nodes.data, (uint32_t)p->nodes.len, outputs, call->noutputs, false};
  return NULL;
}
