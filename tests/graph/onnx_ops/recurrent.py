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


def weights(directions, gates):
    return normal(directions, gates * HIDDEN, INPUT), normal(directions, gates * HIDDEN, HIDDEN)


X, W, R = normal(STEPS, BATCH, INPUT), *weights(1, 4)
BOTH = [normal(BATCH, STEPS, INPUT), *weights(2, 4), None, None, normal(BATCH, 2, HIDDEN),
        normal(BATCH, 2, HIDDEN)]

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
]
