@triton.jit
def f(x):
	if x:
		y = 1
				# a comment
	return x
def g(x):
        if x:
	    pass
