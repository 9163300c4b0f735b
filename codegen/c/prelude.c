/* The helpers that a unit needs: those that its text names, and those that these name. */
#include <stdlib.h>
#include <string.h>

#include "codegen/c/c.h"

static const Helper *const lists[] = {c_helpers_convert, c_helpers_core,  c_helpers_math,
                                      c_helpers_memory,  c_helpers_print, c_helpers_asm,
                                      c_helpers_threads, c_helpers_products};
enum { LISTS = sizeof lists / sizeof *lists, MAX_NAME = 64 };

/* A helper with its dtypes. */
typedef struct {
  const Helper *helper;
  DType t, q;
  const char *name;
} Use;

/* ---- types ---- */

bool c_is_narrow(DType t) { return dtype_is_float(t) && dtype_bits(t) < 32; }

const char *c_compute_name(DType t) {
  if (t == DT_PTR) return "u64";
  return c_is_narrow(t) ? "f32" : dtype_name(t);
}

static const struct {
  const char *scalar, *vector;
} types[DT_COUNT] = {
    [DT_NONE] = {"void", "void"},     [DT_I1] = {"bool", "vi32"},
    [DT_I8] = {"int8_t", "vi8"},      [DT_I16] = {"int16_t", "vi16"},
    [DT_I32] = {"int32_t", "vi32"},   [DT_I64] = {"int64_t", "vi64"},
    [DT_U8] = {"uint8_t", "vu8"},     [DT_U16] = {"uint16_t", "vu16"},
    [DT_U32] = {"uint32_t", "vu32"},  [DT_U64] = {"uint64_t", "vu64"},
    [DT_F8E5] = {"float", "vf32"},    [DT_F8E4NV] = {"float", "vf32"},
    [DT_F8E4B15] = {"float", "vf32"}, [DT_F16] = {"float", "vf32"},
    [DT_BF16] = {"float", "vf32"},    [DT_F32] = {"float", "vf32"},
    [DT_F64] = {"double", "vf64"},    [DT_PTR] = {"char *", "vu64"},
};

const char *c_scalar_type(DType t) { return types[t].scalar; }
const char *c_vector_type(DType t) { return types[t].vector; }

/* ---- names ---- */

/* The dtype after the last '_' of a name, and the length of the text before it. */
static DType suffix(const char *name, size_t len, size_t *stem) {
  size_t at = len;
  while (at > 0 && name[at - 1] != '_') at--;
  if (at == 0) return DT_NONE;
  DType t = dtype_parse(name + at, len - at);
  if (t && strncmp(dtype_name(t), name + at, len - at)) return DT_NONE; /* an alias */
  *stem = at - 1;
  return t;
}

/* Is the dtype among those before `end`? */
static bool listed(const char *types, const char *end, DType t) {
  const char *name = dtype_name(t);
  size_t n = strlen(name);
  for (const char *p = types; (p = strstr(p, name)) && p < end; p += n)
    if ((p == types || p[-1] == ' ') && (!p[n] || p[n] == ' ')) return true;
  return false;
}

/* Does the helper's name, "vdiv_$t" or "vtruncate_$t_$q", fit? */
static bool helper_matches(const Helper *h, const char *name, size_t len, Use *use) {
  size_t same = 0, stem = 0, outer = 0;
  while (same < len && h->name[same] == name[same]) same++;
  if (!h->types) return same == len && !h->name[len];
  if (h->name[same] != '$') return false;
  bool two = !strcmp(h->name + same, "$t_$q");
  use->t = suffix(name, len, &stem);
  outer = stem;
  if (!use->t) return false;
  if (two) {
    use->q = use->t;
    use->t = suffix(name, stem, &outer);
    if (!use->t) return false;
  }
  const char *end = h->types + strlen(h->types), *from = strstr(h->types, " from ");
  if (from && !listed(from, end, use->q)) return false;
  return outer + 1 == same && listed(h->types, from ? from : end, use->t);
}

static bool find_helper(const char *name, size_t len, Use *use) {
  for (int i = 0; i < LISTS; i++)
    for (const Helper *h = lists[i]; h->name; h++) {
      *use = (Use){.helper = h};
      if (helper_matches(h, name, len, use)) return true;
    }
  return false;
}

bool c_is_helper(const char *name) {
  Use use;
  return find_helper(name, strlen(name), &use);
}

