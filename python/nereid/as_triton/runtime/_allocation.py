"""What `triton.runtime._allocation` has: the allocator of scratch memory."""

from nereid import set_allocator


class NullAllocator:
    """The allocator before `set_allocator`: there is none, and Nereid's own is used."""

    def __call__(self, size: int, alignment: int, stream):
        raise RuntimeError("no allocator was set: call triton.set_allocator")
