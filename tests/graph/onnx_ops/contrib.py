"""Operators of com.microsoft, which ONNX Runtime's optimizers and exporters for it write.

Expected values are ONNX Runtime's, of contrib.txt, which `onnx_ops.py --record` writes.
"""
import numpy as np
import onnx_text as o

F, U1, I1 = np.float32, np.uint8, np.int8
VALUES = "contrib.txt"
MS = "com.microsoft "


def normal(seed, *shape):
    return np.random.default_rng(seed).normal(size=shape).astype(F)


def bytes_of(seed, *shape, low=0, high=256, dtype=U1):
    return np.random.default_rng(seed).integers(low, high, shape).astype(dtype)


def number(value, dtype=F):
    return np.array(value, dtype)


X, SKIP = normal(1, 2, 3, 8), normal(2, 2, 3, 8)
ROW, ROW2, ROW3 = normal(3, 8), normal(4, 8), normal(5, 8)
IDS, SEGMENTS = bytes_of(6, 2, 3, high=9, dtype=np.int32), bytes_of(7, 2, 3, high=2, dtype=np.int32)
TABLES = [normal(8, 9, 8), normal(9, 5, 8), normal(10, 2, 8)]
MASK = np.array([[1, 1, 0], [1, 1, 1]], np.int32)
IMAGE, KERNEL, SHIFT = normal(11, 1, 2, 4, 5), normal(12, 3, 2, 3, 3), normal(13, 3)
EMBED = [IDS, SEGMENTS, *TABLES, ROW, ROW2]

# 3 tokens of 8 elements, 2 heads
WEIGHT, BIAS = normal(14, 8, 24), normal(15, 24)
PAST = normal(16, 2, 2, 2, 4, 4)
LONG = np.array([[1, 1, 1, 0, 1, 1, 0], [0, 1, 1, 1, 1, 1, 1]], np.int32)
SCORES = normal(17, 2, 2, 3, 3)
HEADS = dict(num_heads=2)
PAIR = [X, normal(18, 2, 5, 8), normal(19, 2, 5, 6)]
CACHE = [normal(20, 2, 2, 4, 4), normal(21, 2, 2, 4, 4)]

# 4 heads of 16 elements, 2 groups; 6 places, of which 3 and 5 have tokens before
GROUPS = dict(num_heads=4, kv_num_heads=2)
QUERY, KEY, VALUE = normal(22, 2, 1, 64), normal(23, 2, 1, 32), normal(24, 2, 1, 32)
PLACES = [normal(25, 2, 2, 6, 16), normal(26, 2, 2, 6, 16)]
COS, SIN = np.cos(normal(27, 16, 2)), np.sin(normal(27, 16, 2))
COSINES = [np.cos(normal(80, 8, 8)), np.sin(normal(80, 8, 8))]
ENDS, TOTAL = np.array([3, 5], np.int32), number(6, np.int32)
PROMPT = [normal(28, 2, 3, 64), normal(29, 2, 3, 32), normal(30, 2, 3, 32)]
PACKED = normal(31, 2, 1, 128)
WHOLE = [None, None, np.array([2, 2], np.int32), number(3, np.int32)]

# 4 streams of 8 features for 2 x 3 tokens
FOUR_STREAMS = normal(97, 2, 3, 4, 8)
REPEATED = np.array([[1, 2, 3, 1, 2, 3, 1, 2], [4, 4, 4, 4, 4, 4, 4, 4]])
# 2 x 3 tokens with 2 heads of queries and keys, 5 long, and 4 of values, 6 long
NET = [normal(98, 6, 2, 5), normal(99, 6, 2, 5), normal(100, 6, 4, 6), -np.abs(normal(101, 6, 4)),
       np.abs(normal(102, 6, 4)), normal(103, 2, 4, 6, 5), normal(104, 4), normal(107, 4)]
NET_OF_ONE = np.concatenate([x.reshape(6, -1) for x in NET[:3]], 1)

PADDED = np.array([2, 0], np.int32)

A8, B8 = bytes_of(32, 3, 4), bytes_of(33, 3, 4)
S8 = bytes_of(34, 3, 4, low=-128, high=128, dtype=I1)
PLANES = bytes_of(35, 1, 2, 4, 4)
NHWC = bytes_of(36, 1, 4, 4, 2)
W8, WS = bytes_of(37, 4, 5, low=-128, high=128, dtype=I1), np.abs(normal(38, 5)) / 50
MATRIX = normal(39, 3, 4)


def scaled(x, scale, zero):
    return [x, number(scale), number(zero, x.dtype)]


