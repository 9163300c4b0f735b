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

/* ---- lower and loop-nest IR ---- */

/* ---- codegen ---- */

/* ---- runtime ---- */

/* ---- cli ---- */

#endif
