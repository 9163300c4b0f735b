/* The standard library of the kernel language: lang/std/NAME.py.
 *
 * lang/std owns the functions of the language that are written in it.  It takes no input, and gives
 * the text of each file, which sema parses and inlines as it does a user's function. */
#ifndef NEREID_LANG_STD_STD_H
#define NEREID_LANG_STD_STD_H

#include "lang/base/embedded.h"

extern const EmbeddedFile std_files[];

#endif
