/* Every message that Nereid prints about a user's input, as printf formats, a header a room.
 *
 * One macro a message: E_ for errors, W_ for warnings, N_ for notes, H_ for hints, then what it is
 * about (each header says).  A message says what is wrong in the user's words, names the thing, and
 * where it can, says what to do.  tests/errors/ has a case for each E_ macro; `make lint` names
 * those without one.
 */
#ifndef NEREID_LANG_MESSAGES_H
#define NEREID_LANG_MESSAGES_H

#include "lang/messages/parser.h"
#include "lang/messages/sema.h"
#include "lang/messages/tile.h"
#include "lang/messages/lower.h"
#include "lang/messages/codegen.h"
#include "lang/messages/runtime.h"
#include "lang/messages/tune.h"
#include "lang/messages/graph.h"
#include "lang/messages/cli.h"

#endif