/* ---- texts ---- */

/* The type of an element in memory, as a number. */
static const char *storage(DType t) {
  DType u = dtype_int(8 * dtype_bytes(t), false);
  return c_is_narrow(t) ? c_scalar_type(u) : t == DT_I1 ? "uint8_t" : c_scalar_type(t);
}

/* The text that replaces `$letter`; NULL: none. */
static const char *word_text(Arena *a, const Use *use, char letter) {
  DType bits = dtype_int(8 * dtype_bytes(use->t), false);
  switch (letter) {
    case 't': return dtype_name(use->t);
    case 'T': return c_scalar_type(use->t);
    case 'V': return c_vector_type(use->t);
    case 'b': return arena_printf(a, "%u", dtype_bits(use->t));
    case 'u': return dtype_name(bits);
    case 'S': return storage(use->t);
    case 'M': return c_scalar_type(bits);
    case 'q': return dtype_name(use->q);
    case 'Q': return c_scalar_type(use->q);
    case 'W': return c_vector_type(use->q);
    default: return NULL;
  }
}

static void expand(Text *out, Arena *a, const Use *use) {
  for (const char *p = use->helper->text; *p; p++) {
    if (*p != '$') {
      text_putn(out, p, 1);
      continue;
    }
    const char *w = word_text(a, use, *++p);
    BUG_IF(!w, "helper %s: no such word: $%c", use->helper->name, *p);
    text_puts(out, w);
  }
}

/* ---- the walk ---- */

typedef struct {
  Text *out;
  Arena *arena;
  IrMap done;
  Pool *names;
  const char *text; /* the kernel's */
} Prelude;

static bool in_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

static void need_all(Prelude *p, const char *text);

/* A helper with a branch a lane takes GCC 3 to 6 ms at each use, and one that stores lane by lane
 * 9 ms, since GCC compares each store with those before.  From this number of uses on, it is a
 * function, which is called.  Loops that are unrolled count as often as they run for stores alone:
 * functions for their loads make a convolution 12% slower and save little. */
enum { CALLED_FROM = 6, UNROLLED_DEPTH = 32 };

/* Where a walk over a kernel's text is: how often what is here is repeated by UNROLL. */
typedef struct {
  int outer[UNROLLED_DEPTH]; /* of each block around this one */
  int depth, parens;
  int here;
  int next; /* of the statement after UNROLL */
} Unrolled;

static void walk_unrolled(Unrolled *u, const char *p) {
  static const char unroll[] = "UNROLL(";
  if (!strncmp(p, unroll, sizeof unroll - 1)) u->next *= atoi(p + sizeof unroll - 1);
  u->parens += (*p == '(') - (*p == ')');
  if (*p == ';' && u->parens == 0) u->next = 1;
  if (*p == '{') {
    if (u->depth < UNROLLED_DEPTH) u->outer[u->depth] = u->here;
    u->depth++;
    u->here *= u->next;
    u->next = 1;
  } else if (*p == '}' && u->depth > 0) {
    u->depth--;
    if (u->depth < UNROLLED_DEPTH) u->here = u->outer[u->depth];
    u->next = 1;
  }
}

/* How many calls GCC gets: as they are written, or with loops unrolled. */
static int count_calls(const char *text, const char *name, bool unrolled) {
  int n = 0;
  size_t len = strlen(name);
  Unrolled u = {.here = 1, .next = 1};
  for (const char *p = text; *p; p++) {
    if (unrolled) walk_unrolled(&u, p);
    bool named = *p == *name && !strncmp(p, name, len) && p[len] == '(';
    if (named && (p == text || !in_name(p[-1]))) n += u.here * u.next;
  }
  return n;
}

static bool is_called(const Prelude *p, const Use *use) {
  const char *text = use->helper->text;
  bool stores = strstr(text, "EACH_LANE(i) store_$t(") != NULL;
  if (!stores && !strstr(text, "EACH_LANE(i) if (m[i])")) return false;
  return count_calls(p->text, use->name, stores) >= CALLED_FROM;
}

