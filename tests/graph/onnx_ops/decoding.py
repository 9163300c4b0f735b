"""Operators of com.microsoft about tokens, words and ways: decoders with encoders, requests after
each other, attention to a memory.

Expected values are ONNX Runtime's, of decoding.txt, which `onnx_ops.py --record` writes.
"""
import numpy as np
import onnx_text as o

from contrib import MS, normal

VALUES = "decoding.txt"
I4, I8, F = np.int32, np.int64, np.float32

# Requests of 1, 5 and 3 tokens.
BOUNDS = np.array([0, 1, 6, 9], I4)
IDS = np.array([1, 2, 9, 3, 4, 5, 6, 9, 7], I8)
SEGMENTS = np.array([1, 1, 1, 2, 2, 2, 3, 3, 1], I4)
PAST = [np.array([[3, 9], [4, 5], [6, 9]], I8), np.array([[1, 1], [1, 2], [2, 2]], I4)]
HASHES = [np.array([7, 13, 17], I8), np.array([11, 13, 17, 19], I8)]
GRAMS = dict(max_ngram_size=3, n_head_per_ngram=2, pad_id=8)
END = np.array(9, I8)


def mapped(past=False, segments=False, end=None, captured=None, **more):
    """Hashes of requests; `captured` counts the states that are wanted."""
    inputs = [IDS, *HASHES, BOUNDS, PAST[0] if past else None, None, end,
              SEGMENTS if segments else None, PAST[1] if past and segments else None, captured]
    while inputs[-1] is None:
        inputs.pop()
    return (MS + "VarlenNGramHashMapping", 17, inputs, dict(GRAMS, **more), 2 + bool(segments))


def convolved(kernel, dilation=1, bias=None, captured=None, **more):
    inputs = [normal(1, 9, 5), normal(2, 5, 1, kernel), BOUNDS, bias,
              normal(3, 3, 5, (kernel - 1) * dilation)]
    inputs += [] if captured is None else [captured]
    return (MS + "VarlenCausalConvWithState", 17, inputs, dict(dilation=dilation, **more),
            2 + (captured is not None))


def remembered(directions=1, layer=None, lengths=None, places=None, peepholes=False, **more):
    """An LSTM of 4 states whose memory has 5 places of 7 elements; 3 steps of 3 inputs."""
    width = layer or 7
    inputs = [normal(10, 3, 2, 3), normal(11, directions, 16, 3 + width),
              normal(12, directions, 16, 4), normal(13, directions, 32), lengths, None, None,
              normal(14, directions, 12) if peepholes else None, normal(15, directions, 4, 6),
              normal(16, directions, 7, 6), normal(17, directions, 6), normal(18, 2, 5, 7), places,
              None if layer is None else normal(19, directions, 11, layer)]
    inputs = [x / 2 if x is not None and x.dtype == F else x for x in inputs]
    while inputs[-1] is None:
        inputs.pop()
    return (MS + "AttnLSTM", 17, inputs, dict(hidden_size=4, **more), 3)


def bifurcated(source, current, matched, guessed=None, **more):
    inputs = [np.array(x, I8) for x in (source, current, matched, guessed) if x is not None]
    return (MS + "BifurcationDetector", 17, inputs,
            dict(min_ngram_size=1, max_ngram_size=3, **more), 2)


def pooled(shape, mask, **more):
    keeps = (normal(20, *mask) > -0.8).astype(I4)
    return (MS + "MaxpoolWithMask", 17, [normal(21, *shape), keeps], more, 1)


# ---- decoders with encoders: two heads of 3 elements, 11 tokens ----

def weights(seed):
    def tensor(name, number, *shape):
        return o.tensor(name, "f4", shape, normal(seed + number, *shape).tobytes())

    return [tensor("E", 0, 11, 6), tensor("S", 1, 11, 6), tensor("W", 2, 6, 11),
            tensor("Q", 3, 6, 6), tensor("X", 4, 5, 6), o.ints("parts", 0, 0, 2, 3),
            o.ints("whole", 0, 0, 6), o.ints("middle", 1, 2),
            o.tensor("one", "f4", [], F(1).tobytes()), o.tensor("low", "f4", [], F(-1e4).tobytes())]


