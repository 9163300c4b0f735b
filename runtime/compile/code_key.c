#include "runtime/compile/code_key.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/compile/compilation.h"
#include "runtime/compile/config.h"
#include "runtime/compile/language.h"

/* PTX's directives for debuggers. */
static bool is_debug_line(const char *line, const char *end) {
  static const char *const words[] = {".loc ", ".file "};
  while (line < end && (*line == '\t' || *line == ' ')) line++;
  for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
    size_t n = strlen(words[i]);
    if ((size_t)(end - line) >= n && !memcmp(line, words[i], n)) return true;
  }
  return false;
}

static size_t drop_lines(char *to, const char *text, size_t size) {
  const char *begin = to, *end = text + size;
  for (const char *line = text, *next; line < end; line = next) {
    const char *stop = memchr(line, '\n', (size_t)(end - line));
    next = stop ? stop + 1 : end;
    if (is_debug_line(line, next)) continue;
    memcpy(to, line, (size_t)(next - line));
    to += next - line;
  }
  return (size_t)(to - begin);
}

/* C names source locations in comments.  A string or a character may look like one. */
static size_t drop_comments(char *to, const char *text, size_t size) {
  const char *begin = to, *end = text + size;
  char quote = 0;
  for (const char *s = text; s < end; s++) {
    const char *close = NULL;
    if (!quote && end - s > 3 && s[0] == '/' && s[1] == '*')
      close = memmem(s + 2, (size_t)(end - s - 2), "*/", 2);
    if (close) {
      s = close + 1;
      continue;
    }
    if (quote && *s == '\\' && s + 1 < end) *to++ = *s++;
    else if (*s == quote) quote = 0;
    else if (!quote && (*s == '"' || *s == '\'')) quote = *s;
    *to++ = *s;
  }
  return (size_t)(to - begin);
}

static bool add_code(KeyMaker *k, const ImageVariant *v) {
  if (v->kind == NEREID_CUBIN) {
    cache_key_add(k, v->code, v->size);
    return true;
  }
  char *kept = malloc(v->size + 1);
  if (!kept) return false;
  cache_key_add(k, kept,
                (v->kind == NEREID_C ? drop_comments : drop_lines)(kept, v->code, v->size));
  free(kept);
  return true;
}

static void add_map(KeyMaker *k, const ImageMap *m) {
  const int numbers[] = {m->bytes, m->rank, m->nnatural};
  cache_key_add(k, numbers, sizeof numbers);
  cache_key_add(k, m->box, sizeof m->box);
  cache_key_add(k, m->natural, (size_t)m->nnatural * sizeof *m->natural);
  for (int i = 0; i < m->rank; i++) {
    cache_key_text(k, m->extent[i].text);
    cache_key_text(k, m->stride[i].text);
  }
}

static bool add_variant(KeyMaker *k, const ImageVariant *v) {
  const int numbers[] = {v->kind, v->threads, v->cluster, v->nslots, v->has_grid};
  cache_key_text(k, v->target);
  cache_key_text(k, v->entry);
  cache_key_add(k, numbers, sizeof numbers);
  cache_key_add(k, &v->shared, sizeof v->shared);
  for (int i = 0; i < v->nslots; i++) {
    const ImageSlot *s = &v->slots[i];
    const int slot[] = {s->kind, s->param};
    cache_key_add(k, slot, sizeof slot);
    bool computed = s->kind != SLOT_ARG && s->kind != SLOT_MAP;
    cache_key_text(k, computed ? s->expr.text : "");
    if (s->kind == SLOT_MAP) add_map(k, s->map);
  }
  for (int i = 0; i < 3; i++) cache_key_text(k, v->has_grid ? v->grid[i].text : "");
  return add_code(k, v);
}

CacheKey code_key(const nereid_image *image) {
  KeyMaker *k = cache_key_start();
  bool ok = true;
  for (int i = 0; i < image->nvariants && ok; i++) ok = add_variant(k, image->variants[i]);
  CacheKey key = cache_key_end(k);
  return ok ? key : (CacheKey){{0}};
}

int nereid_image_key(char *out, size_t size, const nereid_image *image) {
  REQUIRE(out);
  REQUIRE(image);
  const CacheKey key = code_key(image), none = {{0}};
  char digits[2 * sizeof key.bytes + 1];
  snprintf(out, size, "%s", "");
  if (!memcmp(&key, &none, sizeof key)) return error_out_of_memory();
  for (size_t i = 0; i < sizeof key.bytes; i++) snprintf(digits + 2 * i, 3, "%02x", key.bytes[i]);
  snprintf(out, size, "%s", digits);
  return 0;
}

/* ---- requests ---- */

static void key_add_text(KeyMaker *k, const char *text) { cache_key_text(k, text ? text : ""); }

void request_key_add(KeyMaker *k, const nereid_request *r) {
  Language language;
  language_of_request(&language, r); /* compiling reports a name that is no version */
  const int numbers[] = {r->nargs, (int)language};
  key_add_text(k, r->kernel);
  key_add_text(k, r->symbol);
  cache_key_add(k, numbers, sizeof numbers);
  nereid_request options = *r;
  for (int i = 0; i < OPTION_COUNT; i++) {
    const OptionRow *row = &option_rows[i];
    const int *number = request_number(&options, row);
    if (number) cache_key_add(k, number, sizeof *number);
    else key_add_text(k, *request_word(&options, row));
  }
  for (int i = 0; i < r->nargs; i++) {
    key_add_text(k, r->args[i].name);
    key_add_text(k, r->args[i].type);
    key_add_text(k, r->args[i].value);
  }
}

/* ---- tile IR ---- */

typedef struct {
  Compilation compilation;
  CacheKey *key;
} Hash;

static int hash_body(void *arg) {
  Hash *h = arg;
  const Compilation *c = &h->compilation;
  Text text = text_new(c->arena);
  /* Without source locations, which comments move. */
  tile_print(&text, c->unit->tile, diags_new(c->arena));
  KeyMaker *k = cache_key_start();
  cache_key_add(k, text.data, text.len);
  *h->key = cache_key_end(k);
  return 0;
}

int request_ir_key(CacheKey *out, const nereid_request *of) {
  Hash h = {.key = out};
  Compilation *c = &h.compilation;
  nereid_request r = *of;
  *out = (CacheKey){{0}};
  r.symbol = "kernel";
  int code = compile_open(c, &r.source, false);
  if (!code) code = compile_specialize(c, &r);
  if (!code && c->unit->tile) code = compile_guard(c, COMPILE_CODE, hash_body, &h);
  code = compile_report(c, code, r.on_message, r.context);
  compile_close(c);
  return code;
}
