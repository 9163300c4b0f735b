/* The text and the verifier of loop nests.  tests/lower/nest/ has the cases:
 *   X.nest, X.thread          print, parse, print gives the same text, and it is that of the file
 *   errors/X + errors/X.err   what the reader or the verifier says about it
 * `nest --update` rewrites the .err files. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lower/nest/nest.h"
#include "lower/target/atoms.h"
#include "tests/support/tally.h"

static const char *read_file(Arena *a, const char *path, size_t *len) {
  FILE *f = fopen(path, "rb");
  Text t = text_new(a);
  char buf[4096];
  for (size_t n; f && (n = fread(buf, 1, sizeof buf, f));) text_putn(&t, buf, n);
  if (f) fclose(f);
  *len = t.len;
  return t.data;
}

typedef struct {
  Arena *arena;
  Pool *names;
  Diags *diags;
} Context;

static Context context_new(void) {
  Arena *a = arena_new();
  return (Context){a, pool_new(a), diags_new(a)};
}

static Nest *parse(Context *c, const char *name, const char *text, size_t len) {
  size_t at = 0;
  return nest_parse(c->arena, c->names, c->diags,
                    diag_source(c->diags, pool_name(c->names, name), text, len), &at);
}

static const char *print(Context *c, const Nest *n) {
  Text t = text_new(c->arena);
  nest_print(&t, n, c->diags);
  return t.data;
}

static const char *messages(Context *c) {
  Text t = text_new(c->arena);
  diag_print(c->diags, &t);
  return t.data;
}

/* The text behind the comment lines at the start. */
static const char *skip_comments(const char *s) {
  while (*s == '#') s = strchr(s, '\n') + 1;
  return s;
}

static void report_difference(const char *name, const char *want, const char *got) {
  size_t i = 0, line = 1;
  for (; want[i] && want[i] == got[i]; i++) line += want[i] == '\n';
  while (i && want[i - 1] != '\n') i--;
  printf("FAIL %s: line %zu\n  want %.*s\n  got  %.*s\n", name, line, (int)strcspn(want + i, "\n"),
         want + i, (int)strcspn(got + i, "\n"), got + i);
}

static void check_text(const char *name, const char *want, const char *got) {
  if (strcmp(want, got)) failed++, report_difference(name, want, got);
  else passed++;
}

static void round_trip(const char *path, const char *name) {
  Context c = context_new();
  size_t len;
  const char *text = read_file(c.arena, path, &len);
  Nest *n = parse(&c, name, text, len);
  bool legal = n && nest_verify(n, c.diags);
  if (!legal) {
    printf("FAIL %s\n%s", path, messages(&c));
    failed++;
  } else {
    const char *once = print(&c, n);
    check_text(name, skip_comments(text), once);
    Context c2 = context_new();
    Nest *again = parse(&c2, "again", once, strlen(once));
    if (again) check_text(name, once, print(&c2, again));
    else check_got(false, name, messages(&c2));
    arena_free(c2.arena);
  }
  arena_free(c.arena);
}

static void error_case(const char *path, const char *name, bool update) {
  Context c = context_new();
  size_t len;
  char *expected = arena_printf(c.arena, "%.*s.err", (int)(strrchr(path, '.') - path), path);
  const char *text = read_file(c.arena, path, &len);
  Nest *n = parse(&c, name, text, len);
  if (n) nest_verify(n, c.diags);
  const char *got = messages(&c);
  if (update) {
    FILE *f = fopen(expected, "w");
    fputs(got, f);
    fclose(f);
  }
  check_got(diag_errors(c.diags) > 0, name, "no error");
  check_text(name, read_file(c.arena, expected, &len), got);
  arena_free(c.arena);
}

static bool ends_in(const char *s, const char *end) {
  size_t n = strlen(s), m = strlen(end);
  return n > m && !strcmp(s + n - m, end);
}

static void each_file(const char *folder, bool errors, bool update) {
  struct dirent **list;
  int n = scandir(folder, &list, NULL, alphasort);
  for (int i = 0; i < n; i++) {
    const char *name = list[i]->d_name;
    char path[512];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    if (ends_in(name, ".nest") || ends_in(name, ".thread")) {
      if (errors) error_case(path, name, update);
      else round_trip(path, name);
    }
    free(list[i]);
  }
  if (n >= 0) free(list);
  else check_got(false, folder, "cannot be read");
}

