# nereid: --emit ast
@jit
def f(x):
        y = 1
	z = 2
        w = 3 3

def host(x):
        y = 1
	z = 2
