/* Shared by the printer and the reader of loop nests; the grammar is in docs/nest-text.md, its
 * short form in lower/nest/nest.h. */
#ifndef NEREID_LOWER_NEST_NEST_TEXT_H
#define NEREID_LOWER_NEST_NEST_TEXT_H

#include "lower/nest/nest.h"

/* Blocks nest this deep at most (the reader and the verifier refuse more), so walks may recurse. */
enum { NEST_MAX_DEPTH = 200 };

/* Reads `[128 = 2@warp:4 8@lane:4 8@reg:1, 64] * 2@warp:1 xor 3,4,3` from s[0..len).  Returns the
 * end of the layout; NULL if there is none, with *bad at the first byte that fits no layout.
 * Numbers are limited so that no sum or product over a layout overflows. */
const char *layout_scan(const char *s, size_t len, Layout *out, const char **bad);
/* Parses a layout at the reader's position. */
bool layout_parse(IrReader *r, Layout *out);

/* How a statement is written.  All have `dsts = name mems, srcs {attributes} if guard : type`;
 * these differ. */
typedef enum {
  FORM_PLAIN,
  FORM_LOOP,   /* unroll a:4 { } */
  FORM_FOR,    /* for %i = lo to hi step st {attributes} : i32 { } */
  FORM_WHILE,  /* while %c { } do { } */
  FORM_IF,     /* if %c { } else { } */
  FORM_REGION, /* role {attributes} { } */
  FORM_NEST,   /* nest {attributes} i:128, j:64 [layout] { } */
  FORM_COMBINE /* reduce %v {attributes} (%a, %b) { } */
} NestForm;

NestForm nest_form(NestCode c);

#endif
