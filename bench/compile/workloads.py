"""The models of bench/compile/speed.py: real architectures with random weights.

A workload is made on a device: a module, the inputs of a call, and of training the loss.  Sizes
are those of issue trackers' and papers' benchmarks; `small` has a few layers, for a CPU."""

import functools

import torch


def _transformers(name):
    import transformers

    return getattr(transformers, name)


def _tokens(batch, length, vocabulary, device):
    return torch.randint(0, vocabulary, (batch, length), device=device)


def bert(device, train, small, shape=(16, 512)):
    config = _transformers("BertConfig")(**({"num_hidden_layers": 2, "hidden_size": 64,
                                             "num_attention_heads": 4, "intermediate_size": 128,
                                             "vocab_size": 512} if small else {}))
    model = _transformers("BertForMaskedLM" if train else "BertModel")(config)
    ids = _tokens(*((2, 32) if small else shape), config.vocab_size, device)
    return model, {"input_ids": ids, **({"labels": ids} if train else {})}


def gpt2(device, train, small):
    config = _transformers("GPT2Config")(use_cache=False, **(
        {"n_layer": 2, "n_embd": 64, "n_head": 4, "vocab_size": 512} if small else {}))
    ids = _tokens(*((2, 32) if small else (4, 1024)), config.vocab_size, device)
    model = _transformers("GPT2LMHeadModel")(config)
    return model, {"input_ids": ids, **({"labels": ids} if train else {})}


def llama(device, train, small, tokens=2048):
    sizes = {"hidden_size": 64, "intermediate_size": 128, "num_hidden_layers": 2,
             "num_attention_heads": 4, "num_key_value_heads": 2, "vocab_size": 512}
    full = {"hidden_size": 2048, "intermediate_size": 8192, "num_hidden_layers": 16,
            "num_attention_heads": 32, "num_key_value_heads": 8, "vocab_size": 128256}
    config = _transformers("LlamaConfig")(use_cache=False, tie_word_embeddings=True,
                                          **(sizes if small else full))
    ids = _tokens(1, min(tokens, 32) if small else tokens, config.vocab_size, device)
    model = _transformers("LlamaForCausalLM")(config)
    return model, {"input_ids": ids, **({"labels": ids} if train else {})}


def qwen3(device, train, small):
    sizes = {"hidden_size": 64, "intermediate_size": 128, "num_hidden_layers": 2,
             "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 16,
             "vocab_size": 512}
    full = {"hidden_size": 1024, "intermediate_size": 3072, "num_hidden_layers": 28,
            "num_attention_heads": 16, "num_key_value_heads": 8, "head_dim": 128,
            "vocab_size": 151936}
    config = _transformers("Qwen3Config")(use_cache=False, **(sizes if small else full))
    ids = _tokens(1, 32 if small else 512, config.vocab_size, device)
    return _transformers("Qwen3Model")(config), {"input_ids": ids}


def t5_encoder(device, train, small):
    config = _transformers("T5Config")(**({"num_layers": 2, "d_model": 64, "d_kv": 16,
                                           "num_heads": 4, "d_ff": 128} if small else {}))
    ids = _tokens(*((2, 32) if small else (8, 512)), config.vocab_size, device)
    return _transformers("T5EncoderModel")(config), {"input_ids": ids}


def whisper_encoder(device, train, small):
    config = _transformers("WhisperConfig")(**({"encoder_layers": 2, "d_model": 64,
                                                "encoder_attention_heads": 4,
                                                "encoder_ffn_dim": 128} if small else {}))
    model = _transformers("WhisperModel")(config).get_encoder()
    features = torch.randn(1 if small else 8, config.num_mel_bins, 3000, device=device)
    return model, {"input_features": features}


def _timm(name, batch, **options):
    def make(device, train, small):
        import timm

        size = 64 if small and "vit" not in name and "swin" not in name else 224
        model = timm.create_model(name, **options)
        return model, {"x": torch.randn(1 if small else batch, 3, size, size, device=device)}

    return make


class Block(torch.nn.Module):
    def __init__(self, inputs, outputs):
        super().__init__()
        conv = torch.nn.Conv2d
        self.layers = torch.nn.Sequential(
            conv(inputs, outputs, 3, padding=1), torch.nn.GroupNorm(8, outputs), torch.nn.SiLU(),
            conv(outputs, outputs, 3, padding=1), torch.nn.GroupNorm(8, outputs), torch.nn.SiLU())

    def forward(self, x):
        return self.layers(x)


