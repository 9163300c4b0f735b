#include "cli/report/explain_page.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/report/chart.h"
#include "cli/terminal/markup.h"

typedef struct {
  Text *out;
  const Explained *e;
  Arena *arena;
  uint32_t nlines; /* of the source, or of the facts if there is no source; and 1 */
  char anchor;     /* of the pane that a click on a line goes to: the source, or the facts */
  bool *used;      /* by source line: some other text has a line of it */
  int file;        /* the source's number in the code; 0: it has none */
} Page;

/* ---- source lines of the lines of a text ---- */

/* Where a text is: lines of IR without a location have none, later ones may leave out the parts
 * that the location before has, too (docs/nest-text.md); code names the line of its next
 * instructions. */
typedef struct {
  bool code;
  bool own;      /* the location before is in the kernel's file */
  uint32_t line;
} Place;

static const char *line_end(const char *at) { return at + strcspn(at, "\n"); }

/* The last " @7:3", " @3" or " @\"file\":7:3" of a line; NULL: none. */
static const char *find_location(const char *at, const char *end) {
  const char *found = NULL;
  for (; at + 2 < end; at++)
    if (at[0] == ' ' && at[1] == '@' && (at[2] == '"' || (at[2] >= '0' && at[2] <= '9')))
      found = at + 2;
  return found;
}

static bool is_own_file(const Page *p, const char *name, size_t n) {
  const Source *s = p->e->source;
  return s && strlen(s->name) == n && !memcmp(s->name, name, n);
}

static uint32_t line_of_ir(const Page *p, Place *w, const char *at, const char *end) {
  const char *x = find_location(at, end);
  if (!x) return 0;
  if (*x == '"') {
    const char *close = memchr(x + 1, '"', (size_t)(end - x - 1));
    if (!close) return 0;
    w->own = is_own_file(p, x + 1, (size_t)(close - x - 1));
    x = close + 2;
  }
  char *rest;
  unsigned long v = strtoul(x, &rest, 10);
  if (*rest == ':') w->line = (uint32_t)v;
  return w->own ? w->line : 0;
}

static uint32_t line_of_code(Page *p, Place *w, const char *at, const char *end) {
  int file;
  unsigned line;
  if (sscanf(at, ".file %d \"", &file) == 1) {
    const char *name = memchr(at, '"', (size_t)(end - at));
    if (name && is_own_file(p, name + 1, (size_t)(end - name - 2))) p->file = file;
    return 0;
  }
  if (sscanf(at, "\t.loc %d %u", &file, &line) == 2) w->line = file == p->file ? line : 0;
  return *at == '\t' ? w->line : 0;
}

static uint32_t source_line(Page *p, Place *w, const char *at, const char *end) {
  uint32_t line = w->code ? line_of_code(p, w, at, end) : line_of_ir(p, w, at, end);
  return line < p->nlines ? line : 0;
}

/* ---- panes ---- */

static void put_code(Page *p, const char *at, const char *end) {
  char *copy = arena_strndup(p->arena, at, (size_t)(end - at));
  markup_text(p->out, *copy ? copy : " ");
}

/* A line that a click on marks, with all others of its source line. */
static void put_line(Page *p, char pane, uint32_t line, bool first, const char *at,
                     const char *end) {
  Text *out = p->out;
  if (!line) {
    text_puts(out, "<span>");
    put_code(p, at, end);
    text_puts(out, "</span>\n");
    return;
  }
  text_printf(out, "<a class=\"l%u\" href=\"#%c%u\"", line, p->anchor, line);
  if (first) text_printf(out, " id=\"%c%u\"", pane, line);
  text_puts(out, ">");
  put_code(p, at, end);
  text_puts(out, "</a>\n");
}

static bool *put_pane(Page *p, char pane, const char *title, const char *text, bool code) {
  bool *has = ARENA_ARRAY(p->arena, bool, p->nlines);
  Place w = {.code = code};
  if (!text) return has;
  text_printf(p->out, "<section><h2>%s</h2>\n<div class=\"code\">", title);
  for (const char *at = text, *end; *at; at = *end ? end + 1 : end) {
    end = line_end(at);
    uint32_t line = source_line(p, &w, at, end);
    put_line(p, pane, line, !has[line], at, end);
    has[line] = p->used[line] = true;
  }
  text_puts(p->out, "</div></section>\n");
  return has;
}

