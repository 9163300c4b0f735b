/* Images as bytes.  Lines of words, then the code of each variant:
 *
 *   nereid image 1
 *   name "softmax"
 *   param "x_ptr" *f32 written
 *   variant "sm_90a" ptx "softmax" threads 128 shared 512
 *   file "softmax.tile"
 *   guard "n % 16 == 0"
 *   slot arg 0
 *   slot value "n * 4"
 *   slot map 0 bytes 2 axis 64 "k" "2" axis 128 "m" "2 * stride"
 *   grid "cdiv(grid_x, 2)" "grid_y" "grid_z"
 *   noalias 0 1 same
 *   bounds 0 "4 * span(0, n)"
 *   certain 0 "4 * min(n, grid_x * 256)"
 *   deep 8 "max(0, cdiv(k, 64))", or with loops over programs: loops 8 "max(0, cdiv(k, 64))"
 *   ordered 3120
 *   ... 3120 bytes and a newline
 *   code 2311
 *   ... 2311 bytes and a newline
 *   end 89abcdef01234567        (xxh64 of all bytes before this line)
 *
 * Reading trusts nothing: whatever is not as above is refused. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "lang/base/strings.h"
#include "runtime/image/image.h"
#include "runtime/messages.h"
#include "runtime/support/error.h"
#include "runtime/support/files.h"

static const char *const slot_words[] = {"arg", "value", "scratch", "zeroed", "map"};

/* ---- writing ---- */

static void write_map_slot(Text *t, const ImageSlot *s) {
  const ImageMap *m = s->map;
  text_printf(t, "slot map %d bytes %d", s->param, m->bytes);
  for (int i = 0; i < m->rank; i++) {
    text_printf(t, " axis %d ", m->box[i]);
    text_quote(t, m->extent[i].text);
    text_puts(t, " ");
    text_quote(t, m->stride[i].text);
  }
  for (int i = 0; i < m->nnatural; i++) text_printf(t, " natural %d", m->natural[i]);
  text_puts(t, "\n");
}

static void write_slot(Text *t, const ImageSlot *s) {
  if (s->kind == SLOT_MAP) {
    write_map_slot(t, s);
    return;
  }
  if (s->kind == SLOT_ARG) {
    text_printf(t, "slot arg %d\n", s->param);
    return;
  }
  text_printf(t, "slot %s ", slot_words[s->kind]);
  text_quote(t, s->expr.text);
  text_puts(t, "\n");
}

/* Bytes after their number. */
static void write_bytes(Text *t, const char *word, const char *data, size_t size) {
  text_printf(t, "%s %zu\n", word, size);
  text_putn(t, data, size);
  text_puts(t, "\n");
}

static void write_reach(Text *t, const char *word, const IntExpr *of_params, int nparams) {
  for (int i = 0; of_params && i < nparams; i++) {
    if (!of_params[i].text) continue;
    text_printf(t, "%s %d ", word, i);
    text_quote(t, of_params[i].text);
    text_puts(t, "\n");
  }
}

static void write_variant(Text *t, const ImageVariant *v, int nparams) {
  text_puts(t, "variant ");
  text_quote(t, v->target);
  text_printf(t, " %s ", nereid_kind_name(v->kind));
  text_quote(t, v->entry);
  text_printf(t, " threads %d", v->threads);
  if (v->cluster > 1) text_printf(t, " cluster %d", v->cluster);
  text_printf(t, " shared %lld\n", (long long)v->shared);
  if (v->file) {
    text_puts(t, "file ");
    text_quote(t, v->file);
    text_puts(t, "\n");
  }
  for (int i = 0; i < v->nguards; i++) {
    text_puts(t, "guard ");
    text_quote(t, v->guards[i].text);
    text_puts(t, "\n");
  }
  for (int i = 0; i < v->nslots; i++) write_slot(t, &v->slots[i]);
  if (v->has_grid) {
    text_puts(t, "grid");
    for (int i = 0; i < 3; i++) {
      text_puts(t, " ");
      text_quote(t, v->grid[i].text);
    }
    text_puts(t, "\n");
  }
  if (v->source) {
    text_puts(t, "source ");
    text_quote(t, v->source_name);
    text_printf(t, " %zu\n", v->source_size);
    text_putn(t, v->source, v->source_size);
    text_puts(t, "\n");
  }
  for (int i = 0; i < v->nnoalias; i++)
    text_printf(t, "noalias %d %d%s\n", v->noalias[i].a, v->noalias[i].b,
                v->noalias[i].or_same ? " same" : "");
  write_reach(t, "bounds", v->bounds, nparams);
  write_reach(t, "certain", v->certain, nparams);
  if (v->deep || v->loops) {
    text_printf(t, "%s %d ", v->loops ? "loops" : "deep", v->deep);
    text_quote(t, v->turns.text);
    text_puts(t, "\n");
  }
  if (v->ordered) write_bytes(t, "ordered", v->ordered, v->ordered_size);
  write_bytes(t, "code", v->code, v->size);
}

