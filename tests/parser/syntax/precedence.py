# Each operator beside its neighbours in Python's table.
@jit
def f(a, b, c):
    a or b and not c
    not a == b
    a < b | c
    a | b ^ c & a << b
    a << b + c
    a - b - c
    a + b * c
    a / b // c % a @ b
    -a * b
    -a ** -b ** c
    ~-+a
    a ** b.c[0](1)
    a < b <= c != a is b is not c in a not in b
    (a < b) < c
    (a or b) or c
    a or b or c
    a if b else c if a else b
    lambda x: x if a else b
    not (a, b)
