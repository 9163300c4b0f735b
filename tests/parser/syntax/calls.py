@jit
def f(x, *args, **kwargs):
    f()
    f(x,)
    f(x, *args, y=1, **kwargs)
    f(*args, x, k=lambda: 0, **kwargs, **kwargs)
    f(i for i in x)
    f((y := x), z := 1)
    f(x)(x).y(x)[x]
    f(x,
      y=(
          1
      ))
