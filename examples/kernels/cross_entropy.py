"""Cross entropy of each row of logits against a target class, and the gradient for the logits.

A row may be longer than fits on chip (a vocabulary), so the program walks over it twice: once for
the maximum and the sum of exponentials, once for the gradient.  Rows whose target is ignore_index
have loss and gradient zero.  With None for grad_ptr it stores the loss alone.

build/nereid run examples/kernels/cross_entropy.py logits_ptr=randn:f32[64,1000] target_ptr=randint:i64[64]:0:1000:1 loss_ptr=empty:f32[64] grad_ptr=empty:f32[64,1000] n_classes=1000 ignore_index=-100 -D BLOCK=256 --grid 64
"""
import triton
import triton.language as tl


@triton.jit
def cross_entropy(logits_ptr, target_ptr, loss_ptr, grad_ptr, n_classes, ignore_index,
                  BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    logits_ptr += row * n_classes
    target = tl.load(target_ptr + row)
    counted = target != ignore_index

    largest = -float("inf")
    total = 0.0  # of exp(x - largest)
    for start in range(0, n_classes, BLOCK):
        classes = start + tl.arange(0, BLOCK)
        x = tl.load(logits_ptr + classes, mask=classes < n_classes, other=-float("inf"))
        x = x.to(tl.float32)
        new_largest = tl.maximum(largest, tl.max(x, axis=0))
        total = total * tl.exp(largest - new_largest) + tl.sum(tl.exp(x - new_largest), axis=0)
        largest = new_largest
    log_total = largest + tl.log(total)

    at_target = tl.load(logits_ptr + target, mask=counted, other=0.0).to(tl.float32)
    tl.store(loss_ptr + row, tl.where(counted, log_total - at_target, 0.0))

    if grad_ptr is not None:  # decided when the kernel is compiled
        grad_ptr += row * n_classes
        for start in range(0, n_classes, BLOCK):
            classes = start + tl.arange(0, BLOCK)
            mask = classes < n_classes
            x = tl.load(logits_ptr + classes, mask=mask, other=0.0).to(tl.float32)
            grad = tl.exp(x - log_total) - tl.where(classes == target, 1.0, 0.0)
            tl.store(grad_ptr + classes, tl.where(counted, grad, 0.0), mask=mask)
