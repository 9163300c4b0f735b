#!/usr/bin/env python3
"""Generation as today's loops have it: a model with caches that a step changes in place, its prompt
compiled with open sizes, its step as one graph, masks of FlexAttention made by a compiled
create_block_mask and cut at the position; and generate() of transformers, where that is installed,
with a static cache.  Tokens are eager mode's, and steps compile once, also with weights of eight
and four bits.  With the argument cuda on a GPU."""
import os, pathlib, sys, warnings

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("NEREID_BUILD", ROOT / "build")).resolve()
sys.dont_write_bytecode = True
sys.path[:0] = [str(BUILD / "python"), str(ROOT / "tests" / "support")]
import nereid  # noqa: F401: registers the backend
import tally

DEVICE = "cuda" if "cuda" in sys.argv else "cpu"
try:
    import torch
    import quick_torch
    from torch import nn
    from torch._dynamo.utils import counters
    from torch.nn.attention import flex_attention as flex
except ImportError:
    torch, nn = None, None
try:
    import transformers
except ImportError:
    transformers = None

WORDS, WIDTH, HEADS, SHARED, ROOM = 96, 64, 4, 2, 256


class Cache(nn.Module if nn else object):
    def __init__(self, batch):
        super().__init__()
        for name in ("keys", "values"):
            self.register_buffer(name, torch.zeros(batch, SHARED, ROOM, WIDTH // HEADS))

    def update(self, at, key, value):
        self.keys[:, :, at] = key
        self.values[:, :, at] = value
        return self.keys, self.values


class Layer(nn.Module if nn else object):
    def __init__(self, batch):
        super().__init__()
        width = WIDTH // HEADS
        self.all = nn.Linear(WIDTH, (HEADS + 2 * SHARED) * width, bias=False)
        self.out = nn.Linear(WIDTH, WIDTH, bias=False)
        self.up, self.down = nn.Linear(WIDTH, 160), nn.Linear(160, WIDTH)
        self.norms = nn.ModuleList(nn.RMSNorm(WIDTH) for _ in range(2))
        self.cache = Cache(batch)

    def forward(self, x, at, mask, turns):
        batch, rows, _ = x.shape
        width = WIDTH // HEADS
        parts = self.all(self.norms[0](x)).split([WIDTH, SHARED * width, SHARED * width], -1)
        q, k, v = (y.view(batch, rows, -1, width) for y in parts)
        q, k = (torch.view_as_real(torch.view_as_complex(y.float().unflatten(-1, (-1, 2)))
                                   * torch.view_as_complex(turns)[:, None]).flatten(-2)
                for y in (q, k))
        q, k, v = (y.transpose(1, 2) for y in (q, k, v))
        k, v = self.cache.update(at, k, v)
        y = flex.flex_attention(q, k, v, block_mask=mask, enable_gqa=True)
        x = x + self.out(y.transpose(1, 2).reshape(batch, rows, -1))
        return x + self.down(nn.functional.silu(self.up(self.norms[1](x))))


class Model(nn.Module if nn else object):
    def __init__(self, batch):
        super().__init__()
        self.words = nn.Embedding(WORDS, WIDTH)
        self.layers = nn.ModuleList(Layer(batch) for _ in range(2))
        self.norm, self.out = nn.RMSNorm(WIDTH), nn.Linear(WIDTH, WORDS, bias=False)
        speed = 100 ** -(torch.arange(0, WIDTH // HEADS, 2) / (WIDTH // HEADS))
        angle = torch.outer(torch.arange(ROOM), speed)
        self.register_buffer("turns", torch.stack([angle.cos(), angle.sin()], -1))

    def forward(self, mask, words, at):
        first = at[0]
        mask.mask_mod = lambda b, h, q, k: q + first >= k
        x, turns = self.words(words), self.turns[at]
        for layer in self.layers:
            x = layer(x, at, mask, turns)
        return self.out(self.norm(x))


def drawn(logits, noise):
    """As without waiting for the device: the largest of shares divided by exponential numbers."""
    logits = logits[:, -1] / 0.8
    least = torch.topk(logits, 20).values.select(-1, -1).unsqueeze(-1)
    p = torch.softmax(torch.where(logits < least, -float("inf"), logits), -1)
    return torch.argmax(p / noise, -1, keepdim=True).to(torch.int)


def prefill(model, words, at, noise):
    rows = at.shape[0]
    mask = flex.create_block_mask(lambda b, h, q, k: q >= k, 1, 1, rows, ROOM, device=DEVICE)
    return drawn(model(mask, words, at), noise)


def step(model, words, at, whole, noise):
    mask = whole[:, :, at // whole.BLOCK_SIZE[0]]
    mask.seq_lengths = (1, ROOM)
    return drawn(model(mask, words, at), noise)


def generated(model, prompt, tokens, functions, noise):
    first, one, make_mask = functions
    whole = make_mask(lambda b, h, q, k: q >= k, 1, 1, ROOM, ROOM, device=DEVICE)
    at = torch.arange(prompt.shape[1], device=DEVICE)
    words = [first(model, prompt, at, noise[0]).clone()]
    at = torch.tensor([prompt.shape[1]], device=DEVICE)
    for i in range(1, tokens):
        words.append(one(model, words[-1], at, whole, noise[i]).clone())
        at += 1
        graphs = counters["stats"]["unique_graphs"] if i == 2 else graphs if i > 2 else 0
    tally.check(counters["stats"]["unique_graphs"] == graphs, "a step is compiled again")
    return torch.cat(words, 1)


@torch.no_grad() if torch else (lambda f: f)
def check_loop():
    batch, tokens = 2, 10
    torch.manual_seed(0)
    model = Model(batch).to(DEVICE).eval()
    mode = "reduce-overhead" if DEVICE == "cuda" else None
    compiled = (torch.compile(prefill, backend="nereid", fullgraph=True, dynamic=True),
                torch.compile(step, backend="nereid", fullgraph=True, mode=mode),
                torch.compile(flex.create_block_mask, backend="nereid"))
    for length in (9, 122):  # past the first block of the mask
        prompt = torch.randint(WORDS, (batch, length), device=DEVICE)
        noise = torch.empty(tokens, batch, WORDS, device=DEVICE).exponential_(1)
        want = generated(model, prompt, tokens, (prefill, step, flex.create_block_mask), noise)
        got = generated(model, prompt, tokens, compiled, noise)
        same = (got == want).float().mean().item()
        tally.check(same == 1, f"{length} words before: {same:.0%} of the tokens are eager mode's")


class Int8(nn.Module if nn else object):
    """A layer whose weights have eight bits, and a scale a row."""

    def __init__(self, linear):
        super().__init__()
        w = linear.weight.float()
        scales = w.abs().amax(1) / 127
        self.register_buffer("weight", (w / scales[:, None]).round().to(torch.int8))
        self.register_buffer("scales", scales.bfloat16())

    def forward(self, x):
        return nn.functional.linear(x, self.weight.to(x.dtype)) * self.scales.to(x.dtype)


class Int4(nn.Module if nn else object):
    """A layer whose weights have four bits, in tiles of a tensor core; eager mode has no such
    product on a CPU, and multiplies by what the weights stand for."""
    GROUP, TILES = 32, 2

    def __init__(self, linear):
        super().__init__()
        w = linear.weight.float().unflatten(1, (-1, self.GROUP))
        low = w.amin(2)
        scales = ((w.amax(2) - low) / 15).bfloat16().float()
        zeros = (low + 8 * scales).bfloat16().float()
        q = ((w - zeros[..., None]) / scales[..., None] + 8).round().clamp(0, 15)
        whole = ((q - 8) * scales[..., None] + zeros[..., None]).flatten(1)
        self.register_buffer("whole", whole, persistent=False)
        self.register_buffer("scales", torch.stack([scales.T, zeros.T], -1).bfloat16())
        self.register_buffer("weight", self.packed(q.flatten(1).long()))

    def packed(self, q):
        lane = torch.arange(32)[:, None, None]
        at = lane % 4 * 2 + torch.tensor([0, 8, 16, 24, 1, 9, 17, 25])
        tiles = q.unflatten(1, (-1, 16 * self.TILES)).unflatten(0, (-1, 8)).transpose(1, 2)
        fields = tiles[:, :, (lane // 4).expand(at.shape), at]
        words = sum(fields[..., i] << 4 * i for i in range(8))
        return torch.where(words >= 1 << 31, words - (1 << 32), words).to(torch.int32)

    def forward(self, x):
        if not torch.compiler.is_compiling():
            return nn.functional.linear(x, self.whole.to(x.dtype))
        y = torch.ops.aten._weight_int4pack_mm(x.flatten(0, -2).bfloat16(), self.weight,
                                               self.GROUP, self.scales)
        return y.to(x.dtype).unflatten(0, x.shape[:-1])


def logits_of(model, words, at, whole):
    mask = whole[:, :, at // whole.BLOCK_SIZE[0]]
    mask.seq_lengths = (1, ROOM)
    return model(mask, words, at)


@torch.no_grad() if torch else (lambda f: f)
def check_few_bits(kind):
    """The logits of steps, one after the other, of a model whose layers are of that kind."""
    torch.manual_seed(1)
    model = Model(1)
    for layer in model.layers:
        for name in ("all", "out"):
            setattr(layer, name, kind(getattr(layer, name)))
        layer.up, layer.down = kind(layer.up), kind(layer.down)
    model.out = kind(model.out)
    model = model.to(DEVICE).eval()
    whole = flex.create_block_mask(lambda b, h, q, k: q >= k, 1, 1, ROOM, ROOM, device=DEVICE)
    compiled = torch.compile(logits_of, backend="nereid", fullgraph=True)
    words = torch.randint(WORDS, (6, 1, 1), device=DEVICE)
    steps = {}
    for one in (logits_of, compiled):
        for layer in model.layers:
            layer.cache.keys.zero_(), layer.cache.values.zero_()
        steps[one] = [one(model, words[i], torch.tensor([i], device=DEVICE), whole).clone()
                      for i in range(2)]
        graphs = counters["stats"]["unique_graphs"]
        steps[one] += [one(model, words[i], torch.tensor([i], device=DEVICE), whole).clone()
                       for i in range(2, 6)]
        tally.check(counters["stats"]["unique_graphs"] == graphs, "a step is compiled again")
    want, got = (torch.stack(steps[f]) for f in (logits_of, compiled))
    off = ((got - want).norm() / want.norm()).item()
    tally.check(off < 1e-2, f"{kind.__name__}: logits are {off:.2} from eager mode's")


@torch.no_grad() if torch else (lambda f: f)
def check_transformers():
    sizes = dict(vocab_size=WORDS, hidden_size=64, intermediate_size=96, num_hidden_layers=2,
                 num_attention_heads=4, num_key_value_heads=2, max_position_embeddings=256)
    torch.manual_seed(0)
    model = transformers.LlamaForCausalLM(transformers.LlamaConfig(**sizes)).to(DEVICE).eval()
    words = torch.randint(WORDS, (2, 7), device=DEVICE)
    mask = torch.ones_like(words)
    mask[1, :3] = 0
    options = dict(max_new_tokens=24, do_sample=False, cache_implementation="static",
                   attention_mask=mask, pad_token_id=0, eos_token_id=None, disable_compile=True)
    want = model.generate(words, **options)
    torch._dynamo.reset()
    counters.clear()
    model.forward = torch.compile(model.forward, backend="nereid", fullgraph=True)
    graphs = []
    for _ in range(2):
        same = torch.equal(model.generate(words, **options), want)
        tally.check(same, "generate() with a static cache gives other tokens")
        graphs.append(counters["stats"]["unique_graphs"])
    tally.check(graphs == [2, 2], f"graphs of generate(): {graphs}, not the prompt's and a step's")


if __name__ == "__main__":
    if torch is None:
        print("1 skipped: no torch")
        tally.check(True, "")
        sys.exit(tally.report())
    warnings.simplefilter("ignore")
    check_loop()
    check_few_bits(Int8)
    check_few_bits(Int4)
    if transformers:
        check_transformers()
    sys.exit(tally.report())