def heads(x, y):
    return [o.node("Reshape", f"{x} parts", f"{y}_r"),
            o.node("Transpose", f"{y}_r", y, perm=[0, 2, 1, 3])]


def attention(query, key, value, y, mask=None):
    nodes = [o.node("Transpose", key, f"{y}_t", perm=[0, 1, 3, 2]),
             o.node("MatMul", f"{query} {y}_t", f"{y}_s")]
    if mask:
        nodes += [o.node("Cast", mask, f"{y}_m", to=1), o.node("Sub", f"one {y}_m", f"{y}_o"),
                  o.node("Mul", f"{y}_o low", f"{y}_l"),
                  o.node("Unsqueeze", f"{y}_l middle", f"{y}_u"),
                  o.node("Add", f"{y}_s {y}_u", f"{y}_b")]
    return nodes + [o.node("Softmax", f"{y}_b" if mask else f"{y}_s", f"{y}_p", axis=-1),
                    o.node("MatMul", f"{y}_p {value}", f"{y}_v"),
                    o.node("Transpose", f"{y}_v", f"{y}_w", perm=[0, 2, 1, 3]),
                    o.node("Reshape", f"{y}_w whole", y)]


def decoding(ids, past, mask):
    own, other = ("present", "past") if past else ("present", "present")
    nodes = [o.node("Gather", f"E {ids}", "x"), *heads("x", "q")]
    for part in ("key", "value"):
        nodes.append(o.node("Concat", f"past_{part}_self_0 q", f"present_{part}_self_0", axis=2)
                     if past else o.node("Identity", "q", f"present_{part}_self_0"))
    nodes += attention("q", f"{own}_key_self_0", f"{own}_value_self_0", "a")
    nodes += [o.node("Add", "x a", "h1"), o.node("MatMul", "h1 Q", "h2"), *heads("h2", "r")]
    nodes += attention("r", f"{other}_key_cross_0", f"{other}_value_cross_0", "c", mask)
    return nodes + [o.node("Add", "h1 c", "h3"), o.node("MatMul", "h3 W", "logits")]


def caches(when, kind, length):
    return {f"{when}_{part}_{kind}_0": o.f32("b", 2, length, 3) for part in ("key", "value")}


def translated(seed, speech=False, scores=True, beams=2, most=6, power=1.0, prompt=None,
               temperature=None, times=False, results=2, **more):
    """A search by an encoder and a decoder; `scores`: the encoder gives the first token's;
    `times`: tokens from 7 on are times."""
    mask = None if speech else "encoder_attention_mask"
    source = "encoder_input_ids"
    nodes = ([o.node("Transpose", source, "f", perm=[0, 2, 1]),
              o.node("MatMul", "f X", "encoder_hidden_states")] if speech
             else [o.node("Gather", f"S {source}", "encoder_hidden_states")])
    nodes += heads("encoder_hidden_states", "present_key_cross_0")
    nodes += [o.node("Neg", "present_key_cross_0", "present_value_cross_0")]
    ids = o.type_of(6, ["b", "t"])
    inputs = {source: o.f32("b", 5, "t")} if speech else {source: ids, mask: ids}
    outputs = caches("present", "cross", "t")
    if scores:
        inputs["decoder_input_ids"] = o.type_of(6, ["b", "s"])
        nodes += decoding("decoder_input_ids", False, mask)
        outputs = {"logits": o.f32("b", "s", 11), "encoder_hidden_states": o.f32("b", "t", 6),
                   **caches("present", "self", "s"), **outputs}
    encoder = o.graph(nodes, inputs, outputs, weights(seed))
    inputs = {"input_ids": o.type_of(6, ["b", 1]), **({} if speech else {mask: ids})}
    decoder = o.graph(decoding("input_ids", True, mask),
                      {**inputs, **caches("past", "self", "p"), **caches("past", "cross", "t")},
                      {"logits": o.f32("b", 1, 11), **caches("present", "self", "q")},
                      weights(seed))
    given = (normal(seed + 9, 2, 5, 4) if speech
             else np.array([[0, 3, 0, 6], [7, 8, 9, 1]], I4))
    call = [given, *[np.array([v], I4) for v in (most, 1, beams, 1)], np.array([power], F),
            *[None] * 9]
    call[10] = None if prompt is None else np.array(prompt, I4)
    if times:
        call[11] = np.array([1], I4)
        more |= dict(beginning_timestamp_token_id=7, no_timestamps_token_id=1,
                     start_of_lm_token_id=4, translate_token_id=3, transcribe_token_id=0)
    call[14] = None if temperature is None else np.array([temperature], F)
    while call[-1] is None:
        call.pop()
    return (MS + ("WhisperBeamSearch" if speech else "BeamSearch"), 17, call,
            dict(encoder=encoder, decoder=decoder, model_type=1 + speech, eos_token_id=5,
                 pad_token_id=0, decoder_start_token_id=2, **more), results)


