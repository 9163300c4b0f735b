"""Trains a small GPT-2 by transformers' Trainer.  TrainingArguments(torch_compile_backend=) takes
names of a list of its own: the model is compiled before the Trainer has it, in place.

    pip install transformers accelerate && python examples/python/libraries/transformers_trainer.py
"""
import tempfile

import torch
from transformers import GPT2Config, GPT2LMHeadModel, Trainer, TrainingArguments

torch.manual_seed(0)
model = GPT2LMHeadModel(GPT2Config(vocab_size=64, n_positions=32, n_embd=32, n_layer=2, n_head=2,
                                   bos_token_id=0, eos_token_id=0, pad_token_id=0))
rows = [(torch.arange(16) * 3 + i) % 64 for i in range(64)]
data = [{"input_ids": row, "labels": row} for row in rows]

model.compile(backend="nereid")
with tempfile.TemporaryDirectory() as folder:
    arguments = TrainingArguments(folder, per_device_train_batch_size=16, max_steps=20,
                                  learning_rate=1e-2, logging_steps=5, save_strategy="no",
                                  report_to=[], disable_tqdm=True)
    trainer = Trainer(model, arguments, train_dataset=data)
    trainer.train()
losses = [row["loss"] for row in trainer.state.log_history if "loss" in row]
print("loss", " ".join(f"{float(loss):.2f}" for loss in losses))
assert float(losses[-1]) < float(losses[0])