static void write_image(Text *t, const nereid_image *image) {
  text_puts(t, "nereid image 1\nname ");
  text_quote(t, image->name);
  text_puts(t, "\n");
  for (int i = 0; i < image->nparams; i++) {
    text_puts(t, "param ");
    text_quote(t, image->params[i].name);
    text_puts(t, " ");
    Type type = image->params[i].type;
    text_puts(t, type.dtype != DT_PTR ? "" : type.elem == DT_PTR ? "**" : "*");
    DType elem = (DType)(type.dtype != DT_PTR ? type.dtype : type.elem);
    text_puts(t, elem == DT_PTR ? "i8" : dtype_name(elem));
    text_puts(t, image->params[i].written ? " written\n" : "\n");
  }
  for (int i = 0; i < image->nvariants; i++) write_variant(t, image->variants[i], image->nparams);
  text_printf(t, "end %016" PRIx64 "\n", (uint64_t)XXH64(t->data, t->len, 0));
}

typedef struct {
  Arena *arena;
  const nereid_image *image;
  Text text;
} Writing;

static int write_image_body(void *arg) {
  Writing *w = arg;
  w->text = text_new(w->arena);
  write_image(&w->text, w->image);
  return 0;
}

int nereid_image_bytes(char **out, size_t *size, const nereid_image *image) {
  REQUIRE_OUT(out);
  REQUIRE_OUT(size);
  REQUIRE(image);
  Writing w = {.arena = arena_new(), .image = image};
  if (!w.arena) return error_out_of_memory();
  int code = error_guard(w.arena, write_image_body, &w);
  if (!code) code = owned_copy(out, size, w.text.data, w.text.len);
  arena_free(w.arena);
  return code;
}

int nereid_image_save(const nereid_image *image, const char *path) {
  REQUIRE(image);
  REQUIRE(path);
  char *data;
  size_t size;
  FileWriter w;
  int code = nereid_image_bytes(&data, &size, image);
  if (code) return code;
  code = files_create(&w, path);
  if (!code) {
    fwrite(data, 1, size, w.file);
    code = files_commit(&w);
  }
  nereid_text_free(data);
  return code;
}

/* ---- reading ---- */

typedef struct {
  Arena *arena;
  const char *at, *end;
  bool bad;
  const char *name;
  ImageParam params[IMAGE_MAX_PARAMS];
  int nparams;
  nereid_image *image;
} ImageReader;

static bool accept_word(ImageReader *r, const char *w) {
  size_t n = strlen(w);
  if (r->bad || (size_t)(r->end - r->at) < n || memcmp(r->at, w, n)) return false;
  r->at += n;
  return true;
}

static void need(ImageReader *r, const char *w) {
  if (!accept_word(r, w)) r->bad = true;
}

static long long read_bounded(ImageReader *r, long long most) {
  long long v = 0;
  const char *start = r->at;
  while (r->at < r->end && *r->at >= '0' && *r->at <= '9' && v <= most) v = v * 10 + *r->at++ - '0';
  if (r->at == start || v > most) r->bad = true;
  return r->bad ? 0 : v;
}

