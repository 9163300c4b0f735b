"""The models of bench/graphs_cpu.py: each a function that gives a module in eval mode and its
inputs, in f32.  Weights are random; sizes are those of the published models but for llama_110m."""
import torch
from graph_cases import chain, ids, mlp, transformer, vit_b_of

CASES = {"chain": chain, "mlp": mlp}


def case(make):
    CASES[make.__name__] = make
    return make


def image():
    return (torch.randn(1, 3, 224, 224),)


def vision(name):
    import torchvision
    return getattr(torchvision.models, name)(weights=None), image()


@case
def bert_base():
    from transformers import BertConfig
    return transformer("BertModel", BertConfig()), (ids(30000, 1, 128),)


@case
def gpt2():
    from transformers import GPT2Config
    return transformer("GPT2LMHeadModel", GPT2Config()), (ids(50000, 1, 128),)


def llama(tokens):
    from transformers import LlamaConfig
    model = transformer("LlamaForCausalLM", LlamaConfig(
        hidden_size=768, intermediate_size=2048, num_hidden_layers=12, num_attention_heads=12,
        num_key_value_heads=4, vocab_size=32000, max_position_embeddings=2048))
    return model, (ids(32000, 1, tokens),)


@case
def llama_110m_128():
    return llama(128)


@case
def llama_110m_1():
    return llama(1)


@case
def resnet18():
    return vision("resnet18")


@case
def resnet50():
    return vision("resnet50")


@case
def mobilenet_v3():
    return vision("mobilenet_v3_large")


@case
def vit_b():
    return vit_b_of(1)
