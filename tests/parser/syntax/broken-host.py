# Errors in host code are not ours to report.
x = = 3
y = (1, 2
@triton.jit
def first(x):
    return x
def f(:
    pass
z = "unterminated
    unexpected(indent)
  dedent
def g(x):
    ) ]
    x = [1, 2)
    $ ? !
else:
    pass
class A:
    def method(self):
        x = {1: (2
    @triton.jit
    def second(x):
        return x
