"""Architectures of timm, torchvision and transformers, with random weights.

Each is a function of `full`: (module, positional inputs, keyword inputs).  `full` has the published
size, otherwise the model has a block or two of each kind and a small image or sequence.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Callable

import torch


@dataclass
class Architecture:
    name: str
    library: str
    make: Callable[[bool], tuple[torch.nn.Module, tuple, dict]]
    train: bool = False
    """Is it one of those whose training is measured?"""


TABLE: dict[str, Architecture] = {}


def _add(library: str, name: str, make: Callable, train: bool = False) -> None:
    TABLE[name] = Architecture(name, library, make, train)


# ---- timm ----


def _timm(name: str, pixels: int = 224, small_pixels: int = 64, train: bool = False,
          sized: bool = False, cut: str = "", **small: Any) -> None:
    """`sized`: the model is made for a size of image, and has to be told another.  `cut` is a
    sequence of blocks of which a small model has two; `small` are options of the small model."""

    def make(full: bool):
        import timm

        side, options = (pixels, {}) if full else (small_pixels, dict(small))
        if sized and not full:
            options["img_size"] = side
        model = timm.create_model(name, pretrained=False, num_classes=1000 if full else 10,
                                  **options)
        if cut and not full:
            setattr(model, cut, getattr(model, cut)[:2])
        return model, (torch.randn(8 if full else 2, 3, side, side),), {}

    _add("timm", name, make, train)


_timm("resnet50", train=True, layers=(1, 1, 1, 1), channels=(8, 16, 32, 64))
_timm("convnext_tiny", train=True, depths=(1, 1, 1, 1), dims=(16, 24, 32, 48))
_timm("mobilenetv3_small_100", train=True)
_timm("efficientnet_b0", train=True)
_timm("regnety_002", train=True)
_timm("densenet121", train=True, growth_rate=8, block_config=(2, 2, 2, 2))
_timm("nfnet_l0", depths=(1, 1, 1, 1))
_timm("swin_tiny_patch4_window7_224", sized=True, small_pixels=56, train=True, depths=(2, 2),
      embed_dim=24, num_heads=(2, 4))
_timm("vit_base_patch16_224", sized=True, train=True, depth=2, embed_dim=48, num_heads=3)
_timm("deit_tiny_distilled_patch16_224", sized=True, train=True, depth=2, embed_dim=48, num_heads=3)
_timm("beit_base_patch16_224", sized=True, train=True, depth=2, embed_dim=48, num_heads=3)
_timm("coatnet_0_rw_224", sized=True, small_pixels=64, depths=(1, 1, 1, 1),
      embed_dim=(32, 32, 64, 64))
_timm("maxvit_tiny_rw_224", sized=True, small_pixels=64, depths=(1, 1, 1, 1),
      embed_dim=(32, 32, 64, 64))
_timm("mixer_s32_224", sized=True, train=True, cut="blocks")
_timm("gmlp_s16_224", sized=True, cut="blocks")
_timm("resmlp_12_224", sized=True, cut="blocks")
_timm("edgenext_xx_small", pixels=256, depths=(1, 1, 2, 1))
_timm("levit_128s", sized=False, small_pixels=224, depth=(1, 1, 1))
_timm("pit_ti_224", sized=True, small_pixels=64, depth=(1, 1, 1))
_timm("xcit_nano_12_p16_224", sized=True, depth=2)
_timm("cait_xxs24_224", sized=True, depth=2, embed_dim=48, num_heads=3)
_timm("crossvit_tiny_240", pixels=240, small_pixels=240, depth=((1, 1, 0),))
_timm("tnt_s_patch16_224", small_pixels=224, depth=2)
_timm("twins_pcpvt_small", small_pixels=224, depths=(1, 1, 1, 1))
_timm("pvt_v2_b0", depths=(1, 1, 1, 1))
_timm("poolformer_s12")
_timm("convmixer_768_32", cut="blocks")
_timm("repvgg_a0")
_timm("ghostnet_100")
_timm("hrnet_w18_small")
_timm("dla34")
_timm("res2net50_14w_8s", layers=(1, 1, 1, 1))
_timm("inception_v3", pixels=299, small_pixels=96)
_timm("mobilevit_xxs", pixels=256)
_timm("efficientformer_l1", small_pixels=224, depths=(1, 1, 1, 2))
_timm("fastvit_t8", pixels=256, layers=(1, 1, 1, 1))
_timm("hiera_tiny_224", sized=True, small_pixels=128, stages=(1, 1, 1, 1))
_timm("davit_tiny", small_pixels=224, depths=(1, 1), embed_dims=(24, 48), num_heads=(2, 4))
_timm("focalnet_tiny_srf")
_timm("eva02_tiny_patch14_224", sized=True, small_pixels=56, depth=2)
_timm("mambaout_femto", depths=(1, 1, 1, 1))
_timm("sequencer2d_s", small_pixels=224, layers=(1, 1, 1, 1))



class _Detector(torch.nn.Module):
    """Heads of boxes and classes on maps of four sizes, by separable convolutions, as
    torchvision's ssdlite320 has them."""

    def __init__(self, full: bool):
        super().__init__()
        import timm

        self.body = timm.create_model("mobilenetv3_large_100", features_only=True,
                                      out_indices=(3, 4), pretrained=False)
        widths = [*self.body.feature_info.channels(), 512, 256]
        self.more = torch.nn.ModuleList(
            self._separable(a, b, 2) for a, b in zip(widths[1:], widths[2:]))
        self.heads = torch.nn.ModuleList(
            torch.nn.ModuleList(self._separable(width, 6 * n, 1) for width in widths)
            for n in (91 if full else 5, 4))

    @staticmethod
    def _separable(width: int, to: int, stride: int) -> torch.nn.Module:
        nn = torch.nn
        return nn.Sequential(nn.Conv2d(width, width, 3, stride, 1, groups=width, bias=False),
                             nn.BatchNorm2d(width), nn.ReLU6(), nn.Conv2d(width, to, 1))

    def forward(self, x):
        maps = self.body(x)
        for step in self.more:
            maps.append(step(maps[-1]))
        return [torch.cat([head(y).flatten(2) for head, y in zip(heads, maps)], 2)
                for heads in self.heads]


