/* Sessions: what runs of an executable change, for one of several threads. */
#include <stdlib.h>

#include "model/api/api.h"
#include "runtime/support/error.h"

typedef struct SessionPart SessionPart;

struct nereid_session {
  nereid_executable *of;
  Execution *x;
  nereid_run_memory memory; /* of its parts, too; without output(): its own */
  SessionPart *parts; /* sessions of plans for single sizes; the last that was used is the first */
  bool uses_part;     /* in its last run */
};

struct SessionPart {
  SizedPlan *plan; /* held */
  nereid_session *session;
  SessionPart *next;
};

int nereid_session_new(nereid_session **out, nereid_executable *e) {
  REQUIRE_OUT(out);
  REQUIRE(e);
  int code = api_tune(e);
  if (code) return code;
  nereid_session *s = calloc(1, sizeof *s);
  if (!s) return error_out_of_memory();
  s->of = e;
  code = execution_new(&s->x, e->e);
  if (code) free(s);
  else *out = s;
  return code;
}

static void part_free(const nereid_session *s, SessionPart *part) {
  nereid_session_free(part->session);
  sized_hold(s->of->sized, part->plan, false);
  free(part);
}

void nereid_session_free(nereid_session *s) {
  if (!s) return;
  for (SessionPart *part = s->parts, *next; part; part = next) {
    next = part->next;
    part_free(s, part);
  }
  execution_free(s->x);
  free(s);
}

int nereid_session_set_memory(nereid_session *s, const nereid_run_memory *m) {
  REQUIRE(s);
  REQUIRE(m);
  execution_set_memory(s->x, m);
  s->memory = *m;
  return 0;
}

/* A new one; beyond PARTS_MAX the one goes that has not been used for longest. */
static int add_part(nereid_session *s, SizedPlan *p) {
  enum { PARTS_MAX = 8 };
  SessionPart *part = calloc(1, sizeof *part), **last = &s->parts;
  if (!part) return error_out_of_memory();
  int code = nereid_session_new(&part->session, sized_executable(p));
  if (code) {
    free(part);
    return code;
  }
  if (s->memory.output) nereid_session_set_memory(part->session, &s->memory);
  part->plan = p;
  sized_hold(s->of->sized, p, true);
  part->next = s->parts;
  s->parts = part;
  for (int n = 0; *last && n < PARTS_MAX; n++) last = &(*last)->next;
  if (*last) part_free(s, *last);
  *last = NULL;
  return 0;
}

/* The session of that plan becomes the first. */
static int take_part(nereid_session *s, SizedPlan *p) {
  for (SessionPart **at = &s->parts; *at; at = &(*at)->next) {
    SessionPart *part = *at;
    if (part->plan != p) continue;
    *at = part->next;
    part->next = s->parts;
    s->parts = part;
    return 0;
  }
  return add_part(s, p);
}

typedef int SessionCall(nereid_session *s, const ExecutionCall *c);

typedef struct {
  nereid_session *s;
  SessionCall *call;
  const ExecutionCall *c;
} SessionUse;

static int use_part(SizedPlan *p, const nereid_tensor *inputs, int n, void *context,
                    bool *refused) {
  const SessionUse *u = context;
  ExecutionCall c = *u->c;
  c.inputs = inputs;
  c.ninputs = n;
  int code = take_part(u->s, p);
  if (code) return code;
  nereid_session *part = u->s->parts->session;
  code = u->call(part, &c);
  *refused = code && execution_refused(part->x);
  return code;
}

static int session_call(nereid_session *s, SessionCall *call, const ExecutionCall *c) {
  const nereid_executable *e = s->of;
  s->uses_part = false;
  bool fixed = api_fixes_sizes(e, s->x, c->inputs, c->ninputs);
  int code = fixed ? 0
             : api_is_sized(e) ? execution_check(s->x, c->inputs, c->ninputs, true)
                               : call(s, c);
  if (!fixed && !api_needs_sized(e, s->x, code)) return code;
  SessionUse u = {s, call, c};
  s->uses_part = true;
  return sized_use(e->sized, c->inputs, c->ninputs, use_part, &u);
}

/* What ran last. */
static const nereid_session *used_session(const nereid_session *s) {
  return s->uses_part && s->parts ? s->parts->session : s;
}

static int prepare_session(nereid_session *s, const ExecutionCall *c) {
  int code = execution_prepare(s->x, c->inputs, c->ninputs);
  return code ? code : api_describe_outputs(s->of, s->x, c->outputs, c->noutputs);
}

int nereid_session_prepare(nereid_session *s, const nereid_tensor *inputs, int ninputs,
                           nereid_tensor *outputs, int noutputs) {
  REQUIRE(s);
  if (ninputs) REQUIRE(inputs);
  if (noutputs) REQUIRE(outputs);
  ExecutionCall c = {inputs, ninputs, outputs, noutputs, NULL, {0}};
  return session_call(s, prepare_session, &c);
}

int nereid_session_writes(const nereid_session *s, int i) {
  REQUIRE(s);
  uint32_t n = executable_inputs(s->of->e);
  if (i < 0 || (uint32_t)i >= n) return api_no_such("input", i, n);
  return execution_writes(used_session(s)->x, (uint32_t)i);
}

static int run_session(nereid_session *s, const ExecutionCall *c) { return execution_run(s->x, c); }

int nereid_session_run(nereid_session *s, const nereid_tensor *inputs, int ninputs,
                       nereid_tensor *outputs, int noutputs, const nereid_session_options *o) {
  REQUIRE(s);
  if (ninputs) REQUIRE(inputs);
  if (noutputs) REQUIRE(outputs);
  static const nereid_session_options defaults = {0};
  if (!o) o = &defaults;
  nereid_stream native = {s->of->device, o->native_stream, false};
  ExecutionCall c = {inputs,   ninputs,   outputs,
                     noutputs, o->stream, {o->workspace, o->workspace_size}};
  if (!o->stream && o->native_stream) c.stream = &native;
  return session_call(s, run_session, &c);
}

int nereid_session_get_info(nereid_executable_info *out, const nereid_session *s) {
  REQUIRE_OUT(out);
  REQUIRE(s);
  *out = api_info(used_session(s)->x);
  out->stored = s->of->stored != NULL;
  return 0;
}
