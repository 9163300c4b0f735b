"""A training step as a file: torch.export writes forward and backward as one graph, which runs
without Python (`nereid graph step.pt2 x.npy y.npy`), or here.  Needs PyTorch to write it."""
import sys

import nereid

try:
    import torch
except ImportError:
    print("this example exports a model by PyTorch: pip install torch")
    sys.exit()
from torch.export.experimental import _export_forward_backward

torch.manual_seed(0)


class Classifier(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = torch.nn.Sequential(
            torch.nn.Linear(8, 32), torch.nn.BatchNorm1d(32), torch.nn.GELU(),
            torch.nn.Linear(32, 10),
        )  # fmt: skip

    def forward(self, x, target):
        return torch.nn.functional.cross_entropy(self.layers(x), target)


model = Classifier().train()
x, target = torch.randn(16, 8), torch.randint(0, 10, (16,))
program = _export_forward_backward(torch.export.export(model, (x, target)))
if len(sys.argv) > 1:
    torch.export.save(program, sys.argv[1])

# The loss, and the gradient of each parameter.
loss, *gradients = nereid.load(program)(x, target)
expected = model(x, target)
expected.backward()
for gradient, (name, parameter) in zip(gradients, model.named_parameters()):
    error = (gradient - parameter.grad).abs().max().item()
    print(f"{name:20} {tuple(gradient.shape)!s:12} largest error {error:.1e}")
    assert error < 1e-5
print(f"loss {loss.item():.6f}, in PyTorch {expected.item():.6f}")
