"""A training loop of accelerate's.  Its dynamo_backend takes names of a list of its own: the model
is compiled before prepare() has it, in place.

    pip install accelerate && python examples/python/libraries/accelerate_loop.py
"""
import torch
from accelerate import Accelerator

torch.manual_seed(0)
accelerator = Accelerator()
model = torch.nn.Sequential(torch.nn.Linear(8, 32), torch.nn.GELU(), torch.nn.Linear(32, 1))
model.compile(backend="nereid")
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
x = torch.randn(256, 8)
data = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(x, x.sum(1, keepdim=True)), 32)
model, optimizer, data = accelerator.prepare(model, optimizer, data)

losses = []
for _ in range(5):
    for x, y in data:
        loss = (model(x) - y).square().mean()
        accelerator.backward(loss)
        optimizer.step()
        optimizer.zero_grad()
    losses.append(loss.item())
print("loss", " ".join(f"{loss:.3f}" for loss in losses))
assert losses[-1] < losses[0] / 2
