"""Recurrent layers on CPUs, each direction as one operator with a gradient of its own.

PyTorch expands a layer into some twenty operators a step, and its gradient into as many products
for the weights as there are steps.  `nereid::recurrent` stays one node until the planner writes its
steps out; the weights' gradients are one product of all steps.  PyTorch's forms leave out the
dropout between layers; these have it."""

from __future__ import annotations

import torch
from torch.nn import functional as F

aten = torch.ops.aten
_KINDS = {aten.rnn_tanh.input: "tanh", aten.rnn_relu.input: "relu", aten.gru.input: "gru",
          aten.lstm.input: "lstm"}
_PYTORCH = "torch._decomp.decompositions"  # the module of PyTorch's forms
_STEPS_MOST = 1024  # that the planner writes out (RNN_STEPS_MAX of decompose.h)

_library = torch.library.Library("nereid", "FRAGMENT")
# Results have all steps: states [T, B, P], cells [T, B, H] and gates [4, T, B, H]; the latter two
# have no elements where a kind has none.
_library.define("recurrent(Tensor input, Tensor hx, Tensor? cx, Tensor weight, Tensor? bias, "
                "Tensor? projection, str kind, bool reverse) -> (Tensor, Tensor, Tensor)")
# Gradients of the input, of what the state's product gives (of GRU, where it is another one), of
# both states, and of what a projection gives.
_library.define("recurrent_backward(Tensor? grad_out, Tensor? grad_cells, Tensor hx, Tensor? cx, "
                "Tensor weight, Tensor? projection, Tensor out, Tensor cells, Tensor gates, "
                "str kind, bool reverse) -> (Tensor, Tensor, Tensor, Tensor, Tensor)")
_operator = torch.ops.nereid.recurrent.default
_gradient = torch.ops.nereid.recurrent_backward.default


# ---- by PyTorch: where a node is not Nereid's, and to compare with ----


def _step(x, h, c, weight, bias, projection, kind):
    """The state and the cell after a step, and its gates."""
    product = F.linear(h, weight, bias)
    if kind in ("tanh", "relu"):
        return getattr(torch, kind)(x + product), c, ()
    if kind == "gru":
        a, b = x.chunk(3, 1), product.chunk(3, 1)
        reset, update = torch.sigmoid(a[0] + b[0]), torch.sigmoid(a[1] + b[1])
        fresh = torch.tanh(a[2] + reset * b[2])
        return fresh + update * (h - fresh), c, (reset, update, fresh, b[2])
    a = (x + product).chunk(4, 1)
    gates = (a[0].sigmoid(), a[1].sigmoid(), a[2].tanh(), a[3].sigmoid())
    c = gates[1] * c + gates[0] * gates[2]
    h = gates[3] * c.tanh()
    return h if projection is None else F.linear(h, projection), c, gates


def _recurrent(input, hx, cx, weight, bias, projection, kind, reverse):
    h, c, found = hx, cx, []
    for x in input.flip(0) if reverse else input:
        h, c, gates = _step(x, h, c, weight, bias, projection, kind)
        found.append((h, c, gates))
    if reverse:
        found.reverse()
    states, cells, gates = zip(*found)
    nothing = input.new_empty(0)
    return (torch.stack(states), torch.stack(cells) if cx is not None else nothing,
            torch.stack([torch.stack(each) for each in zip(*gates)]) if gates[0] else nothing)


