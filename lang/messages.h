/* Every message that Nereid prints about a user's input, as one list of printf formats.
 *
 * One macro a message: E_ for errors, W_ for warnings, N_ for notes, H_ for hints, then the room
 * (PARSE_, SEMA_, TILE_, LOWER_, GEN_, RUN_, CLI_).  A message says what is wrong in the user's
 * words, names the thing, and where it can, says what to do.  tests/errors/ has a case for each
 * E_ macro; `make lint` names those without one.
 */
#ifndef NEREID_LANG_MESSAGES_H
#define NEREID_LANG_MESSAGES_H

/* ---- parser ---- */

/* ---- sema ---- */

/* ---- tile IR (reader, verifier, interpreter) ---- */

/* the text of both IRs */
#define E_TILE_CHAR "unexpected character with code %u"
#define E_TILE_NUMBER "`%.*s` is no number that fits 64 bits"
#define E_TILE_ESCAPE "unknown escape in a string; known are \\\" \\\\ \\n \\t \\r \\x01 to \\xff"
#define E_TILE_STRING_END "the string is not closed on its line"
#define E_TILE_EXPECTED "expected %s, found %s"
#define E_TILE_INT_RANGE "the integer must be between %lld and %lld"
#define E_TILE_RANK "a tile has at most %d axes"
#define E_TILE_NUMEL "a tile has at most %d elements"
#define E_TILE_FILES "places name more than %d files"
#define E_TILE_ATTR_KIND "expected %s for attribute `%s`"
#define E_TILE_ATTR_TWICE "attribute `%s` is given twice"
#define E_TILE_ATTR_MANY "more than %d attributes"

/* ---- lower and loop-nest IR ---- */

/* ---- codegen ---- */

/* ---- runtime ---- */

/* ---- cli ---- */

#endif
