# Where lines end, and where they don't.
x = (1 +
2
    + 3)
y = 1 + \
    2
  # a comment at any column
@triton.jit
def f(a,
b):

    x = [
1,
  ]
# a comment at column 1
    if a: \
        pass
   
    """a
b"""; z = 1
        # deeper
    return (
        x
)
def g():
    return 1;
x = 1