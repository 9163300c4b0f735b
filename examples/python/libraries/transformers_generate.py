"""Generates tokens by a small Llama with a static cache, whose sizes are the same in all steps:
one graph for the prompt and one for the rest.

    pip install transformers && python examples/python/libraries/transformers_generate.py
"""
import torch
from transformers import LlamaConfig, LlamaForCausalLM

torch.manual_seed(0)
model = LlamaForCausalLM(LlamaConfig(
    vocab_size=64, hidden_size=32, intermediate_size=64, num_hidden_layers=2,
    num_attention_heads=4, num_key_value_heads=2, max_position_embeddings=64,
    bos_token_id=0, eos_token_id=None, pad_token_id=0)).eval()
prompt = torch.tensor([[5, 9, 2, 7]])
options = {"max_new_tokens": 8, "do_sample": False, "cache_implementation": "static",
           "disable_compile": True}
wanted = model.generate(prompt, **options)

model.forward = torch.compile(model.forward, backend="nereid")
found = model.generate(prompt, **options)
print(found[0].tolist())
assert torch.equal(found, wanted)