_add("timm", "ssdlite_mobilenetv3_large",
     lambda full: (_Detector(full), (torch.randn(2, 3, 320, 320) if full else
                                     torch.randn(1, 3, 128, 128),), {}))

# ---- torchvision ----


def _vision(name: str, small: Callable | None = None, inputs: Callable | None = None,
            train: bool = False, **options: Any) -> None:
    """The model of that name, or `small()`; `inputs(full)` are its inputs."""

    def make(full: bool):
        from torchvision import models

        whole = full or small is None
        model = models.get_model(name, weights=None, **options) if whole else small()
        if inputs is not None:
            return model, inputs(full), {}
        side = 224 if full else 64
        return model, (torch.randn(8 if full else 2, 3, side, side),), {}

    _add("torchvision", name, make, train)


def _scenes(full: bool) -> tuple:
    """A list of images, as detectors take it."""
    side = 320 if full else 64
    return ([torch.rand(3, side, side) for _ in range(2)],)


def _clip(full: bool) -> tuple:
    return (torch.randn(2, 3, 16, 224, 224) if full else torch.randn(1, 3, 4, 32, 32),)


def _frames(full: bool) -> tuple:
    side = 256 if full else 128
    return torch.rand(1, 3, side, side), torch.rand(1, 3, side, side)


def _small_vgg():
    from torchvision.models import vgg

    layers = vgg.make_layers([8, "M", 16, "M", 16, "M"], batch_norm=True)
    model = vgg.VGG(layers, num_classes=10)
    model.classifier = torch.nn.Sequential(torch.nn.Linear(16 * 49, 32), torch.nn.ReLU(),
                                           torch.nn.Dropout(), torch.nn.Linear(32, 10))
    return model


def _small_detector():
    from torchvision.models import detection

    return detection.fasterrcnn_mobilenet_v3_large_320_fpn(
        weights=None, weights_backbone=None, num_classes=5, min_size=64, max_size=64)


