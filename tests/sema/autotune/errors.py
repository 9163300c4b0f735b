# Lists that can't be evaluated, or are none: each message has the place and the remedy.
import triton
import triton.language as tl
import yaml
from loader import configs_of


def read_file():
    with open("configs.yaml") as f:
        return yaml.safe_load(f)


def endless():
    n = 0
    while True:
        n += 1
    return [n]


def recurse(n):
    return recurse(n + 1)


def doubled():
    out = [triton.Config({"A": 1})]
    for i in range(60):
        out = out + out
    return out


def raises():
    raise RuntimeError("no configurations for this device")


class Loader:
    def load(self):
        return []


def generator():
    for i in range(3):
        yield triton.Config({"A": i})


@triton.autotune(configs_of("k"), key=[])
@triton.jit
def imported(x, A: tl.constexpr, B: tl.constexpr, C: tl.constexpr = 1):
    tl.store(x, A)


@triton.autotune(read_file(), key=[])
@triton.jit
def from_file(x, A: tl.constexpr):
    tl.store(x, A)


@triton.autotune(endless(), key=[])
@triton.jit
def never_ends(x, A: tl.constexpr):
    tl.store(x, A)


@triton.autotune(recurse(0), key=[])
@triton.jit
def too_deep(x, A: tl.constexpr):
    tl.store(x, A)


@triton.autotune(doubled(), key=[])
@triton.jit
def too_long(x, A: tl.constexpr):
    tl.store(x, A)


@triton.autotune([triton.Config({"A": i}) for i in range(1000000)], key=[])
@triton.jit
def million(x, A: tl.constexpr):
    tl.store(x, A)


@triton.autotune([triton.Config({"A": i}) for i in range(5000)], key=[])
@triton.jit
def thousands(x, A: tl.constexpr):
    tl.store(x, A)


@triton.autotune([triton.Config({"A": a}, num_warps=w) for a in range(100) for w in (4, 8)], key=[])
@triton.autotune([triton.Config({"B": b}) for b in range(100)], key=[])
@triton.jit
def pairs(x, A: tl.constexpr, B: tl.constexpr):
    tl.store(x, A)


@triton.autotune(raises(), key=[])
@triton.jit
def no_device(x, A: tl.constexpr):
    tl.store(x, A)


@triton.autotune(Loader().load(), key=[])
@triton.jit
def of_object(x, A: tl.constexpr):
    tl.store(x, A)


@triton.autotune(generator(), key=[])
@triton.jit
def generated(x, A: tl.constexpr):
    tl.store(x, A)


@triton.autotune([], key=[])
@triton.jit
def empty(x, A: tl.constexpr):
    tl.store(x, A)


@triton.autotune([{"A": 16}, {"A": 32}], key=[])
@triton.jit
def dicts(x, A: tl.constexpr):
    tl.store(x, A)


@triton.autotune([triton.Config({"A": [16, 32]})], key=[])
@triton.jit
def list_value(x, A: tl.constexpr):
    tl.store(x, A)


@triton.autotune([triton.Config({"A": 16}, num_warps="4")], key=[])
@triton.jit
def text_option(x, A: tl.constexpr):
    tl.store(x, A)


@triton.autotune([triton.Config(16)], key=[])
@triton.jit
def no_dict(x, A: tl.constexpr):
    tl.store(x, A)


@triton.autotune([triton.Config({"A": 1 // 0})], key=[])
@triton.jit
def by_zero(x, A: tl.constexpr):
    tl.store(x, A)


@triton.autotune(undefined, key=[])
@triton.jit
def not_there(x, A: tl.constexpr):
    tl.store(x, A)


def grows():
    out = []
    for i in range(10):
        for j in range(10000):
            out = out + [i]
    return [triton.Config({"A": len(out)})]


def after_an_error():
    out = [triton.Config({"A": 1})]
    while True:
        missing += 1
        out.append(triton.Config({"A": 2}))
    return out


@triton.autotune(grows(), key=[])
@triton.jit
def too_large(x, A: tl.constexpr):
    tl.store(x, A)


@triton.autotune(after_an_error(), key=[])
@triton.jit
def ends_at_once(x, A: tl.constexpr):
    tl.store(x, A)


def other_kwargs():
    c = triton.Config({"A": 1})
    c.kwargs = 5
    return [c]


@triton.autotune(other_kwargs(), key=[])
@triton.jit
def no_constexprs(x, A: tl.constexpr):
    tl.store(x, A)