WORDS = np.array([[1, 2, 3, 4, 5], [3, 1, 0, 0, 0], [6, 2, 3, 1, 0]], I4)
CALLS = [
    mapped(), mapped(end=END, reset_on_eos=1), mapped(segments=True),
    mapped(True, True, END, np.array([0, 9, 2], I4), reset_on_eos=1, state_update_capacity=3),
    convolved(4), convolved(3, 2, normal(4, 5), np.array([0, 9, 2], I4), activation="silu",
                            state_update_capacity=2),
    (MS + "CausalConvWithState", 17, [normal(5, 2, 5, 9), normal(6, 5, 1, 4), normal(7, 5),
                                      normal(8, 2, 5, 6)], dict(dilation=2), 2),
    (MS + "NGramHashMapping", 17, [IDS.reshape(1, 9), *HASHES, None, None, END,
                                   SEGMENTS.reshape(1, 9)], dict(GRAMS, reset_on_eos=1), 2),
    remembered(), remembered(2, 3, np.array([3, 2], I4), np.array([5, 2], I4), True,
                             direction="bidirectional"),
    bifurcated([1, 2, 3, 4, 5], [7, 1, 2], [2], [3, 4, 5, 9]),
    bifurcated([1, 2, 3, 4, 5], [7, 1, 2], [0], [1, 2, 3, 9, 5, 6]),
    bifurcated([1, 2, 3, 9, 1, 2], [9, 1, 2], [0]),
    bifurcated([1, 2, 3, 9, 1, 2], [9, 1, 2], 0),
    pooled((2, 3, 9), (2, 3, 9), kernel_shape=[3], strides=[2], pads=[1, 1]),
    pooled((2, 2, 6, 7), (1, 1, 6, 7), kernel_shape=[3, 2], strides=[2, 1], pads=[1, 1, 1, 1]),
    (MS + "DynamicTimeWarping", 17, [normal(22, 4, 5)], {}, 1),
    (MS + "WordConvEmbedding", 17, [WORDS, normal(23, 6, 1, 3, 4), normal(24, 6), normal(25, 7, 4)],
     {}, 1),
    translated(30), translated(50, scores=False, beams=3, power=0.5),
    translated(70, True, prompt=[[2, 3], [2, 4]], temperature=0.7),
    translated(30, results=3), translated(50, scores=False, beams=3, power=0.5, results=3),
    translated(198, True, times=True, most=9), translated(93, True, times=True, most=9),
    translated(136, True, times=True, prompt=[[2, 9], [2, 3]], beams=3, most=9),
]

CASES = []  # the calls with their values, when they are run
