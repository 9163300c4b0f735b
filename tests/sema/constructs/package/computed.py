import socket
import triton

SHIFT = len(socket.gethostname())


@triton.jit
def shifted(x):
    return x << SHIFT