static void put_source(Page *p) {
  const Source *s = p->e->source;
  Text *out = p->out;
  text_puts(out, "<section><h2>Source</h2>\n<div class=\"code\">");
  uint32_t line = 1;
  for (const char *at = s->text, *end; *at; at = *end ? end + 1 : end, line++) {
    end = line_end(at);
    bool linked = line < p->nlines && p->used[line];
    text_printf(out, "<span class=\"l%u\" id=\"s%u\">", line, line);
    text_printf(out, linked ? "<a href=\"#f%u\">%4u</a> " : "<i>%*u</i> ", linked ? line : 4, line);
    put_code(p, at, end);
    text_puts(out, "</span>\n");
  }
  text_puts(out, "</div></section>\n");
}

static uint32_t count_lines(const char *text) {
  uint32_t n = 2;
  for (; *text; text++) n += *text == '\n';
  return n;
}

static void count_page_lines(Page *p) {
  const Source *s = p->e->source;
  const Explanation *x = p->e->explanation;
  bool has_source = s && s->text;
  p->anchor = has_source ? 's' : 'f';
  p->nlines = has_source ? count_lines(s->text) : 1;
  if (!has_source && x->lines.len) p->nlines = x->lines.data[x->lines.len - 1].line + 1;
}

static void put_line_number(Page *p, uint32_t line) {
  text_printf(p->out, "<tr class=\"l%u\" id=\"f%u\"><th>", line, line);
  text_printf(p->out, p->anchor == 's' ? "<a href=\"#s%u\">%u</a>" : "%u", line, line);
  text_puts(p->out, "</th>");
}

/* ---- what lines do ---- */

typedef struct {
  char pane;
  const char *title;
  bool *has;
} PaneLinks;

static void put_line_facts(Page *p, const PaneLinks *links, int n, const LineReport *r) {
  Text *out = p->out;
  text_puts(out, "<td>");
  for (int k = 0; k < n; k++)
    if (links[k].has[r->line])
      text_printf(out, "<a href=\"#%c%u\">%s</a> ", links[k].pane, r->line, links[k].title);
  text_puts(out, "</td><td><dl>");
  for (size_t k = 0; k < r->facts.len; k++) {
    text_printf(out, "<dt>%s</dt><dd>", r->facts.data[k].name);
    markup_text(out, r->facts.data[k].text);
    text_puts(out, "</dd>");
  }
  text_puts(out, "</dl></td></tr>\n");
}

static void put_facts(Page *p, const PaneLinks *links, int n) {
  const Explanation *x = p->e->explanation;
  size_t at = 0;
  text_puts(p->out, "<section><h2>Lines</h2>\n<table class=\"facts\">\n");
  for (uint32_t line = 1; line < p->nlines; line++) {
    while (at < x->lines.len && x->lines.data[at].line < line) at++; /* without a place */
    bool has = at < x->lines.len && x->lines.data[at].line == line;
    if (!has && !p->used[line]) continue;
    put_line_number(p, line);
    if (has) put_line_facts(p, links, n, &x->lines.data[at++]);
    else text_puts(p->out, "<td></td><td>numbers and addresses alone</td></tr>\n");
  }
  text_puts(p->out, "</table></section>\n");
}

/* ---- the page ---- */

