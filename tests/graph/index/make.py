#!/usr/bin/env python3
"""Writes raises.txt: for which indices PyTorch raises.  Needs PyTorch; run it from this folder."""
import pathlib
import torch

from forms import ARRAYS, FORMS, values


def call(text, operands):
    *before, last = text.split("; ")
    for name, statement in (line.split(" = ") for line in before):
        operands[name] = eval(f"torch.ops.aten.{statement}", {"torch": torch, **operands})
    eval(f"torch.ops.aten.{last}", {"torch": torch, **operands})


def verdict(text, index, value):
    operands = {n: torch.tensor(a) for n, a in ARRAYS.items()}
    index = index.copy()
    index.reshape(-1)[-1] = value
    operands["i"] = torch.from_numpy(index)
    try:
        call(text, operands)
        return "ok"
    except (IndexError, RuntimeError):
        return "raises"


lines = [f"{name} {value} {verdict(text, index, value)}\n"
         for name, text, index, size in FORMS for value in values(name, size)]
(pathlib.Path(__file__).parent / "raises.txt").write_text("".join(lines))