def _small_mvit():
    from torchvision.models.video import mvit

    blocks = [mvit.MSBlockConfig(1, 16, 32, [3, 3, 3], [3, 3, 3], [1, 1, 1], [1, 2, 2]),
              mvit.MSBlockConfig(2, 32, 32, [3, 3, 3], [3, 3, 3], [1, 2, 2], [1, 1, 1])]
    return mvit.MViT(spatial_size=(32, 32), temporal_size=4, block_setting=blocks,
                     residual_pool=False, residual_with_cls_embed=False, rel_pos_embed=False,
                     proj_after_attn=False, num_classes=10)


def _small_swin3d():
    from torchvision.models.video import swin_transformer

    return swin_transformer.SwinTransformer3d(patch_size=[2, 4, 4], embed_dim=24, depths=[2, 2],
                                              num_heads=[2, 4], window_size=[8, 7, 7],
                                              num_classes=10)


def _small_r3d():
    from torchvision.models.video import resnet

    return resnet.VideoResNet(resnet.BasicBlock, [resnet.Conv3DSimple] * 4, [1, 1, 1, 1],
                              resnet.BasicStem, num_classes=10)


_vision("vgg11_bn", _small_vgg, train=True)
_vision("googlenet", inputs=lambda full: (torch.randn(8 if full else 2, 3, 224 if full else 96,
                                                      224 if full else 96),))
_vision("shufflenet_v2_x0_5", train=True)
_vision("squeezenet1_1", train=True)
_vision("mnasnet0_5")
_vision("lraspp_mobilenet_v3_large", weights_backbone=None)
_vision("deeplabv3_mobilenet_v3_large", weights_backbone=None)
_vision("fasterrcnn_mobilenet_v3_large_320_fpn", _small_detector, _scenes, weights_backbone=None)
_vision("ssdlite320_mobilenet_v3_large", None, _scenes, weights_backbone=None)
_vision("raft_small", None, _frames)
_vision("r3d_18", _small_r3d, _clip)
_vision("mvit_v1_b", _small_mvit, _clip)
_vision("swin3d_t", _small_swin3d, _clip)


# ---- transformers ----

_SMALL = {"hidden_size": 48, "num_hidden_layers": 2, "num_attention_heads": 4,
          "intermediate_size": 96, "vocab_size": 256, "max_position_embeddings": 64}
_SMALL_DECODER = {**_SMALL, "num_key_value_heads": 2, "head_dim": 16}
_SMALL_OLD = {"n_embd": 48, "n_layer": 2, "n_head": 4, "vocab_size": 256, "n_positions": 64}
_SMALL_PAIR = {"d_model": 48, "encoder_layers": 2, "decoder_layers": 2, "vocab_size": 256,
               "encoder_attention_heads": 4, "decoder_attention_heads": 4, "encoder_ffn_dim": 96,
               "decoder_ffn_dim": 96, "max_position_embeddings": 64}
_SMALL_IMAGE = {**_SMALL, "image_size": 64, "patch_size": 16}
_NO_DROPOUT = ("hidden_dropout_prob", "attention_probs_dropout_prob", "resid_pdrop", "embd_pdrop",
               "attn_pdrop", "dropout", "attention_dropout", "activation_dropout", "dropout_rate",
               "hidden_dropout", "classifier_dropout", "layerdrop", "feat_proj_dropout",
               "final_dropout", "mask_time_prob", "embed_pdrop", "summary_last_dropout")


def _words(config, full: bool, length: int = 24) -> dict:
    # RoBERTa counts its positions from the padding's index on.
    longest = getattr(config, "max_position_embeddings", 514) - 2
    shape = (8, min(512, longest)) if full else (2, length)
    return {"input_ids": torch.randint(3, config.vocab_size, shape)}


def _ids(config, full):
    return {**_words(config, full), "use_cache": False}


def _masked(config, full):
    words = _words(config, full)
    mask = torch.ones_like(words["input_ids"])
    mask[0, -5:] = 0
    return {**words, "attention_mask": mask}


def _pair(config, full):
    words = _words(config, full)["input_ids"]
    return {"input_ids": words, "decoder_input_ids": words.flip(1), "use_cache": False}