static const char style[] =
    ":root{color-scheme:light dark;--back:#fff;--text:#24292f;--muted:#5b6570;--line:#dfe3e8;"
    "--soft:#f4f6f8;--mark:#fff1b8;--pick:#ffd98a;--copy:#9cc7ee;--read:#9ad6a8}"
    "body{margin:0;padding:1rem;background:var(--back);color:var(--text);"
    "font:15px/1.5 system-ui,sans-serif}"
    "h1{font-size:1.4rem;margin:0 0 .5rem}h2{font-size:1.05rem;margin:1.2rem 0 .4rem}"
    "h3{font-size:.95rem;margin:.8rem 0 .3rem}a{color:inherit}"
    "pre,.code,.facts dl{font:12px/1.45 ui-monospace,monospace}"
    ".panes{display:grid;grid-auto-flow:column;grid-auto-columns:minmax(24rem,1fr);gap:0 .8rem;"
    "overflow-x:auto}"
    ".panes section{min-width:0}"
    ".code{height:70vh;overflow:auto;border:1px solid var(--line);background:var(--soft);"
    "scroll-behavior:smooth}"
    ".code>*{display:block;white-space:pre;padding:0 .4rem;min-width:max-content;"
    "text-decoration:none}"
    ".code i,.code span>a{color:var(--muted);font-style:normal}"
    ".facts{border-collapse:collapse;width:100%}.facts td,.facts th{vertical-align:top;"
    "border-top:1px solid var(--line);padding:.25rem .6rem;text-align:left}"
    ".facts dl{display:grid;grid-template-columns:max-content 1fr;gap:0 1rem;margin:0}"
    ".facts dt{color:var(--muted)}.facts dd{margin:0;overflow-wrap:anywhere}"
    ".wide{overflow-x:auto}.ring text{font:11px system-ui,sans-serif;fill:var(--muted)}"
    ".ring text.in{fill:#10202c}.ring .copy{fill:var(--copy)}.ring .read{fill:var(--read)}"
    ".key{padding:0 .4rem;color:#10202c}.key.copy{background:var(--copy)}"
    ".key.read{background:var(--read)}svg.chart{width:100%;max-width:560px;height:auto}"
    "@media screen and (prefers-color-scheme:dark){:root{--back:#16191d;--text:#e6e9ec;"
    "--muted:#a5aeb8;--line:#343b43;--soft:#20252b;--mark:#4a4220;--pick:#6b561c}}"
    "@media print{.code{height:auto;overflow:visible}}";

/* Without a script: a rule for each source line. */
static void put_marks(Page *p) {
  for (uint32_t i = 1; i < p->nlines; i++)
    if (p->used[i])
      text_printf(p->out, "body:has(#%c%u:target) .l%u{background:var(--pick)}"
                  "body:has(.l%u:hover) .l%u{background:var(--mark)}", p->anchor, i, i, i, i);
}

static void begin_page(Page *p) {
  const Nest *n = p->e->explanation->unit->nest;
  Text *out = p->out, totals = text_new(p->arena);
  text_puts(out, "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"/>\n"
                 "<meta http-equiv=\"Content-Security-Policy\" "
                 "content=\"default-src 'none'; style-src 'unsafe-inline'\"/>\n"
                 "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\"/>\n"
                 "<title>");
  markup_text(out, n->name);
  text_printf(out, "</title>\n<style>%s%s", style, chart_style);
  put_marks(p);
  text_puts(out, "</style></head><body>\n<h1>");
  markup_text(out, n->name);
  text_puts(out, "</h1>\n<pre>");
  explanation_print_totals(&totals, p->e->explanation);
  markup_text(out, totals.data);
  text_puts(out, "</pre>\n");
}

void explain_page(Text *out, const Explained *e) {
  Text panes = text_new(out->arena);
  Page p = {.out = &panes, .e = e, .arena = out->arena};
  count_page_lines(&p);
  p.used = ARENA_ARRAY(p.arena, bool, p.nlines);
  const PaneLinks links[] = {{'t', "tile", put_pane(&p, 't', "Tile IR", e->tile, false)},
                             {'n', "nest", put_pane(&p, 'n', "Nests", e->nest, false)},
                             {'r', "thread", put_pane(&p, 'r', "A thread", e->thread, false)},
                             {'p', "code", put_pane(&p, 'p', "Code", e->ptx, true)}};
  p.out = out;
  begin_page(&p);
  text_puts(out, "<div class=\"panes\">\n");
  if (p.anchor == 's') put_source(&p);
  text_putn(out, panes.data, panes.len);
  text_puts(out, "</div>\n");
  put_facts(&p, links, 4);
  explain_rings(out, e->explanation);
  explain_roofline(out, e->explanation);
  text_puts(out, "</body></html>\n");
}