def _recurrent_backward(grad_out, grad_cells, hx, cx, weight, projection, out, cells, gates, kind,
                        reverse):
    order = range(len(out)) if reverse else reversed(range(len(out)))
    h, c, inputs, hidden, projected = torch.zeros_like(hx), None, {}, {}, {}
    for t in order:
        last = t + 1 if reverse else t - 1
        first = not 0 <= last < len(out)
        h = h if grad_out is None else h + grad_out[t]
        projected[t] = h
        if kind == "gru":
            reset, update, fresh, part = gates[:, t]
            of_fresh = h * (1 - update) * (1 - fresh * fresh)
            of_update = h * ((hx if first else out[last]) - fresh) * update * (1 - update)
            of_reset = of_fresh * part * reset * (1 - reset)
            inputs[t] = torch.cat([of_reset, of_update, of_fresh], 1)
            hidden[t] = torch.cat([of_reset, of_update, of_fresh * reset], 1)
            h = h * update + hidden[t] @ weight
            continue
        if kind == "lstm":
            put, keep, fresh, show = gates[:, t]
            y, of = cells[t].tanh(), h if projection is None else h @ projection
            of_cell = of * show * (1 - y * y)
            of_cell = of_cell if c is None else of_cell + c
            of_cell = of_cell if grad_cells is None else of_cell + grad_cells[t]
            inputs[t] = torch.cat([of_cell * fresh * put * (1 - put),
                                   of_cell * (cx if first else cells[last]) * keep * (1 - keep),
                                   of_cell * put * (1 - fresh * fresh),
                                   of * y * show * (1 - show)], 1)
            c = of_cell * keep
        else:
            inputs[t] = (h * (1 - out[t] * out[t]) if kind == "tanh"
                         else torch.where(out[t] <= 0, 0, h))
        h = inputs[t] @ weight

    def all_steps(found, there=True):
        steps = range(len(out))
        return torch.stack([found[t] for t in steps]) if there else out.new_empty(0)

    return (all_steps(inputs), all_steps(hidden, kind == "gru"), h,
            c if kind == "lstm" else out.new_empty(0),
            all_steps(projected, projection is not None))


# ---- without computing ----


