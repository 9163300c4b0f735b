"""The models of bench/graphs.py: each a function that gives a module in eval mode and its inputs.

Weights are random; sizes are those of the published models.
"""
import torch

CASES = {}


def case(dtype):
    def add(make):
        CASES[make.__name__] = (make, dtype)
        return make
    return add


class FirstOutput(torch.nn.Module):
    """A transformers model as a function of token ids to one tensor."""

    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, *args):
        return self.model(*args, return_dict=False)[0]


def transformer(cls, config):
    import transformers
    config.use_cache = False
    return FirstOutput(getattr(transformers, cls)(config))


def ids(vocabulary, *shape):
    return torch.randint(0, vocabulary, shape)


@case(torch.bfloat16)
def bert_base():
    from transformers import BertConfig
    return transformer("BertModel", BertConfig()), (ids(30000, 8, 128),)


@case(torch.bfloat16)
def resnet50():
    import torchvision
    return torchvision.models.resnet50(weights=None), (torch.randn(32, 3, 224, 224),)


def vit_b_of(images):
    import torchvision
    model = torchvision.models.vit_b_16(weights=None)
    torch.nn.init.normal_(model.heads.head.weight, std=0.02)  # zeros else, and so the output
    return model, (torch.randn(images, 3, 224, 224),)


@case(torch.bfloat16)
def vit_b():
    return vit_b_of(32)


@case(torch.bfloat16)
def gpt2():
    from transformers import GPT2Config
    return transformer("GPT2LMHeadModel", GPT2Config()), (ids(50000, 4, 1024),)


def llama_1b():
    from transformers import LlamaConfig
    return transformer("LlamaForCausalLM", LlamaConfig(
        hidden_size=2048, intermediate_size=8192, num_hidden_layers=16, num_attention_heads=32,
        num_key_value_heads=8, head_dim=64, vocab_size=128256, rope_theta=500000.0,
        max_position_embeddings=4096, tie_word_embeddings=True))


@case(torch.bfloat16)
def llama_1b_2048():
    return llama_1b(), (ids(128000, 1, 2048),)


@case(torch.bfloat16)
def llama_1b_1():
    return llama_1b(), (ids(128000, 1, 1),)


class Chain(torch.nn.Module):
    def forward(self, x, y):
        return torch.tanh((x + y) * x).relu() * y


@case(torch.float32)
def chain():
    return Chain(), (torch.randn(2048, 2048), torch.randn(2048, 2048))


@case(torch.float32)
def mlp():
    from torch.nn import GELU, Linear, Sequential
    return Sequential(Linear(1024, 4096), GELU(), Linear(4096, 4096), GELU(),
                      Linear(4096, 1024)), (torch.randn(32, 1024),)