def _image(config, full):
    side = 224 if full else 64
    return {"pixel_values": torch.randn(8 if full else 2, 3, side, side)}


def _sound(config, full):
    return {"input_values": torch.randn(2, 16000 if full else 4000)}


def _spectrum(config, full):
    return {"input_features": torch.randn(2, config.num_mel_bins, 2 * config.max_source_positions),
            "decoder_input_ids": torch.randint(3, config.vocab_size, (2, 16)), "use_cache": False}


def _image_words(config, full):
    side = config.vision_config.image_size
    return {"input_ids": torch.randint(3, config.text_config.vocab_size, (2, 16)),
            "pixel_values": torch.randn(2, 3, side, side)}


def _hf(name: str, config: str, model: str, inputs: Callable, small: dict | None = None,
        train: bool = False, **always: Any) -> None:
    def make(full: bool):
        import transformers

        kind = getattr(transformers, config)
        made = kind(**{**({} if full else small or _SMALL), **always})
        for key in _NO_DROPOUT:
            if isinstance(getattr(made, key, None), float):
                setattr(made, key, 0.0)
        built = getattr(transformers, model)(made)
        return built, (), inputs(made, full)

    _add("transformers", name, make, train)


_hf("bert", "BertConfig", "BertForMaskedLM", _masked, train=True)
_hf("roberta", "RobertaConfig", "RobertaForMaskedLM", _masked, {**_SMALL,
                                                              "max_position_embeddings": 66})
_hf("albert", "AlbertConfig", "AlbertForMaskedLM", _masked, {**_SMALL, "embedding_size": 24},
    train=True)
_hf("distilbert", "DistilBertConfig", "DistilBertForMaskedLM", _masked,
    {"dim": 48, "n_layers": 2, "n_heads": 4, "hidden_dim": 96, "vocab_size": 256,
     "max_position_embeddings": 64}, train=True)
_hf("electra", "ElectraConfig", "ElectraForPreTraining", _masked, {**_SMALL, "embedding_size": 24},
    train=True)
_hf("deberta_v2", "DebertaV2Config", "DebertaV2ForMaskedLM", _masked,
    {**_SMALL, "relative_attention": True, "pos_att_type": ["p2c", "c2p"], "position_buckets": 8,
     "norm_rel_ebd": "layer_norm", "share_att_key": True})
_hf("fnet", "FNetConfig", "FNetForMaskedLM", _words)
_hf("longformer", "LongformerConfig", "LongformerForMaskedLM", _words,
    {**_SMALL, "attention_window": [8, 8], "max_position_embeddings": 66})
_hf("bigbird", "BigBirdConfig", "BigBirdForMaskedLM", _words,
    {**_SMALL, "attention_type": "original_full"})
_hf("xlnet", "XLNetConfig", "XLNetLMHeadModel", _words,
    {"d_model": 48, "n_layer": 2, "n_head": 4, "d_inner": 96, "vocab_size": 256},
    use_mems_eval=False)
_hf("gpt2", "GPT2Config", "GPT2LMHeadModel", _ids, _SMALL_OLD, train=True)
_hf("gpt_neox", "GPTNeoXConfig", "GPTNeoXForCausalLM", _ids, train=True)
_hf("gptj", "GPTJConfig", "GPTJForCausalLM", _ids, {**_SMALL_OLD, "rotary_dim": 8})
_hf("opt", "OPTConfig", "OPTForCausalLM", _ids,
    {**_SMALL, "ffn_dim": 96, "word_embed_proj_dim": 48}, train=True)
_hf("bloom", "BloomConfig", "BloomForCausalLM", _ids,
    {"hidden_size": 48, "n_layer": 2, "n_head": 4, "vocab_size": 256}, train=True)
_hf("falcon", "FalconConfig", "FalconForCausalLM", _ids)
_hf("phi", "PhiConfig", "PhiForCausalLM", _ids, train=True)
_hf("llama", "LlamaConfig", "LlamaForCausalLM", _ids, _SMALL_DECODER, train=True)
_hf("qwen3", "Qwen3Config", "Qwen3ForCausalLM", _ids, _SMALL_DECODER, train=True)
_hf("mistral", "MistralConfig", "MistralForCausalLM", _ids, {**_SMALL_DECODER, "sliding_window": 8},
    train=True)
