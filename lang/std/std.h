/* The standard library of the kernel language: lang/std/NAME.py. */
#ifndef NEREID_LANG_STD_STD_H
#define NEREID_LANG_STD_STD_H

#include "lang/base/embedded.h"

extern const EmbeddedFile std_files[];

#endif
