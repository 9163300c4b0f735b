#include "runtime/records/tune_status.h"

#include <string.h>

static const char *const names[] = {"ok",    "compile", "resources", "timeout",
                                    "fault", "wrong",   "pruned"};
enum { COUNT = sizeof names / sizeof *names };
_Static_assert(COUNT == NEREID_TUNE_PRUNED + 1, "one name a status");

const char *nereid_tune_status_name(nereid_tune_status s) {
  return (unsigned)s < COUNT ? names[s] : "?";
}

bool tune_status_read(nereid_tune_status *out, const char *word) {
  for (int i = 0; i < COUNT; i++)
    if (!strcmp(names[i], word)) {
      *out = (nereid_tune_status)i;
      return true;
    }
  return false;
}