/* Statements that a program built, not a file. */
static void building(void) {
  Context c = context_new();
  Nest *n = nest_new(c.arena, c.names, "built", options_default(), NEST_LEVEL_THREAD);
  NestVar *a = nest_var(n, "acc", DT_F32, DT_NONE, 4, false);
  NestVar *b = nest_var(n, "acc", DT_F32, DT_NONE, 4, false);
  NestVar *unnamed = nest_var(n, NULL, DT_I32, DT_NONE, 1, true);
  check_got(!strcmp(a->name, "acc") && !strcmp(b->name, "acc.1"), "names", "not unique");
  check_got(!strcmp(unnamed->name, "0"), "names", "no number");
  NestBuilder outer = {.nest = n, .block = n->body};
  NestStmt *loops[2];
  for (int i = 0; i < 2; i++) { /* two loops, one in the other, whose indices have one name */
    loops[i] = nest_stmt(&outer, NEST_UNROLL, 0, 0);
    loops[i]->index = nest_index(n, "i", 2);
    outer.block = nest_block(n, loops[i]);
  }
  Affine sub = affine_index(loops[0]->index, 2), inner = affine_index(loops[1]->index, 1);
  check_got(affine_add(&sub, &inner), "affine", "add");
  nest_op(&outer, TILE_ADD, DT_F32, ref_sub(a, sub), ref_sub(b, sub), ref_float(1), ref_none());
  Context c2 = context_new();
  const char *once = print(&c, n);
  check_got(strstr(once, "%acc[2*i + i_1] = add %acc.1[2*i + i_1], 1.0 : f32") != NULL, "built",
            once);
  Nest *again = parse(&c2, "built", once, strlen(once));
  check_got(again && !strcmp(once, print(&c2, again)), "built", "round trip");
  affine_scale(&sub, -1);
  inner = affine_index(loops[1]->index, 1);
  check_got(affine_add(&sub, &inner) && sub.n == 1 && sub.t[0].coef == -2, "affine", "cancel");
  affine_scale(&sub, 0);
  check_got(sub.n == 0 && sub.c == 0, "affine", "scale by 0");
  nest_move_before(loops[1], loops[0]);
  nest_remove(loops[0]);
  check_got(n->body->first == loops[1] && n->body->last == loops[1], "built", "move and remove");
  arena_free(c.arena);
  arena_free(c2.arena);
}

static void expect_error(Nest *n, const char *want) {
  Diags *d = diags_new(n->arena);
  nest_verify(n, d);
  check_got(diag_errors(d) == 1 && !strcmp(diag_get(d, 0)->text, want), "verify", want);
}

/* What only a program can get wrong: the reader refuses it. */
static void verifying(void) {
  Context c = context_new();
  Nest *n = nest_new(c.arena, c.names, "k", options_default(), NEST_LEVEL_THREAD);
  NestBuilder b = {.nest = n, .block = n->body};
  NestVar *v = nest_var(n, "v", DT_I32, DT_NONE, 4, false);
  Affine sub = affine_index(nest_index(n, "a", 4), 1);
  nest_op(&b, TILE_NEG, DT_I32, ref_sub(v, sub), ref_int(1), ref_none(), ref_none());
  expect_error(n, "index `a` is used outside of its loop");
  n = nest_new(c.arena, c.names, "k", options_default(), NEST_LEVEL_THREAD);
  Type tile = {.dtype = DT_F32, .rank = 1, .shape = {128}};
  Layout l = layout_new(&tile);
  layout_push(&l, 0, HW_WARP, 4, 1);
  layout_push(&l, 0, HW_LANE, 32, 1);
  nest_tile_var(n, "v", tile, &l);
  expect_error(n, "`%v` is a tile, which level thread does not have");
  arena_free(c.arena);
}

/* Every atom's operands have their elements once, spread over a warp. */
static void atoms(void) {
  int n;
  const Atom *list = atom_list(&n);
  for (int i = 0; i < n; i++) {
    const int shapes[3][2] = {
        {list[i].m, list[i].k}, {list[i].k, list[i].n}, {list[i].m, list[i].n}};
    bool group = list[i].warps > 1;
    for (int w = 0; w < 3; w++) {
      if (w == 1 && group) continue; /* it is never in registers */
      Layout l = atom_layout(&list[i], w);
      bool fits = l.rank == 2 && !*layout_check(&l, 1, 32);
      for (int axis = 0; fits && axis < 2; axis++) {
        int extent = shapes[w][axis] / (axis == 0 ? list[i].warps : 1);
        fits = l.shape[axis] == extent && layout_padded(&l, axis) == extent;
      }
      int registers = shapes[w][0] * shapes[w][1] / (32 * list[i].warps);
      check_got(fits && layout_span(&l, HW_REG) == registers, list[i].name, "layout");
    }
    check_got(atom_find(list[i].name) == &list[i], list[i].name, "not found");
    const Atom *a = &list[i];
    const Atom *chosen = group ? atom_choose_group(a->a, a->b, a->c, a->tf32, 90, a->pairs)
                               : atom_choose(a->a, a->b, a->c, a->tf32, 90);
    check_got(chosen == &list[i], list[i].name, "not chosen");
  }
  check_got(!atom_choose(DT_F32, DT_F32, DT_F32, TF32_NONE, 90), "f32", "is no tf32");
  const Atom *later = atom_choose_group(DT_F16, DT_F16, DT_F32, TF32_NONE, 100, false);
  check_got(!later, "wgmma", "is of sm_90a alone");
  check_got(!atom_choose(DT_F8E5, DT_F8E5, DT_F32, TF32_NONE, 80), "f8", "needs sm_89");
}

int main(int argc, char **argv) {
  bool update = argc > 1 && !strcmp(argv[1], "--update");
  building();
  verifying();
  atoms();
  each_file("tests/lower/nest", false, update);
  each_file("tests/lower/nest/errors", true, update);
  return report();
}