def nbits(bits, zeros=None, size=16):
    """N 3, K 40: three blocks, of which the last is not full."""
    ins = [normal(40, 2, 40), bytes_of(41 + bits, 3, -(-40 // size), size * bits // 8),
           np.abs(normal(42, 3, -(-40 // size))) / 9]
    if zeros == "packed":
        ins.append(bytes_of(43, 3, -(-(-(-40 // size)) * bits // 8)))
    if zeros == "floats":
        ins.append(normal(44, 3, -(-40 // size)))
    return ins, dict(N=3, K=40, bits=bits, block_size=size)


# (operator, opset, inputs, attributes, number of results)
TIED = np.array([[1, 1, 1, 1], [0, 2, 2, 0], [3, 3, 1, 3], [0, 0, 0, 1], [2, 2, 0, 0]], F)


def experts(activation, fused=0, biased=True, rows=normal(60, 5, 8), gates=normal(63, 5, 4),
            **more):
    """Four experts of 8 columns, 6 between the layers."""
    width = 6 * (1 + (fused > 0))
    bias = [normal(61, 4, width), normal(62, 4, 8)] if biased else [None, None]
    return (MS + "MoE", 17, [rows, gates, normal(64, 4, width, 8), bias[0],
                             normal(65, 4, 8, 6), bias[1]],
            dict(activation_type=activation, swiglu_fusion=fused, **more), 1)


def packed_experts(bits, block, zeros, fused=1, gates=normal(63, 5, 4)):
    def scales(seed, rows):
        shape = (4, rows, 2) if block else (4, rows)
        return (np.abs(normal(seed, *shape)) / (4 << bits)).astype(F)

    def points(seed, rows):
        return bytes_of(seed, 4, rows, bits // 4) if block else bytes_of(seed, 4, rows * bits // 8)

    columns = 32 * bits // 8
    inputs = [normal(70, 5, 32), gates, bytes_of(71, 4, 64, columns), scales(72, 64),
              normal(73, 4, 64), bytes_of(74, 4, 32, columns), scales(75, 32), None]
    more = dict(block_size=block) if block else {}
    return (MS + "QMoE", 17, inputs + ([None] * 3 + [points(76, 64), points(77, 32)]) * zeros,
            dict(k=2, normalize_routing_weights=1, activation_type="swiglu", swiglu_fusion=fused,
                 activation_alpha=1.702, activation_beta=1.0, swiglu_limit=7.0,
                 expert_weight_bits=bits, **more), 1)


def bnb(kind, n, k, size, rows, **more):
    """Weights of four bits; a block may have the ends of rows."""
    count = n * k
    return (MS + "MatMulBnb4", 17, [rows, bytes_of(90 + kind, -(-count // 2)),
                                    np.abs(normal(91, -(-count // size)))],
            dict(N=n, K=k, block_size=size, quant_type=kind, **more), 1)


def quantized_embedding(dtype, segments, mask):
    low, high = (0, 256) if dtype == U1 else (-128, 128)
    tables = [bytes_of(92 + i, *size, low=low, high=high, dtype=dtype)
              for i, size in enumerate([(9, 8), (5, 8), (2, 8), (8,), (8,)])]
    scales = [number(s) for s in (0.02, 0.015, 0.03, 0.01, 0.02)]
    zeros = [number(z, dtype) for z in (3, 7, 1, 5, 9)]
    if not segments:
        tables[2] = scales[2] = zeros[2] = None
    return (MS + "QEmbedLayerNormalization", 17,
            [IDS, SEGMENTS if segments else None, *tables, mask, *scales, *zeros],
            dict(epsilon=1e-6), 2)


def last_convolution(group, **more):
    """Channels come last."""
    return (MS + "QLinearConv", 17,
            [bytes_of(97, 1, 5, 4, 2 * group), number(0.03), number(120, U1),
             bytes_of(98, 3 * group, 2, 3, 3, low=-128, high=128, dtype=I1), number(0.02),
             number(0, I1), number(0.4), number(110, U1),
             bytes_of(99, 3 * group, low=-999, high=999, dtype=np.int32)],
            dict(channels_last=1, group=group, **more), 1)


def packed_product(kind, n, k):
    """Blocks of 32 elements: a number, with kind 1 a zero point, and 16 bytes."""
    blocks = -(-k // 32)
    data = bytes_of(110, n, blocks, 20 + kind, high=16 if kind else 256)
    data[:, :, :4] = np.abs(normal(111, n, blocks, 1)).view(U1)
    return (MS + "MatMulFpQ4", 17, [normal(112, 3, k), data.reshape(-1), np.array([k, n])],
            dict(blk_quant_type=kind), 1)


def masked_decoder(mask=None, added=None, bias=None, **more):
    """One token of two batches; four tokens in a cache of six."""
    rows = [normal(113 + i, 2, 1, 8) for i in range(3)]
    return (MS + "DecoderMaskedMultiHeadAttention", 17,
            [*rows, mask, added, normal(116, 2, 2, 6, 4), normal(117, 2, 2, 6, 4),
             np.array([4], np.int32), None, None, bias],
            dict(num_heads=2, past_present_share_buffer=1, **more), 3)


FIVE = np.array([[1, 1, 1, 1, 1], [0, 0, 1, 1, 1]], np.int32)
CROPPED = [normal(118, 2, 3, 5, 7), np.array([[0, 0, 1, 1], [.1, .2, .8, .7], [-.3, 0, .5, 1.4],
                                              [1, 1, 0, 0]], F), np.array([0, 1, 1, 0], np.int32)]
KEYS = np.array([[1, -5, 7], [0, 2**31 - 1, -2**31]], np.int32)


def hashes(ids, factors, past=None, offsets=None):
    sizes = np.array([101, 103, 107, 109, 113, 127], ids.dtype)
    return (MS + "NGramHashMapping", 17,
            [ids, np.array(factors, ids.dtype), sizes, past, offsets],
            dict(max_ngram_size=3, n_head_per_ngram=3, pad_id=7), 2)


TOKENS = bytes_of(119, 2, 7, high=1000, dtype=np.int64)
FACTORS = [1099511628211 * 3, 14695981039346656, 7919]


def decoder(seed):
    """Attention of two heads to a cache, of 11 tokens."""
    def weights(name, number, *shape):
        return o.tensor(name, "f4", shape, normal(seed + number, *shape).tobytes())

    nodes = [o.node("Gather", "E input_ids", "e"), o.node("Gather", "P position_ids", "p"),
             o.node("Add", "e p", "x"), o.node("Reshape", "x parts", "h"),
             o.node("Transpose", "h", "q", perm=[0, 2, 1, 3]), o.node("Unsqueeze", "q first", "q0"),
             o.node("Concat", "q0 q0", "new", axis=0),
             o.node("Concat", "past_0 new", "present_0", axis=3),
             o.node("Split", "present_0", "k0 v0", axis=0), o.node("Squeeze", "k0 first", "k"),
             o.node("Squeeze", "v0 first", "v"), o.node("Transpose", "k", "kt", perm=[0, 1, 3, 2]),
             o.node("MatMul", "q kt", "s"), o.node("Cast", "attention_mask", "mask", to=1),
             o.node("Sub", "one mask", "out"), o.node("Mul", "out low", "far"),
             o.node("Unsqueeze", "far middle", "bias"), o.node("Add", "s bias", "t"),
             o.node("Softmax", "t", "a", axis=-1), o.node("MatMul", "a v", "c"),
             o.node("Transpose", "c", "ct", perm=[0, 2, 1, 3]), o.node("Reshape", "ct whole", "y"),
             o.node("Add", "y x", "z"), o.node("MatMul", "z W", "logits")]
    i32 = o.type_of(6, ["b", "s"])
    return o.graph(
        nodes, {"input_ids": i32, "position_ids": i32, "attention_mask": o.type_of(6, ["b", "t"]),
                "past_0": o.f32(2, "b", 2, "u", 3)},
        {"logits": o.f32("b", "s", 11), "present_0": o.f32(2, "b", 2, "t", 3)},
        [weights("E", 0, 11, 6), weights("P", 1, 16, 6), weights("W", 2, 6, 11),
         o.ints("parts", 0, 0, 2, 3), o.ints("whole", 0, 0, 6), o.ints("first", 0),
         o.ints("middle", 1, 2), o.tensor("one", "f4", [], F(1).tobytes()),
         o.tensor("low", "f4", [], F(-1e4).tobytes())])


def search(seed, least=None, penalty=None, allowed=None, first=None, **more):
    """Eight tokens for rows of which one begins with a pad; one ends before the other."""
    def one(value, dtype):
        return None if value is None else np.array([value], dtype)

    prompt = np.array([[1, 2, 3], [0, 4, 5]], np.int32)
    return (MS + "GreedySearch", 17,
            [prompt, one(11, np.int32), one(least, np.int32), one(penalty, F), allowed, first],
            dict(decoder=decoder(seed), eos_token_id=5, pad_token_id=0, **more), 1)


def drawn(seed, **more):
    """Samples of which one token is left, so that no generator decides; no row ends early."""
    name, opset, inputs, attributes, count = search(seed, **more.pop("given", {}))
    inputs = [*inputs, None, more.pop("presence", None), np.array([7], np.int32)]
    return (MS + "Sampling", opset, inputs, dict(attributes, min_tokens_to_keep=1, **more), count)


def beams(seed, n, returned, most=11, least=1, power=1.0, penalty=1.0, rows=2, **more):
    prompt = np.array([[1, 2, 3], [0, 4, 5], [7, 8, 9]], np.int32)[:rows]
    masks = [more.pop(key, None) for key in ("allowed", "first")]
    return (MS + "BeamSearch", 17,
            [prompt, *[np.array([v], np.int32) for v in (most, least, n, returned)],
             np.array([power], F), np.array([penalty], F), *masks],
            dict(decoder=decoder(seed), eos_token_id=5, pad_token_id=0, **more), 2)


# A window of two tokens, in caches of two rows and of four.
WINDOW = dict(GROUPS, local_window_size=2, sliding_window_cache=1)
OLD = [normal(130, 1, 2, 4, 16), normal(131, 1, 2, 4, 16)]
NEXT = [normal(132, 1, 3, 64), normal(133, 1, 3, 32), normal(134, 1, 3, 32)]


def window(rows, tokens, new=3, **more):
    """After so many tokens, `new` of which are new; all rows hold one."""
    return (MS + "GroupQueryAttention", 17,
            [*[x[:, :new] for x in NEXT], *[x[:, :, :rows] for x in OLD],
             np.array([tokens - 1], np.int32), number(tokens, np.int32),
             *(COSINES if more.get("do_rotary") else [])], dict(WINDOW, **more), 3)


ALLOWED = np.array([1, 0, 1, 1, 1, 1, 0, 1, 0, 1, 1], np.int32)
STREAMS = np.array([[[0, 1, 2], [3, 3, 3]], [[0, 4, 5], [1, 2, 3]], [[7, 6, 2], [0, 0, 1]]])
WAVES = [np.cos(normal(81, 8, 6)), np.sin(normal(81, 8, 6))]
BRANCHES = normal(50, 2, 3, 12)
CALLS = [
    *[bnb(kind, 5, 24, size, normal(100, 2, 3, 24)) for kind in (0, 1) for size in (16, 64)],
    bnb(1, 3, 7, 16, normal(101, 4, 7)),
    *[quantized_embedding(dtype, segments, mask) for dtype, segments, mask in
      ((U1, True, MASK), (U1, False, None), (I1, True, None))],
    last_convolution(1), last_convolution(1, pads=[1, 1, 1, 1], strides=[2, 1]),
    last_convolution(2, pads=[0, 1, 0, 1]),
    *[(MS + "MRotaryEmbedding", 17, [x, STREAMS, *WAVES],
       dict(mrope_section=section, mrope_layout=layout, interleaved=pairs, **more), 1)
      for x, more in ((normal(102, 2, 2, 3, 12), dict(scale=2.0)),
                      (normal(103, 2, 3, 32), dict(num_heads=2, rotary_embedding_dim=12)))
      for layout, section in ((0, [2, 1, 3]), (0, [6, 0, 0]), (1, [2, 2, 2]), (1, [4, 1, 1]))
      for pairs in (0, 1)],
    (MS + "LinearAttentionGate", 17, [normal(104, 2, 3, 4), normal(105, 4), -np.abs(normal(106, 4)),
                                      normal(107, 2, 3, 4)], {}, 2),
    (MS + "LinearAttentionGate", 17, [normal(104, 2, 3, 4), normal(105, 4), normal(106, 4)], {}, 1),
    *[(MS + "UnfoldTensor", 17, [normal(108, 3, 7)], dict(size=size, step=step, dim=dim), 1)
      for size, step, dim in ((3, 2, -1), (2, 1, 0), (7, 3, 1))],
    *[experts(how, k=k, normalize_routing_weights=norm, biased=norm == 0)
      for how in ("relu", "gelu", "silu", "identity") for k, norm in ((1, 0), (3, 1))],
    *[experts("relu", k=k, gates=TIED) for k in (1, 2, 3)], packed_experts(8, 0, 0, gates=TIED),
    experts("swiglu", 1, k=2, activation_alpha=1.702, activation_beta=1.0, swiglu_limit=0.7),
    experts("swiglu", 1, k=2, rows=normal(60, 1, 5, 8), normalize_routing_weights=1),
    *[packed_experts(bits, block, zeros) for bits in (4, 8) for block in (0, 16)
      for zeros in (0, 1)],
    *[search(300), search(310, no_repeat_ngram_size=2), search(320, least=9),
      search(330, penalty=1.7), search(340, allowed=ALLOWED),
      search(350, first=bytes_of(127, 2, 11, high=2, dtype=np.int32), no_repeat_ngram_size=1,
             penalty=0.6)],
    *[(MS + "ConvTransposeWithDynamicPads", 17, [normal(140, 1, 3, 5, 4), normal(141, 3, 2, 3, 3),
                                                 np.array(pads), bias],
       dict(strides=[2, 1], **more), 1)
      for pads, bias, more in (([1, 0, 0, 1], None, {}),
                               ([1, 1, 1, 1], normal(142, 2), dict(output_padding=[1, 0])))],
    *[beams(seed, n, returned) for seed, n, returned in ((300, 3, 2), (301, 1, 1), (302, 4, 4))],
    beams(303, 2, 2, power=0.5, penalty=1.5, least=7),
    beams(304, 4, 3, early_stopping=1, power=2.0),
    beams(305, 2, 1, rows=3, power=0.3), beams(306, 3, 3, rows=3, most=7, penalty=0.7),
    beams(307, 3, 1, no_repeat_ngram_size=2, allowed=ALLOWED),
    beams(308, 2, 2, first=bytes_of(128, 2, 11, high=2, dtype=np.int32)),
    drawn(300, top_p=1e-6), drawn(310, top_p=1e-6, temperature=0.5),
    drawn(310, top_p=1e-6, presence=np.ones((2, 11), np.int32), presence_penalty=0.5),
    drawn(320, top_p=1e-6, custom=1, given=dict(penalty=1.7)),
    window(2, 3), window(2, 7), window(2, 6, new=1, do_rotary=1), window(4, 4, new=2),
    window(4, 7), window(4, 10, new=1), window(4, 13, softcap=0.7),
    *[packed_product(kind, 5, k) for kind in (0, 1) for k in (64, 70)],
    *[masked_decoder(mask, added, bias) for mask in (None, FIVE)
      for added in (None, normal(120, 2, 2, 1, 5)) for bias in (None, normal(121, 24))],
    masked_decoder(FIVE, scale=0.3, mask_filter_value=-1.0),
    *[(MS + "DecoderMaskedMultiHeadAttention", 17,
       [normal(122, 2, 1, 16), normal(123, 2, 2, 5, 8), normal(124, 2, 2, 5, 8), mask], HEADS, 1)
      for mask in (None, FIVE)],
    *[(MS + "CropAndResize", 17, [*CROPPED, np.array(size, np.int32)],
       dict(mode=mode, extrapolation_value=2.5), 1)
      for size in ([4, 3], [1, 1], [1, 6]) for mode in ("bilinear", "nearest")],
    (MS + "MurmurHash3", 17, [KEYS], dict(seed=3), 1),
    (MS + "MurmurHash3", 17, [KEYS.view(np.uint32)], dict(positive=0), 1),
    (MS + "MurmurHash3", 17, [np.float32([0, 1, -1.5, -0.0, 1e30, np.inf])], {}, 1),
    *[hashes(TOKENS, FACTORS, past, offsets)
      for past in (None, TOKENS[:, 3:5]) for offsets in (None, np.arange(6) * 100)],
    hashes(-TOKENS, [-x for x in FACTORS]),
    hashes(TOKENS.astype(np.int32), [2000000011, 14639, 7919]),
    *[(MS + "MoEGroupRouter", 17, [normal(125, 2, 5, 12), normal(126, 12) / 9], more, 1)
      for more in (dict(n_group=4, topk_group=2, top_k=3), dict(top_k=2),
                   dict(n_group=2, topk_group=1, top_k=3, group_topk=1, router_sentinel=-99.0))],
    *[(MS + "CDist", 17, [normal(51, 4, 3), normal(52, 5, 3)], dict(metric=metric), 1)
      for metric in ("euclidean", "sqeuclidean")],
    *[(MS + "ExpandDims", 17, [ROW, np.array(axis, np.int32)], {}, 1) for axis in (0, -1)],
    (MS + "Inverse", 17, [normal(53, 2, 4, 4) + 4 * np.eye(4, dtype=F)], {}, 1),
    (MS + "ScaledSiLU", 17, [X], dict(alpha=1.7), 1),
    (MS + "ScaledSiLU", 17, [X, number(0.3)], {}, 1),
    (MS + "GatedAdd", 17, [X, SKIP, normal(54, 2, 3, 1)], {}, 1),
    (MS + "GatedRMSNorm", 17, [X, ROW[:4], SKIP], {}, 1),
    (MS + "GatedRMSNorm", 17, [X, ROW, SKIP], dict(activation="sigmoid", epsilon=1e-3), 1),
    *[(MS + "BranchwiseRMSNorm", 17, [BRANCHES, scale], dict(num_branches=3), 1)
      for scale in (normal(55, 12), normal(55, 3, 4), normal(55, 4), None)],
    *[(MS + "BranchwiseRMSNorm", 17, [BRANCHES, scale], {}, 1) for scale in (normal(56, 12), None)],
    (MS + "MatMulInteger16", 17, [bytes_of(57, 3, 4, low=-300, high=300, dtype=np.int16),
                                  bytes_of(58, 4, 5, low=-300, high=300, dtype=np.int16)], {}, 1),
    (MS + "Pad", 17, [X[0], np.array([0, 1, 1, 2]), np.array([5], F)], {}, 1),
    (MS + "Range", 17, [np.array(1), np.array(9)], {}, 1),
    (MS + "Range", 17, [np.array(1), np.array(9), np.array(3)], {}, 1),
    (MS + "Unique", 17, [bytes_of(59, 20, high=5).astype(F)], {}, 3),
    (MS + "GatherND", 17, [normal(80, 3, 4, 5), np.array([[0, 1], [2, 3]])], {}, 1),
    (MS + "SkipLayerNormalization", 17, [X, SKIP, ROW, ROW2, ROW3], dict(epsilon=1e-5), 1),
    (MS + "SkipLayerNormalization", 17, [X, SKIP[0], ROW], {}, 1),
    (MS + "SkipSimplifiedLayerNormalization", 17, [X, SKIP, ROW, ROW3], dict(epsilon=1e-6), 1),
    ("SimplifiedLayerNormalization", 17, [X, ROW], dict(epsilon=1e-6), 1),
    (MS + "EmbedLayerNormalization", 17, [*EMBED, MASK], dict(epsilon=1e-6), 2),
    (MS + "EmbedLayerNormalization", 17,
     [IDS, None, *TABLES[:2], None, ROW, ROW2, None, SEGMENTS + 2], {}, 2),
    (MS + "BiasGelu", 17, [X, ROW], {}, 1),
    (MS + "FastGelu", 17, [X, ROW], {}, 1),
    (MS + "FastGelu", 17, [X], {}, 1),
    (MS + "QuickGelu", 17, [X], dict(alpha=1.3), 1),
    (MS + "FusedMatMul", 17, [X, normal(45, 2, 5, 3)], dict(transA=1, transB=1, alpha=0.5), 1),
    (MS + "FusedMatMul", 17, [normal(46, 3, 2, 4), normal(47, 2, 4, 5)], dict(transBatchA=1), 1),
    (MS + "FusedGemm", 17, [MATRIX, normal(48, 5, 4), normal(49, 5)],
     dict(transB=1, alpha=0.5, beta=2.0, activation="LeakyRelu", activation_alpha=0.2), 1),
    (MS + "FusedConv", 17, [IMAGE, KERNEL, SHIFT],
     dict(pads=[1, 1, 1, 1], activation="Clip", activation_params=[-0.5, 2.0]), 1),
    (MS + "FusedConv", 17, [IMAGE, KERNEL, SHIFT, normal(50, 1, 3, 2, 3)],
     dict(activation="HardSigmoid", activation_params=[0.3, 0.4]), 1),
    (MS + "Attention", 17, [X, WEIGHT, BIAS, MASK], HEADS, 1),
    (MS + "Attention", 17, [X, WEIGHT, BIAS, np.array([2, 3], np.int32)], HEADS, 1),
    (MS + "Attention", 17, [X, WEIGHT, BIAS, np.array([2, 3, 0, 1], np.int32)], HEADS, 1),
    (MS + "Attention", 17, [X, WEIGHT, BIAS, LONG, PAST], dict(num_heads=2, unidirectional=1), 2),
    (MS + "Attention", 17, [X, normal(51, 8, 20), normal(52, 20), None, None, SCORES],
     dict(num_heads=2, qkv_hidden_sizes=[8, 8, 4], scale=0.3), 1),
    (MS + "MultiHeadAttention", 17, PAIR, HEADS, 1),
    (MS + "MultiHeadAttention", 17,
     [*PAIR, normal(53, 22), LONG[:, :5], normal(54, 2, 2, 3, 5)],
     dict(num_heads=2, mask_filter_value=-50.0), 1),
    (MS + "MultiHeadAttention", 17, [X, CACHE[0], CACHE[1], None, np.array([3, 2], np.int32)],
     HEADS, 1),
    (MS + "MultiHeadAttention", 17, [X, SKIP, SKIP + X, None, None, None, *CACHE],
     dict(num_heads=2, unidirectional=1), 3),
    (MS + "GroupQueryAttention", 17, [*PROMPT, *WHOLE], GROUPS, 3),
    *[(MS + "GroupQueryAttention", 17, [*PROMPT, None, None, PADDED, WHOLE[3]], GROUPS | more, 3)
      for more in ({}, dict(local_window_size=1), dict(smooth_softmax=1))],
    (MS + "GroupQueryAttention", 17, [QUERY, KEY, VALUE, *PLACES, ENDS, TOTAL], GROUPS, 3),
    (MS + "GroupQueryAttention", 17, [PACKED, None, None, *PLACES, ENDS, TOTAL, *COSINES],
     dict(GROUPS, do_rotary=1, local_window_size=2), 3),
    (MS + "GroupQueryAttention", 17, [*PROMPT, *WHOLE, *COSINES],
     dict(GROUPS, do_rotary=1, rotary_interleaved=1, softcap=0.7, local_window_size=2), 3),
    (MS + "GroupQueryAttention", 17,
     [QUERY, KEY, VALUE, *PLACES, ENDS, TOTAL, None, None, None, normal(57, 1, 4, 1, 6),
      normal(58, 4)], dict(GROUPS, scale=0.4), 3),
    (MS + "GroupQueryAttention", 17,
     [QUERY, KEY, VALUE, PLACES[0][:, :, :5], PLACES[1][:, :, :5], np.array([5, 5], np.int32),
      TOTAL], dict(GROUPS, smooth_softmax=1), 3),
    (MS + "RotaryEmbedding", 17, [normal(59, 2, 3, 8), np.array([[0, 1, 2], [4, 5, 6]]), COS, SIN],
     {}, 1),
    (MS + "RotaryEmbedding", 17, [normal(60, 2, 2, 3, 4), np.array([3]), COS, SIN],
     dict(interleaved=1), 1),
    (MS + "RotaryEmbedding", 17, [normal(61, 1, 3, 12), np.array([[2, 0, 1]]), COS, SIN],
     dict(num_heads=2, rotary_embedding_dim=4), 1),
    *[(MS + "MatMulNBits", 17, *nbits(*args), 1)
      for args in ((4,), (8,), (2,), (4, "packed"), (8, "packed"), (4, "floats"), (4, None, 32))],
    (MS + "QAttention", 17,
     [bytes_of(62, 2, 3, 8), bytes_of(63, 8, 24, low=-128, high=128, dtype=I1), BIAS,
      number(0.02), number(0.01), np.array([2, 3], np.int32), number(120, U1), number(3, I1)],
     HEADS, 1),
    (MS + "QLinearAdd", 17, [*scaled(A8, 0.03, 100), *scaled(B8, 0.05, 7), number(0.06),
                             number(90, U1)], {}, 1),
    (MS + "QLinearMul", 17, [*scaled(S8, 0.03, -4), *scaled(S8[::-1], 0.05, 7), number(0.11),
                             number(1, I1)], {}, 1),
    (MS + "QLinearSigmoid", 17, [*scaled(A8, 0.03, 100), number(0.004), number(3, U1)], {}, 1),
    (MS + "QLinearLeakyRelu", 17, [*scaled(S8, 0.03, 5), number(0.026), number(-40, I1)],
     dict(alpha=0.2), 1),
    (MS + "QLinearSoftmax", 17, [*scaled(A8, 0.013, 100), number(0.0039), number(0, U1)],
     dict(axis=-1, opset=13), 1),
    (MS + "QLinearWhere", 17, [A8 > 99, *scaled(A8, 0.03, 100), *scaled(B8, 0.05, 7),
                               number(0.06), number(90, U1)], {}, 1),
    (MS + "QLinearConcat", 17, [number(0.07), number(80, U1), *scaled(A8, 0.03, 100),
                                *scaled(B8, 0.05, 7)], dict(axis=1), 1),
    (MS + "QLinearAveragePool", 17, [*scaled(PLANES, 0.0313, 100), number(0.02), number(90, U1)],
     dict(kernel_shape=[3, 3], pads=[1, 1, 1, 1], strides=[2, 2]), 1),
    (MS + "QLinearGlobalAveragePool", 17, [*scaled(NHWC, 0.03, 100), number(0.01), number(90, U1)],
     dict(channels_last=1), 1),
    (MS + "NhwcMaxPool", 17, [NHWC], dict(kernel_shape=[2, 2], strides=[2, 2]), 1),
    (MS + "DynamicQuantizeMatMul", 17, [MATRIX, W8, WS, None, normal(64, 5)], {}, 1),
    (MS + "DynamicQuantizeMatMul", 17, [MATRIX, bytes_of(65, 4, 5), number(0.02), number(9, U1)],
     {}, 1),
    (MS + "MatMulIntegerToFloat", 17, [A8, W8, number(0.02), WS, number(99, U1), None,
                                       normal(66, 5)], {}, 1),
    (MS + "QGemm", 17, [A8, number(0.02), number(99, U1), W8.T.copy(), WS, bytes_of(
        67, 5, low=-9, high=9, dtype=I1), bytes_of(68, 5, high=999, dtype=np.int32), number(0.9),
        number(120, U1)], dict(transB=1), 1),
    (MS + "QGemm", 17, [A8, number(0.02), number(99, U1), bytes_of(69, 4, 5), number(0.01),
                        number(128, U1)], dict(alpha=2.0), 1),
    (MS + "GatherBlockQuantized", 21, [bytes_of(70, 6, 16), np.array([[3, 0], [5, -1]]),
                                       np.abs(normal(71, 6, 2))], dict(block_size=16, bits=4), 1),
    (MS + "GatherBlockQuantized", 21,
     [bytes_of(72, 6, 32), np.array([4, 1]), np.abs(normal(73, 6, 2)), bytes_of(74, 6, 2)],
     dict(block_size=16, bits=8, quantize_axis=1), 1),
    (MS + "CausalConvWithState", 17, [normal(75, 2, 3, 5), normal(76, 3, 1, 3), normal(77, 3),
                                      normal(78, 2, 3, 2)], dict(activation="silu"), 2),
    (MS + "Trilu", 17, [normal(79, 3, 4), number(1, np.int64)], dict(upper=0), 1),
    (MS + "HyperConnectionPreMix", 17, [FOUR_STREAMS, normal(81, 2, 3, 4)],
     dict(reduction_scale=0.5), 1),
    (MS + "HyperConnectionPreMix", 17, [FOUR_STREAMS, normal(82, 2, 3, 4, 8)], {}, 1),
    (MS + "HyperConnectionPreMix", 17, [FOUR_STREAMS.reshape(2, 3, 32), normal(83, 2, 3, 32)],
     dict(num_branches=4), 1),
    (MS + "HyperConnectionPostMix", 17, [FOUR_STREAMS, normal(84, 2, 3, 8), normal(85, 2, 3, 4, 1),
                                         normal(86, 2, 3, 4, 4)], {}, 1),
    (MS + "HyperConnectionPostMix", 17, [FOUR_STREAMS.reshape(2, 3, 32), normal(87, 2, 3, 8),
                                         normal(88, 2, 3, 4)], dict(num_branches=4), 1),
    (MS + "EngramGate", 17, [FOUR_STREAMS, normal(89, 2, 3, 4, 8), normal(90, 2, 3, 8),
                             normal(91, 4, 8), normal(92, 4, 8), normal(93, 4, 8)], {}, 2),
    (MS + "NGramRepeatBlock", 17, [REPEATED, normal(94, 2, 9)], dict(ngram_size=3), 1),
    (MS + "NGramRepeatBlock", 17, [REPEATED, normal(95, 2, 9)], dict(ngram_size=1), 1),
    (MS + "NGramRepeatBlock", 17, [REPEATED, normal(96, 2, 9)], dict(ngram_size=9), 1),
    (MS + "GatedDeltaNet", 17, [*NET[:3], None, *NET[3:6]], dict(qk_l2_norm=1), 2),
    (MS + "GatedDeltaNet", 17, [*NET[:3], None, NET[3], None, NET[5]],
     dict(update_rule="gated"), 2),
    (MS + "GatedDeltaNet", 17, [*NET[:3], None, *NET[3:8]],
     dict(qk_l2_norm=1, gate_activation="softplus", beta_activation="sigmoid", scale=0.7), 2),
    (MS + "GatedDeltaNet", 17, [NET_OF_ONE, None, None, None, normal(105, 6, 4, 5), *NET[4:7],
                                normal(106, 4, 5)],
     dict(qk_l2_norm=1, gate_activation="kda", beta_activation="sigmoid"), 2),
    (MS + "GatedDeltaNet", 17, [x.reshape(2, 3, *x.shape[1:]) for x in NET[:3]] + [None] +
     [x.reshape(2, 3, 4) for x in NET[3:5]] + [NET[5]], dict(qk_l2_norm=1), 2),
    ("Affine", 9, [MATRIX], dict(alpha=2.0, beta=0.5), 1),
    ("Scale", 9, [MATRIX], dict(scale=3.0), 1),
    ("ScaledTanh", 9, [MATRIX], dict(alpha=2.0, beta=0.5), 1),
    ("ParametricSoftplus", 9, [MATRIX], dict(alpha=2.0, beta=0.5), 1),
    ("ImageScaler", 9, [IMAGE], dict(scale=2.0, bias=[1.0, -0.5]), 1),
    ("Crop", 9, [IMAGE], dict(border=[1, 2, 2, 1]), 1),
    ("Crop", 9, [IMAGE], dict(border=[2, 1, 0, 0], scale=[2, 3]), 1),
    (MS + "QuantizeLinear", 17, [MATRIX, number(0.02), number(300, np.uint16)], {}, 1),
    (MS + "DequantizeLinear", 17, [A8, number(0.02), number(99, U1)], {}, 1),
]

CASES = []  # the calls with their values, when they are run
