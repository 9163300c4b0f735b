/* Names of the language that other packages pass on.
 *
 * `from vllm.triton_utils import tl` names a module that is not among the files at hand.  Packages
 * re-export the language under few names, and a name that means nothing else here stands for it:
 *
 *   X.tl, X.triton, X.libdevice             by the last part, whatever X is
 *   X.triton_helpers.math                   by the last two
 *   X.triton.language.extra                 what follows the last `triton`
 */
#include <string.h>

#include "sema/value/context.h"

/* The parent: any, or one whose last part mentions Triton. */
static const struct {
  const char *name, *path;
  bool of_triton;
} rows[] = {
    {"tl", "triton.language", false},
    {"triton", "triton", false},
    {"libdevice", "triton.language.extra.libdevice", false},
    {"tldevice", "triton.language.extra.libdevice", false},
    {"tl_extra_shim", "triton.language.extra.libdevice", false},
    {"tl_math", "triton.language.math", false},
    {"gluon", "triton.experimental.gluon", false},
    {"gl", "triton.experimental.gluon.language", false},
    {"ttgl", "triton.experimental.gluon.language", false},
    {"language", "triton.language", true},
    {"math", "triton.language.math", true},
    {"extra", "triton.language.extra", true},
};

static bool last_part_mentions_triton(const char *path) {
  const char *dot = strrchr(path, '.');
  return strstr(dot ? dot + 1 : path, "triton") != NULL;
}

Name language_passed_on(Pool *names, Name parent, Name name) {
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    if (!strcmp(rows[i].name, name) && (!rows[i].of_triton || last_part_mentions_triton(parent)))
      return pool_name(names, rows[i].path);
  return NULL;
}

Name language_vendored(Pool *names, Name path) {
  const char *last = strrchr(path, '.');
  if (!last) return NULL;
  static const char part[] = ".triton.";
  const char *found = NULL;
  for (const char *at = path; (at = strstr(at, part)); at++) found = at;
  if (found && language_is_space(found + 1)) return pool_name(names, found + 1);
  return language_passed_on(names, pool_namen(names, path, (size_t)(last - path)),
                            pool_name(names, last + 1));
}