def _fake(input, hx, cx, weight, bias, projection, kind, reverse):
    steps, batch, rows = input.shape
    gates = {"lstm": 4, "gru": 3}.get(kind, 0)
    return (input.new_empty((steps, batch, hx.shape[1])),
            input.new_empty((steps, *cx.shape) if kind == "lstm" else (0,)),
            input.new_empty((4, steps, batch, rows // gates) if gates else (0,)))


def _fake_backward(grad_out, grad_cells, hx, cx, weight, projection, out, cells, gates, kind,
                   reverse):
    rows = (*out.shape[:2], weight.shape[0])
    return (out.new_empty(rows), out.new_empty(rows if kind == "gru" else (0,)),
            out.new_empty(hx.shape), out.new_empty(cx.shape if kind == "lstm" else (0,)),
            out.new_empty(out.shape if projection is not None else (0,)))


# ---- the gradient ----


def _save(ctx, inputs, output):
    _, hx, cx, weight, bias, projection, ctx.kind, ctx.reverse = inputs
    out, cells, gates = output
    nothing = [x for x in (cells, gates) if x.dim() == 1]
    ctx.mark_non_differentiable(gates, *(x for x in nothing if x is not gates))
    ctx.set_materialize_grads(False)
    ctx.biased = bias is not None
    ctx.save_for_backward(hx, cx, weight, projection, out, cells, gates)


def _backward(ctx, grad, grad_cells, _):
    hx, cx, weight, projection, out, cells, gates = ctx.saved_tensors
    of_input, hidden, of_hx, of_cx, projected = _gradient(
        grad, grad_cells, hx, cx, weight, projection, out, cells, gates, ctx.kind, ctx.reverse)
    hidden = hidden if ctx.kind == "gru" else of_input
    last = [out[1:], hx[None]] if ctx.reverse else [hx[None], out[:-1]]
    rows = hidden.flatten(0, 1)
    of_weight = rows.t() @ torch.cat(last).flatten(0, 1)
    of_bias = rows.sum(0) if ctx.biased else None
    of_projection = None
    if projection is not None:
        y = gates[3] * cells.tanh()
        of_projection = projected.flatten(0, 1).t() @ y.flatten(0, 1)
    return (of_input, of_hx, of_cx if cx is not None else None, of_weight, of_bias, of_projection,
            None, None)


_library.impl("recurrent", _recurrent, "CompositeExplicitAutograd")
_library.impl("recurrent_backward", _recurrent_backward, "CompositeExplicitAutograd")
torch.library.register_fake(_operator, _fake, lib=_library)
torch.library.register_fake(_gradient, _fake_backward, lib=_library)
torch.library.register_autograd(_operator, _backward, setup_context=_save, lib=_library)


# ---- the layers ----


def _fits(input, states, params, batch_first) -> bool:
    """Is it a layer on a CPU of one real dtype, that autocast does not change, of some steps?"""
    tensors = (input, *states, *params)
    if torch.is_autocast_enabled("cpu") or input.dim() != 3:
        return False
    steps, batch = int(input.shape[1 if batch_first else 0]), input.shape[0 if batch_first else 1]
    if any(state.dim() != 3 or state.shape[1] != batch for state in states):  # eager broadcasts
        return False
    return 0 < steps <= _STEPS_MOST and input.is_floating_point() and all(
        x.device.type == "cpu" and x.dtype is input.dtype for x in tensors)


def _direction(x, params, state, cell, kind, reverse, biased):
    """All states, the last state and the last cell."""
    weight, hidden, *more = params
    bias, hidden_bias = more[:2] if biased else (None, None)
    projection = (more[2:] if biased else more) or None
    out, cells, _ = _operator(F.linear(x, weight, bias), state, cell, hidden, hidden_bias,
                              projection[0] if projection else None, kind, reverse)
    last = 0 if reverse else -1
    return out, out[last], cells[last] if kind == "lstm" else None


def _network(kind, input, states, params, biased, layers, dropout, train, bidirectional,
             batch_first):
    sides = 2 if bidirectional else 1
    each = len(params) // (layers * sides)
    x = input.transpose(0, 1).contiguous() if batch_first else input
    found = []
    for i in range(layers):
        if i and train and dropout:
            x = torch.dropout(x, dropout, True)
        now = []
        for k in range(i * sides, (i + 1) * sides):
            state = [s[k] for s in states] + [None]
            now.append(_direction(x, params[k * each:(k + 1) * each], *state[:2], kind,
                                  k % sides == 1, biased))
        x = torch.cat([out for out, *_ in now], 2) if bidirectional else now[0][0]
        found += now
    last = [torch.stack([direction[i] for direction in found]) for i in range(1, 1 + len(states))]
    return x.transpose(0, 1) if batch_first else x, *last


def recurrent_forms(forms: dict) -> dict:
    """{(operator, dispatch key): form} in place of PyTorch's own, or of those in `forms`, which are
    what other devices, dtypes and autocast get."""
    keys = torch._C.DispatchKey.CompositeImplicitAutograd, torch._C.DispatchKey.Autograd
    places = [(operator, key) for operator in _KINDS for key in keys
              if getattr(operator.py_kernels.get(key), "__module__", "") == _PYTORCH]
    return {place: _form(_KINDS[place[0]], forms.get(place, place[0].py_kernels[place[1]]))
            for place in places}


def _autocast_dtype(kind, input, states, params):
    """The dtype in which oneDNN trains a layer in eager mode, where autocast casts for it."""
    trains = torch.is_grad_enabled() and any(
        x.requires_grad for x in (input, *states, *params))
    layer = kind == "lstm" and states[0].shape[-1] == states[1].shape[-1] and trains
    if not (layer and torch.is_autocast_enabled("cpu") and torch._C._get_mkldnn_enabled()
            and input.device.type == "cpu"
            and input.dtype in (torch.float32, torch.bfloat16, torch.float16)):
        return None
    return torch.get_autocast_dtype("cpu")


def _form(kind, otherwise):
    def form(input, hx, params, biased, layers, dropout, train, bidirectional, batch_first):
        states = tuple(hx) if kind == "lstm" else (hx,)
        more = biased, layers, dropout, train, bidirectional, batch_first
        dtype = _autocast_dtype(kind, input, states, params)
        if dtype is not None:
            with torch._C._DisableAutocast():
                return form(input.to(dtype), [x.to(dtype) for x in states],
                            [x.to(dtype) for x in params], *more)
        if not _fits(input, states, params, batch_first):
            return otherwise(input, hx, params, *more)
        return _network(kind, input, states, params, *more)

    return form
