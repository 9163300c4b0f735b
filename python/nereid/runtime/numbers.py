"""Arithmetic of grids and block sizes, on the host."""


def cdiv(x: int, y: int) -> int:
    """x / y, rounded up."""
    return (x + y - 1) // y


def next_power_of_2(n: int) -> int:
    """The least power of 2 that is at least n; 0 for 0, as in Triton."""
    if n <= 0:
        return 0
    return 1 << (n - 1).bit_length()
