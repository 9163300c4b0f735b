# Host code: what is outside the grammar is skipped, and hides no kernel.
import triton

match command:
    case "a": pass
    case [x, y] if x > y:
        @triton.jit
        def in_match(x): return x

type Alias = int
print "python 2"
z = 3j


class Wide[T](Base):
    @triton.jit
    def in_class(x): pass


def typed[T](x: T) -> T:
    return x


def small(): return tl.constexpr(1)


def generator():
    x = yield 1
    async with a as b: pass
    async for i in x:
        await i
    return [i async for i in x]


def unknown(x):
    match x:
        case 1: return 2
    return 3


def test_kernel():
    BLOCK = 128
    match x:
        case 1: pass

    @triton.jit
    def nested(x_ptr, n: tl.constexpr):
        x = BLOCK
    nested[(1,)](x, 2)


if __name__ == "__main__":
    @triton.jit
    def never(x): x = = 3
elif x: pass
else:
    pass

@triton.jit
def last(x): pass
