/* What a kernel writes for habits from Python, NumPy and PyTorch: hints after errors about names
 * that they have and the language has not, or has under another name. */
#include <string.h>

#include "sema/messages.h"
#include "sema/value/context.h"

/* Names with the same meaning in all of these libraries, as functions and as methods.  Names of the
 * language's own functions need no row. */
static const struct {
  const char *names, *text;
} rows[] = {
    {"mean average nanmean", "tl.sum(x, axis) / n"},
    {"amax nanmax", "tl.max(x, axis)"},
    {"amin nanmin", "tl.min(x, axis)"},
    {"prod", "tl.reduce(x, axis, f), where f multiplies"},
    {"var std norm", "tl.sum(x * x, axis) and the like"},
    {"any", "tl.max((x != 0).to(tl.int32), axis)"},
    {"all", "tl.min((x != 0).to(tl.int32), axis)"},
    {"logsumexp log_softmax", "tl.log(tl.sum(tl.exp(x - m), axis)) + m, where m = tl.max(x, axis)"},
    {"add", "x + y"},
    {"sub subtract", "x - y"},
    {"mul multiply", "x * y"},
    {"div divide true_divide", "x / y"},
    {"floor_divide", "x // y"},
    {"remainder mod", "x % y"},
    {"neg negative", "-x"},
    {"square", "x * x"},
    {"reciprocal", "1 / x"},
    {"power float_power", "libdevice.pow(x, y)"},
    {"absolute fabs", "tl.abs(x)"},
    {"sign", "tl.where(x > 0, 1, tl.where(x < 0, -1, 0))"},
    {"round around", "libdevice.rint(x)"},
    {"logical_and bitwise_and", "x & y"},
    {"logical_or bitwise_or", "x | y"},
    {"logical_xor bitwise_xor", "x ^ y"},
    {"logical_not bitwise_not invert", "~x"},
    {"eq equal", "x == y"},
    {"ne not_equal", "x != y"},
    {"lt less", "x < y"},
    {"le less_equal", "x <= y"},
    {"gt greater", "x > y"},
    {"ge greater_equal", "x >= y"},
    {"clip clamp clamp_ clamp_min clamp_max", "tl.clamp(x, low, high)"},
    {"relu relu_", "tl.maximum(x, 0)"},
    {"silu swish", "x * tl.sigmoid(x)"},
    {"gelu", "0.5 * x * (1 + tl.erf(x * 0.70710678))"},
    {"expit", "tl.sigmoid(x)"},
    {"dropout", "tl.where(keep, x / (1 - p), 0), where keep compares tl.rand with p"},
    {"masked_fill masked_fill_", "tl.where(mask, value, x)"},
    {"matmul mm bmm inner einsum addmm linear", "tl.dot(a, b)"},
    {"ones ones_like empty empty_like eye", "tl.full(shape, 1, dtype)"},
    {"array asarray tensor as_tensor from_numpy linspace",
     "tl.full(shape, value, dtype) or tl.arange, or takes an array as an argument"},
    {"concat concatenate stack hstack vstack", "tl.cat(a, b) or tl.join(a, b)"},
    {"transpose swapaxes t", "tl.trans(x)"},
    {"flatten", "tl.ravel(x)"},
    {"expand expand_as repeat tile", "tl.broadcast_to(x, shape)"},
    {"take take_along_axis index_select", "tl.gather(x, index, axis), or tl.load at offsets"},
    {"random uniform", "tl.rand of a seed and offsets"},
    {"normal standard_normal", "tl.randn of a seed and offsets"},
    {"integers", "tl.randint of a seed and offsets"},
    {"nelement size", "x.numel or x.shape"},
    {"ndim dim", "len(x.shape)"},
    {"copy clone detach contiguous cpu cuda numpy tolist", "x itself: a tile is a value"},
    {"astype type float half bfloat16 double int long bool", "x.to(dtype), as in x.to(tl.float32)"},
};

static bool has_word(const char *words, const char *word) {
  size_t n = strlen(word);
  for (const char *at = words; (at = strstr(at, word)); at += n)
    if ((at == words || at[-1] == ' ') && (!at[n] || at[n] == ' ')) return true;
  return false;
}

static bool is_function_of(Sema *S, const char *space, Name name) {
  Value v;
  bool failed = S->failed, muted = S->muted;
  S->quiet++;
  bool found = name[0] != '_' && language_get(S, pool_name(S->names, space), name, &v);
  S->quiet--;
  S->failed = failed;
  S->muted = muted;
  return found && (v.kind == V_BUILTIN || v.kind == V_FUNC);
}

/* What a kernel writes for a function or method of that name; NULL: nothing that we know. */
static const char *remedy_of(Sema *S, Name name) {
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    if (has_word(rows[i].names, name)) return rows[i].text;
  if (is_function_of(S, "triton.language", name)) return arena_printf(S->arena, "tl.%s", name);
  if (is_function_of(S, "triton.language.extra.libdevice", name))
    return arena_printf(S->arena, "libdevice.%s", name);
  return NULL;
}

/* A module of the host whose functions compute with numbers or arrays. */
static bool is_array_module(const char *path) {
  static const char modules[] = "math cmath numpy torch jax scipy cupy random statistics";
  char root[16];
  size_t n = strcspn(path, ".");
  if (n >= sizeof root) return false;
  memcpy(root, path, n);
  root[n] = 0;
  return n && has_word(modules, root);
}

void hint_function(Sema *S, Name path) {
  if (S->muted) return;
  const char *dot = strrchr(path, '.');
  Name name = pool_name(S->names, dot ? dot + 1 : path);
  if (!is_array_module(path)) {
    sema_hint(S, H_SEMA_EXTERN);
    return;
  }
  const char *text = remedy_of(S, name);
  if (text) sema_hint(S, H_SEMA_REMEDY, text);
  else sema_hint(S, H_SEMA_HOST_MODULE, (int)strcspn(path, "."), path);
}

void hint_method(Sema *S, Value v, Name name) {
  static const char lists[] = "append extend insert pop remove sort reverse clear",
                    dicts[] = "update pop popitem setdefault clear";
  if (S->muted) return;
  if (v.kind == V_TUPLE && !v.u.tuple->fields && has_word(lists, name)) sema_hint(S, H_SEMA_LIST);
  else if (v.kind == V_DICT && has_word(dicts, name)) sema_hint(S, H_SEMA_DICT);
  else if (value_is_typed(v)) {
    const char *text = remedy_of(S, name);
    if (text) sema_hint(S, H_SEMA_REMEDY, text);
  }
}

/* Axes are matched from the last one on: how a tile of fewer axes gets the place that was meant. */
void hint_broadcast(Sema *S, Type a, Type b) {
  if (a.rank > b.rank) {
    Type swapped = a;
    a = b;
    b = swapped;
  }
  if (a.rank == 1 && b.rank == 1) sema_hint(S, H_SEMA_BROADCAST_PAIRS);
  else if (a.rank && a.rank < b.rank && a.shape[0] == b.shape[0])
    sema_hint(S, H_SEMA_BROADCAST_FIRST,
              a.rank == 1 && b.rank == 2 ? "x[:, None]" : "tl.expand_dims(x, axis)");
}
