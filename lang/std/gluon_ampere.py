# triton.experimental.gluon.language.nvidia.ampere: products of matrices and copies to shared
# memory, as any target has them.
import triton
import triton.language as tl
from nereid import gluon, layouts


@triton.jit
def mma_v2(a, b, acc, input_precision=None):
    """a x b + acc, whose operands have layouts of operands of acc's."""
    tl.static_assert(isinstance(acc.type.layout, layouts.NVMMADistributedLayout),
                     f"acc must have an NVMMADistributedLayout, not {acc.type.layout}")
    return gluon._product(a, b, acc, input_precision)


class async_copy:
    """Copies to shared memory: each is done at once, and waiting for one has no effect."""

    @staticmethod
    @triton.jit
    def async_copy_global_to_shared(smem, pointer, mask=None, cache_modifier="",
                                    eviction_policy="", volatile=False):
        """Elements that the mask leaves out are zeros."""
        other: tl.constexpr = None if mask is None else 0
        smem.store(tl.load(pointer, mask, other, cache_modifier=cache_modifier,
                           eviction_policy=eviction_policy, volatile=volatile))

    @staticmethod
    @triton.jit
    def commit_group():
        pass

    @staticmethod
    @triton.jit
    def wait_group(num_outstanding=0):
        pass
