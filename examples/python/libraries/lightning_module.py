"""Trains a LightningModule: the network inside it is compiled, in place.

    pip install lightning && python examples/python/libraries/lightning_module.py
"""
import logging

import lightning
import torch


class Regression(lightning.LightningModule):
    def __init__(self):
        super().__init__()
        self.losses = []
        self.net = torch.nn.Sequential(torch.nn.Linear(8, 32), torch.nn.BatchNorm1d(32),
                                       torch.nn.ReLU(), torch.nn.Linear(32, 1))
        self.net.compile(backend="nereid")

    def training_step(self, batch, _):
        x, y = batch
        loss = (self.net(x) - y).square().mean()
        self.losses.append(loss.item())
        return loss

    def configure_optimizers(self):
        return torch.optim.AdamW(self.parameters(), lr=1e-2)


logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)
torch.manual_seed(0)
x = torch.randn(256, 8)
data = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(x, x.sum(1, keepdim=True)), 32)
model = Regression()
trainer = lightning.Trainer(max_epochs=5, logger=False, enable_checkpointing=False,
                            enable_progress_bar=False, enable_model_summary=False)
trainer.fit(model, data)
print(f"loss {model.losses[0]:.3f} {model.losses[-1]:.3f}")
assert model.losses[-1] < model.losses[0] / 2