static int key_hex_digit(char c) {
  return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Reads the output of text_quote. */
static const char *read_quoted(ImageReader *r) {
  need(r, "\"");
  size_t room = 0;
  for (const char *p = r->at; p < r->end && *p != '\n'; p++) room++;
  char *out = arena_alloc(r->arena, room + 1), *to = out;
  while (!r->bad && r->at < r->end && *r->at != '"' && *r->at != '\n') {
    char c = *r->at++;
    if (c != '\\') {
      *to++ = c;
      continue;
    }
    char e = r->at < r->end ? *r->at++ : 0;
    if (e == 'x' && r->end - r->at >= 2 && key_hex_digit(r->at[0]) >= 0 &&
        key_hex_digit(r->at[1]) >= 0) {
      *to++ = (char)(key_hex_digit(r->at[0]) * 16 + key_hex_digit(r->at[1]));
      r->at += 2;
    } else if (e && strchr("\"\\ntr", e)) {
      *to++ = e == 'n' ? '\n' : e == 't' ? '\t' : e == 'r' ? '\r' : e;
    } else {
      r->bad = true;
    }
  }
  need(r, "\"");
  return out;
}

static Type read_param_type(ImageReader *r) {
  int stars = 0;
  while (accept_word(r, "*")) stars++;
  const char *start = r->at;
  while (r->at < r->end && *r->at != ' ' && *r->at != '\n') r->at++;
  DType t = dtype_parse(start, (size_t)(r->at - start));
  if (t == DT_NONE || stars > 2) r->bad = true;
  if (r->bad) return type_scalar(DT_I32);
  return stars == 0 ? type_scalar(t) : type_ptr(stars == 1 ? t : DT_PTR);
}

static void read_image_param(ImageReader *r) {
  if (r->nparams == IMAGE_MAX_PARAMS) {
    r->bad = true;
    return;
  }
  ImageParam *p = &r->params[r->nparams++];
  p->name = read_quoted(r);
  need(r, " ");
  p->type = read_param_type(r);
  p->written = accept_word(r, " written");
  need(r, "\n");
}

static nereid_kind read_code_kind(ImageReader *r) {
  for (int k = NEREID_TILE; k < NEREID_KIND_COUNT; k++) {
    const char *start = r->at;
    if (accept_word(r, nereid_kind_name((nereid_kind)k)) && r->at < r->end && *r->at == ' ')
      return (nereid_kind)k;
    r->at = start;
  }
  r->bad = true;
  return NEREID_PTX;
}

static void read_map_slot(ImageReader *r, ImageSlot *s) {
  enum { MOST_BOX = 256, MOST_BYTES = 8 };
  ImageMap *m = s->map = ARENA_NEW(r->arena, ImageMap);
  s->param = (int)read_bounded(r, r->nparams - 1);
  need(r, " bytes ");
  m->bytes = (int)read_bounded(r, MOST_BYTES);
  while (m->rank < IMAGE_MAP_RANK && accept_word(r, " axis ")) {
    m->box[m->rank] = (int)read_bounded(r, MOST_BOX);
    need(r, " ");
    m->extent[m->rank].text = read_quoted(r);
    need(r, " ");
    m->stride[m->rank++].text = read_quoted(r);
  }
  while (m->nnatural < IMAGE_NATURAL && accept_word(r, " natural "))
    m->natural[m->nnatural++] = (int)read_bounded(r, r->nparams - 1);
  r->bad |= !m->rank;
}

static void read_slot(ImageReader *r, ImageSlot *s) {
  for (int k = SLOT_ARG; k <= SLOT_MAP; k++)
    if (accept_word(r, slot_words[k])) {
      s->kind = (SlotKind)k;
      need(r, " ");
      if (s->kind == SLOT_ARG) s->param = (int)read_bounded(r, r->nparams - 1);
      else if (k == SLOT_MAP) read_map_slot(r, s);
      else s->expr.text = read_quoted(r);
      need(r, "\n");
      return;
    }
  r->bad = true;
}

static void read_grid(ImageReader *r, ImageVariant *v) {
  v->has_grid = true;
  for (int i = 0; i < 3; i++) {
    v->grid[i].text = read_quoted(r);
    need(r, i < 2 ? " " : "\n");
  }
}

/* A size, and that many bytes. */
static const char *read_bytes(ImageReader *r, size_t *size) {
  *size = (size_t)read_bounded(r, r->end - r->at);
  need(r, "\n");
  if (r->bad || (size_t)(r->end - r->at) < *size) {
    r->bad = true;
    return NULL;
  }
  const char *bytes = r->at;
  r->at += *size;
  need(r, "\n");
  return bytes;
}

static void read_variant_source(ImageReader *r, ImageVariant *v) {
  v->source_name = read_quoted(r);
  need(r, " ");
  v->source = read_bytes(r, &v->source_size);
}

static ImageNoAlias read_noalias_pair(ImageReader *r) {
  ImageNoAlias x = {.a = (int)read_bounded(r, r->nparams - 1)};
  need(r, " ");
  x.b = (int)read_bounded(r, r->nparams - 1);
  x.or_same = accept_word(r, " same");
  need(r, "\n");
  return x;
}

/* An expression of a parameter. */
static void read_expression_of(ImageReader *r, IntExpr **all) {
  if (!*all) *all = ARENA_ARRAY(r->arena, IntExpr, (size_t)r->nparams);
  int i = (int)read_bounded(r, r->nparams - 1);
  need(r, " ");
  const char *text = read_quoted(r);
  need(r, "\n");
  if (!r->bad) (*all)[i].text = text;
}

/* A quoted text that ends its line. */
static const char *read_line_quoted(ImageReader *r) {
  const char *text = read_quoted(r);
  need(r, "\n");
  return text;
}

static void read_deep(ImageReader *r, ImageVariant *v, bool loops) {
  v->loops = loops;
  v->deep = (int)read_bounded(r, 64);
  need(r, " ");
  v->turns.text = read_line_quoted(r);
}

static void read_variant_line(ImageReader *r, ImageVariant *v) {
  enum { CLUSTER_MOST = 16 };
  v->target = read_quoted(r);
  need(r, " ");
  v->kind = read_code_kind(r);
  need(r, " ");
  v->entry = read_quoted(r);
  need(r, " threads ");
  v->threads = (int)read_bounded(r, 1 << 16);
  if (accept_word(r, " cluster ")) v->cluster = (int)read_bounded(r, CLUSTER_MOST);
  need(r, " shared ");
  v->shared = read_bounded(r, 1LL << 40);
  need(r, "\n");
}

static int read_variant(ImageReader *r) {
  ImageVariant v = {0};
  VEC(IntExpr) guards = {0};
  VEC(ImageSlot) slots = {0};
  VEC(ImageNoAlias) noalias = {0};
  read_variant_line(r, &v);
  while (!r->bad && !accept_word(r, "code ")) {
    IntExpr guard = {0};
    ImageSlot slot = {0};
    if (accept_word(r, "file ")) {
      v.file = read_line_quoted(r);
    } else if (accept_word(r, "guard ")) {
      guard.text = read_line_quoted(r);
      vec_push(r->arena, &guards, guard);
    } else if (accept_word(r, "slot ")) {
      read_slot(r, &slot);
      vec_push(r->arena, &slots, slot);
    } else if (accept_word(r, "grid ")) {
      read_grid(r, &v);
    } else if (accept_word(r, "source ")) {
      read_variant_source(r, &v);
    } else if (accept_word(r, "noalias ")) {
      ImageNoAlias pair = read_noalias_pair(r);
      vec_push(r->arena, &noalias, pair);
    } else if (accept_word(r, "bounds ")) {
      read_expression_of(r, &v.bounds);
    } else if (accept_word(r, "certain ")) {
      read_expression_of(r, &v.certain);
    } else if (accept_word(r, "deep ")) {
      read_deep(r, &v, false);
    } else if (accept_word(r, "loops ")) {
      read_deep(r, &v, true);
    } else if (accept_word(r, "ordered ")) {
      v.ordered = read_bytes(r, &v.ordered_size);
    } else {
      r->bad = true;
    }
  }
  v.code = read_bytes(r, &v.size);
  if (r->bad || slots.len > IMAGE_MAX_PARAMS) return NEREID_E_FILE;
  v.guards = guards.data, v.nguards = (int)guards.len;
  v.slots = slots.data, v.nslots = (int)slots.len;
  v.noalias = noalias.data, v.nnoalias = (int)noalias.len;
  return image_add_variant(r->image, &v, true);
}

/* The line `end HASH` closes the file and vouches for the rest. */
static bool check_end(const char *data, size_t size) {
  enum { END = 4 + 16 + 1 };
  if (size < END || memcmp(data + size - END, "end ", 4) || data[size - 1] != '\n') return false;
  uint64_t hash = 0;
  for (int i = 0; i < 16; i++) {
    int d = key_hex_digit(data[size - 17 + (size_t)i]);
    if (d < 0) return false;
    hash = hash << 4 | (uint64_t)d;
  }
  return hash == XXH64(data, size - END, 0);
}

static int read_image_body(void *arg) {
  ImageReader *r = arg;
  need(r, "nereid image 1\nname ");
  r->name = read_quoted(r);
  need(r, "\n");
  while (!r->bad && accept_word(r, "param ")) read_image_param(r);
  if (r->bad) return NEREID_E_FILE;
  int code = image_new(&r->image, r->name, r->params, r->nparams);
  while (!code && !r->bad && accept_word(r, "variant ")) code = read_variant(r);
  return code ? code : !r->bad && accept_word(r, "end ") ? 0 : NEREID_E_FILE;
}

static int read_image(nereid_image **out, const char *name, const char *data, size_t size) {
  *out = NULL;
  if (!check_end(data, size)) return error_set(NEREID_E_FILE, E_RUN_IMAGE_FILE, name);
  ImageReader *r = calloc(1, sizeof *r);
  if (!r) return error_out_of_memory();
  r->arena = arena_new();
  r->at = data;
  r->end = data + size;
  int code = r->arena ? error_guard(r->arena, read_image_body, r) : error_out_of_memory();
  if (code == NEREID_E_FILE) code = error_set(NEREID_E_FILE, E_RUN_IMAGE_FILE, name);
  if (code) nereid_image_free(r->image);
  else *out = r->image;
  arena_free(r->arena);
  free(r);
  return code;
}

int nereid_image_from_bytes(nereid_image **out, const void *data, size_t size) {
  REQUIRE_OUT(out);
  REQUIRE(data);
  return read_image(out, "<bytes>", data, size);
}

int nereid_image_load(nereid_image **out, const char *path) {
  REQUIRE_OUT(out);
  REQUIRE(path);
  Arena *a = arena_new();
  if (!a) return error_out_of_memory();
  const char *data;
  size_t size;
  int code = files_read(a, path, &data, &size);
  if (!code) code = read_image(out, path, data, size);
  arena_free(a);
  return code;
}