/* Puts out the helper, after all that it needs. */
static void need_helper(Prelude *p, const char *name, size_t len) {
  Use use;
  if (len >= MAX_NAME) return;
  Name word = pool_namen(p->names, name, len);
  if (!ir_map_put(&p->done, word, p) || !find_helper(word, len, &use)) return;
  use.name = word;
  Text body = text_new(p->arena);
  expand(&body, p->arena, &use);
  need_all(p, body.data);
  static const char inlined[] = "INLINE";
  size_t skipped = 0;
  text_printf(p->out, "#ifndef NEREID_%s\n#define NEREID_%s\n", use.name, use.name);
  if (!strncmp(body.data, inlined, sizeof inlined - 1) && is_called(p, &use)) {
    text_puts(p->out, "CALLED");
    skipped = sizeof inlined - 1;
  }
  text_printf(p->out, "%s#endif\n", body.data + skipped);
}

static void need_all(Prelude *p, const char *text) {
  for (const char *s = text; *s;) {
    if (s[0] == '/' && s[1] == '*') {
      s = strstr(s, "*/");
      continue;
    }
    if (!in_name(*s)) {
      s++;
      continue;
    }
    const char *start = s;
    while (in_name(*s)) s++;
    need_helper(p, start, (size_t)(s - start));
  }
}

static const char head[] =
    "#ifndef LANES\n"
    "#define LANES %d\n"
    "#include <stdbool.h>\n"
    "#include <stddef.h>\n"
    "#include <stdint.h>\n"
    "/* Without this, GCC computes the lanes in two halves and joins the halves in memory. */\n"
    "#if LANES >= 8 && defined(__AVX512F__) && !defined(__clang__)\n"
    "#pragma GCC target(\"prefer-vector-width=512\")\n"
    "#endif\n"
    "#if defined(__AVX512F__)\n"
    "#define REGISTER_BITS 512\n"
    "#elif defined(__AVX2__)\n"
    "#define REGISTER_BITS 256\n"
    "#else\n"
    "#define REGISTER_BITS 128\n"
    "#endif\n"
    "#define VECTOR(T) __attribute__((vector_size(LANES * sizeof(T))))\n"
    "typedef int8_t vi8 VECTOR(int8_t);\n"
    "typedef int16_t vi16 VECTOR(int16_t);\n"
    "typedef int32_t vi32 VECTOR(int32_t);\n"
    "typedef int64_t vi64 VECTOR(int64_t);\n"
    "typedef uint8_t vu8 VECTOR(uint8_t);\n"
    "typedef uint16_t vu16 VECTOR(uint16_t);\n"
    "typedef uint32_t vu32 VECTOR(uint32_t);\n"
    "typedef uint64_t vu64 VECTOR(uint64_t);\n"
    "typedef float vf32 VECTOR(float);\n"
    "typedef double vf64 VECTOR(double);\n"
    "#define EACH_LANE(i) for (int i = 0; i < LANES; i++)\n"
    "#if LANES == 4\n"
    "#define REPEAT(x) x, x, x, x\n"
    "#define FIRST_LANES 0, 1, 2, 3\n"
    "#elif LANES == 8\n"
    "#define REPEAT(x) x, x, x, x, x, x, x, x\n"
    "#define FIRST_LANES 0, 1, 2, 3, 4, 5, 6, 7\n"
    "#else\n"
    "#define REPEAT(x) x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x\n"
    "#define FIRST_LANES 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15\n"
    "#endif\n"
    /* Some helpers are for machines of one kind, which the C compiler knows. */
    "#define INLINE static inline __attribute__((always_inline, unused))\n"
    "#define CALLED static __attribute__((noinline))\n"
    "#ifdef __clang__\n"
    "#define COMMON CALLED\n"
    "#else\n"
    "#define COMMON static __attribute__((noinline, noclone))\n"
    "#endif\n"
    "#define RARE static __attribute__((noinline, cold, unused))\n"
    "#ifdef __clang__\n"
    "#define UNROLL(n) _Pragma(\"clang loop unroll(full)\")\n"
    "#else\n"
    "#define PRAGMA(x) _Pragma(#x)\n"
    "#define UNROLL(n) PRAGMA(GCC unroll n)\n"
    "#endif\n"
    "#endif\n";

void c_prelude(Text *out, Arena *a, const char *text, int lanes) {
  Prelude p = {out, a, ir_map_new(a), pool_new(a), text};
  text_printf(out, head, lanes);
  need_all(&p, text);
}
