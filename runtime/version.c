#include "build_id.h"
#include "lower/machine.h"
#include "runtime/nereid.h"

const char *nereid_version(void) { return NEREID_VERSION; }
const char *nereid_build_id(void) { return NEREID_BUILD_ID; }

const char *nereid_target(int i) {
  int n = 0;
  const Machine *list = machine_list(&n);
  return i >= 0 && i < n ? list[i].name : NULL;
}