_hf("gemma2", "Gemma2Config", "Gemma2ForCausalLM", _ids, {**_SMALL_DECODER, "sliding_window": 8},
    train=True)
_hf("mixtral", "MixtralConfig", "MixtralForCausalLM", _ids,
    {**_SMALL_DECODER, "num_local_experts": 4})
_hf("deepseek_v2", "DeepseekV2Config", "DeepseekV2ForCausalLM", _ids,
    {**_SMALL, "num_key_value_heads": 4, "moe_intermediate_size": 32, "n_routed_experts": 4,
     "n_shared_experts": 1, "num_experts_per_tok": 2, "kv_lora_rank": 16, "q_lora_rank": 16,
     "qk_nope_head_dim": 8, "qk_rope_head_dim": 8, "v_head_dim": 16, "n_group": 1,
     "topk_group": 1, "first_k_dense_replace": 1})
_hf("mamba", "MambaConfig", "MambaForCausalLM", _ids,
    {"hidden_size": 48, "num_hidden_layers": 2, "vocab_size": 256, "state_size": 8,
     "time_step_rank": 4})
_hf("t5", "T5Config", "T5ForConditionalGeneration", _pair,
    {"d_model": 48, "d_kv": 12, "d_ff": 96, "num_layers": 2, "num_heads": 4, "vocab_size": 256},
    train=True)
_hf("bart", "BartConfig", "BartForConditionalGeneration", _pair, _SMALL_PAIR, train=True)
_hf("mbart", "MBartConfig", "MBartForConditionalGeneration", _pair, _SMALL_PAIR)
_hf("whisper", "WhisperConfig", "WhisperForConditionalGeneration", _spectrum,
    {**_SMALL_PAIR, "num_mel_bins": 16, "max_source_positions": 32, "max_target_positions": 64,
     "pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2, "decoder_start_token_id": 1})
_hf("wav2vec2", "Wav2Vec2Config", "Wav2Vec2ForCTC", _sound,
    {**_SMALL, "conv_dim": (16, 16, 16), "conv_stride": (5, 4, 2), "conv_kernel": (10, 8, 3),
     "num_feat_extract_layers": 3, "num_conv_pos_embeddings": 16,
     "num_conv_pos_embedding_groups": 4, "apply_spec_augment": False})
_hf("hubert", "HubertConfig", "HubertForCTC", _sound,
    {**_SMALL, "conv_dim": (16, 16, 16), "conv_stride": (5, 4, 2), "conv_kernel": (10, 8, 3),
     "num_feat_extract_layers": 3, "num_conv_pos_embeddings": 16,
     "num_conv_pos_embedding_groups": 4, "apply_spec_augment": False})
_hf("hf_vit", "ViTConfig", "ViTForImageClassification", _image, _SMALL_IMAGE)
_hf("dinov2", "Dinov2Config", "Dinov2ForImageClassification", _image,
    {**_SMALL_IMAGE, "mlp_ratio": 2})
_hf("segformer", "SegformerConfig", "SegformerForSemanticSegmentation", _image,
    {"num_encoder_blocks": 2, "depths": [1, 1], "sr_ratios": [2, 1], "hidden_sizes": [16, 32],
     "patch_sizes": [7, 3], "strides": [4, 2], "num_attention_heads": [1, 2],
     "mlp_ratios": [2, 2], "decoder_hidden_size": 32})
_hf("clip", "CLIPConfig", "CLIPModel", _image_words,
    {"text_config": {**_SMALL, "eos_token_id": 2, "projection_dim": 32},
     "vision_config": {**_SMALL_IMAGE, "projection_dim": 32}, "projection_dim": 32})
_hf("blip", "BlipConfig", "BlipModel", _image_words,
    {"text_config": {**_SMALL, "bos_token_id": 1, "eos_token_id": 2, "pad_token_id": 0,
                     "sep_token_id": 2}, "vision_config": _SMALL_IMAGE, "projection_dim": 32})