class UNet(torch.nn.Module):
    """Three levels, as diffusion models have them, without attention."""

    def __init__(self, width=64):
        super().__init__()
        widths = [width, 2 * width, 4 * width]
        self.down = torch.nn.ModuleList(
            Block(a, b) for a, b in zip([3, *widths[:-1]], widths))
        self.middle = Block(widths[-1], widths[-1])
        self.up = torch.nn.ModuleList(
            Block(2 * b, a) for a, b in zip([widths[0], *widths[:-1]], widths))
        self.last = torch.nn.Conv2d(widths[0], 3, 1)

    def forward(self, x):
        kept = []
        for block in self.down:
            x = block(x)
            kept.append(x)
            x = torch.nn.functional.max_pool2d(x, 2)
        x = self.middle(x)
        for block in reversed(self.up):
            x = torch.nn.functional.interpolate(x, scale_factor=2.0)
            x = block(torch.cat([x, kept.pop()], 1))
        return self.last(x)


def unet(device, train, small):
    size = 32 if small else 256
    return UNet(16 if small else 64), {"x": torch.randn(1 if small else 4, 3, size, size,
                                                        device=device)}


def opt(device, train, small):
    sizes = {"hidden_size": 64, "ffn_dim": 128, "num_hidden_layers": 2, "num_attention_heads": 4,
             "word_embed_proj_dim": 64, "vocab_size": 512}
    full = {"hidden_size": 768, "ffn_dim": 3072, "num_hidden_layers": 12,
            "num_attention_heads": 12, "word_embed_proj_dim": 768}
    config = _transformers("OPTConfig")(use_cache=False, **(sizes if small else full))
    ids = _tokens(*((2, 32) if small else (4, 512)), config.vocab_size, device)
    return _transformers("OPTForCausalLM")(config), {"input_ids": ids, "labels": ids}


def qwen3_small(device, train, small):
    """Of 12 layers, with a head."""
    sizes = {"hidden_size": 64, "intermediate_size": 128, "num_hidden_layers": 2,
             "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 16,
             "vocab_size": 512}
    full = {"hidden_size": 768, "intermediate_size": 2048, "num_hidden_layers": 12,
            "num_attention_heads": 12, "num_key_value_heads": 4, "head_dim": 64,
            "vocab_size": 32000}
    config = _transformers("Qwen3Config")(use_cache=False, **(sizes if small else full))
    ids = _tokens(*((2, 32) if small else (4, 512)), config.vocab_size, device)
    return _transformers("Qwen3ForCausalLM")(config), {"input_ids": ids, "labels": ids}


def mlp(device, train, small):
    nn = torch.nn
    width = 64 if small else 1024
    model = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, 4 * width),
                          nn.GELU(), nn.Linear(4 * width, width))
    return model, {"input": torch.randn(32, width, device=device)}


TRAIN = {"bert": bert, "gpt2": gpt2, "llama": llama,
         "vit": _timm("vit_base_patch16_224", 64), "resnet50": _timm("resnet50", 128),
         "opt": opt, "qwen3_small": qwen3_small, "unet": unet,
         "convnext_tiny": _timm("convnext_tiny", 64),
         "swin_tiny": _timm("swin_tiny_patch4_window7_224", 64),
         "efficientnet": _timm("efficientnet_b0", 64), "mixer": _timm("mixer_b16_224", 32),
         "deit3": _timm("deit3_small_patch16_224", 64)}
INFER = {"bert": bert, "gpt2": gpt2, "llama": llama, "qwen3": qwen3, "t5_encoder": t5_encoder,
         "whisper_encoder": whisper_encoder, "vit": _timm("vit_base_patch16_224", 16),
         "resnet50": _timm("resnet50", 16), "convnext_tiny": _timm("convnext_tiny", 16),
         "mobilenetv3": _timm("mobilenetv3_large_100", 16),
         "swin_tiny": _timm("swin_tiny_patch4_window7_224", 16),
         "efficientnet": _timm("efficientnet_b0", 16), "unet": unet,
         # Those of bench/graphs.py that differ.
         "bert_8x128": functools.partial(bert, shape=(8, 128)),
         "resnet50_32": _timm("resnet50", 32), "vit_32": _timm("vit_base_patch16_224", 32),
         "llama_token": functools.partial(llama, tokens=1), "mlp": mlp,
         "mlp_fp32": mlp}


def dtype_of(name):
    """The dtype in which a model is measured without training."""
    return torch.float32 if name.endswith("_fp32") else torch.bfloat16


def loss_of(output):
    """A number to differentiate: the model's own loss, or the mean square of its output."""
    loss = getattr(output, "loss", None)
    if loss is not None:
        return loss
    return output.float().square().mean()


def first_tensor(output):
    if isinstance(output, torch.Tensor):
        return output
    for value in output.values() if hasattr(output, "values") else output:
        if isinstance(value, torch.Tensor):
            return value
    raise TypeError("the model gives no tensor")
