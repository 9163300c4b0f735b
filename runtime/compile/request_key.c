#include "runtime/compile/request_key.h"

static void key_add_text(KeyMaker *k, const char *text) { cache_key_text(k, text ? text : ""); }

void request_key_add(KeyMaker *k, const nereid_request *r) {
  const int numbers[] = {r->num_warps,    r->num_stages, r->num_ctas, r->maxnreg,
                         r->no_fp_fusion, (int)r->alias, r->nargs};
  key_add_text(k, r->kernel);
  key_add_text(k, r->symbol);
  cache_key_add(k, numbers, sizeof numbers);
  for (int i = 0; i < r->nargs; i++) {
    key_add_text(k, r->args[i].name);
    key_add_text(k, r->args[i].type);
    key_add_text(k, r->args[i].value);
  }
}
