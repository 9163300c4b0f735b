"""LSTM and GRU: activations with parameters, limits of what comes into gates, batches first."""
import numpy as np

rng = np.random.default_rng(24)
F = np.float32
STEPS, BATCH, INPUT, HIDDEN = 4, 3, 5, 6


def normal(*shape):
    return (rng.normal(size=shape) / 2).astype(F)


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def hard(alpha, beta):
    return lambda x: np.clip(alpha * x + beta, 0, 1)


def leaky(alpha):
    return lambda x: np.where(x < 0, alpha * x, x)


def soft(x):
    return x / (1 + np.abs(x))


def lstm(f=sigmoid, g=np.tanh, h=np.tanh, clip=np.inf, coupled=False):
    """Of one direction: all states, the last one, and the last cells."""
    def run(x, w, r, state=0.0, cells=0.0):
        states = []
        for step in x:
            i, o, forget, update = np.split(step @ w.T + state @ r.T if states or np.ndim(state)
                                            else step @ w.T, 4, -1)
            i, o, forget = (f(np.clip(v, -clip, clip)) for v in (i, o, forget))
            keep = 1 - i if coupled else forget
            cells = keep * cells + i * g(np.clip(update, -clip, clip))
            state = o * h(cells)
            states.append(state)
        return np.stack(states), state, cells
    return run


def one_way(network):
    def numpy(x, w, r):
        y, state, cells = network(x, w[0], r[0])
        return tuple(v.astype(F) for v in (y[:, None], state[None], cells[None]))
    return numpy


def both_ways(forward, backward):
    """With batches first, and states to begin with."""
    def numpy(x, w, r, state, cells):
        parts = [network(x.swapaxes(0, 1)[::order], w[d], r[d], state[:, d], cells[:, d])
                 for d, (network, order) in enumerate([(forward, 1), (backward, -1)])]
        y = np.stack([parts[0][0], parts[1][0][::-1]], 1).transpose(2, 0, 1, 3)
        return tuple(v.astype(F) for v in (y, *(np.stack([p[i] for p in parts], 1)
                                                for i in (1, 2))))
    return numpy


def gru(x, w, r):
    state, states = np.zeros((BATCH, HIDDEN)), []
    for step in x:
        wz, wr, wh = np.split(step @ w[0].T, 3, -1)
        rz, rr, rh = np.split(r[0], 3)
        z = hard(0.2, 0.5)(wz + state @ rz.T)
        reset = hard(0.2, 0.5)(wr + state @ rr.T)
        new = soft(wh + (reset * state) @ rh.T)
        state = (1 - z) * new + z * state
        states.append(state)
    return np.stack(states)[:, None].astype(F)


def ranged(x):
    """x in 0 to 255 without its zero point, and the scale."""
    low, high = min(x.min(), F(0)), max(x.max(), F(0))
    scale = F((high - low) / F(255)) or F(1)
    point = np.rint(-low / scale)
    return np.clip(np.rint(x / scale) + point, 0, 255) - point, scale


def quantized_lstm(x, w, r, b, w_scale, w_zero, r_scale, r_zero):
    """Inputs and states are quantized before each product, the inputs of all steps at once."""
    def product(x, weight, scale, zero):
        values, factor = ranged(x.astype(F))
        return values @ (weight.astype("i4") - zero.astype("i4")) * (factor * scale)

    states, cells = [], np.zeros((BATCH, HIDDEN))
    inputs = product(x.reshape(-1, INPUT), w[0], w_scale[0], w_zero[0])
    inputs = inputs.reshape(STEPS, BATCH, -1) + b[0].reshape(2, -1).sum(0)
    for step in inputs:
        h = states[-1] if states else np.zeros((BATCH, HIDDEN))
        gates = step + product(h, r[0], r_scale[0], r_zero[0])
        i, o, forget, update = np.split(gates, 4, -1)
        cells = sigmoid(forget) * cells + sigmoid(i) * np.tanh(update)
        states.append(sigmoid(o) * np.tanh(cells))
    return tuple(v.astype(F) for v in (np.stack(states)[:, None], states[-1][None], cells[None]))


def weights(directions, gates):
    return normal(directions, gates * HIDDEN, INPUT), normal(directions, gates * HIDDEN, HIDDEN)


X, W, R = normal(STEPS, BATCH, INPUT), *weights(1, 4)
BOTH = [normal(BATCH, STEPS, INPUT), *weights(2, 4), None, None, normal(BATCH, 2, HIDDEN),
        normal(BATCH, 2, HIDDEN)]
QUANTIZED = [X, rng.integers(0, 256, (1, INPUT, 4 * HIDDEN)).astype("u1"),
             rng.integers(-128, 128, (1, HIDDEN, 4 * HIDDEN)).astype("i1"),
             normal(1, 8 * HIDDEN), None, None, None, None,
             np.array([0.008], F), np.array([120], "u1"),
             rng.uniform(0.003, 0.01, (1, 4 * HIDDEN)).astype(F),
             rng.integers(-9, 9, (1, 4 * HIDDEN)).astype("i1")]

CASES = [
    ("LSTM", 14, [X, W, R], dict(hidden_size=HIDDEN, clip=0.25), one_way(lstm(clip=0.25))),
    ("LSTM", 14, [X, W, R], dict(hidden_size=HIDDEN, input_forget=1), one_way(lstm(coupled=True))),
    ("LSTM", 14, BOTH,
     dict(hidden_size=HIDDEN, layout=1, direction="bidirectional",
          activations=["HardSigmoid", "ScaledTanh", "LeakyRelu", "Sigmoid", "Affine", "Tanh"],
          activation_alpha=[0.3, 0.7, 0.05, 0.8], activation_beta=[0.4, 0.9, 0.1]),
     both_ways(lstm(hard(F(0.3), F(0.4)), lambda x: 0.7 * np.tanh(0.9 * x), leaky(0.05)),
               lstm(g=lambda x: 0.8 * x + 0.1))),
    ("GRU", 7, [X, *weights(1, 3)],
     dict(hidden_size=HIDDEN, activations=["HardSigmoid", "Softsign"]), gru),
    ("com.microsoft DynamicQuantizeLSTM", 17, QUANTIZED, dict(hidden_size=HIDDEN), quantized_lstm),
]
