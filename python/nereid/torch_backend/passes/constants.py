"""Constants that a graph makes on one device and uses on another are made where they are used.

Models write `torch.linspace(-1, 1, n).to(x.device)`: as it is, a segment on the CPU, and a copy
that the GPU waits for.  Operators of the graph layer that read nothing but numbers, each other and
small tensors of constants give the same elements on any device, so that their copies there take
the place of the tensor that was moved.
"""

from __future__ import annotations

import operator
from typing import Any

import torch

from nereid.torch_backend.base.nodes import device_of, is_number
from nereid.torch_backend.segments.reasons import reason_against, target_reason

aten = torch.ops.aten
_FEW = 8  # elements of a tensor that the text of a graph may spell, as in TorchInductor
_SPELLED = {torch.bool, torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64,
            torch.float16, torch.bfloat16, torch.float32, torch.float64}


def make_constants_in_place(module: torch.fx.GraphModule) -> None:
    _Constants(module).replace()


class _Constants:
    def __init__(self, module: torch.fx.GraphModule):
        self.module, self.graph = module, module.graph
        self.mode = _fake_mode(self.graph)
        self.places: dict = {}  # nodes that have the same elements on any device, in their order
        self.made: dict = {}  # (node, device): the node that has its elements there

    def replace(self) -> None:
        if self.mode is None:
            return
        for node in [*self.graph.nodes]:
            if not self._is_constant(node) and node.op == "call_function":
                self._take_constants(node)
            if node.users and self._is_constant(node):
                self.places[node] = len(self.places)
        if not self.made:
            return
        for node in reversed(self.places):
            if not node.users:
                self.graph.erase_node(node)
        self.module.recompile()

    # ---- which nodes are constants ----

    def _is_constant(self, node) -> bool:
        if node.op == "get_attr":
            return _is_spelled(self._attribute(node))
        if node.op != "call_function" or device_of(node) is None:
            return False
        if not all(operand in self.places or is_number(operand.meta.get("val"))
                   for operand in node.all_input_nodes):
            return False
        return node.target is operator.getitem or reason_against(node) is None

    def _attribute(self, node) -> Any:
        return operator.attrgetter(node.target)(self.module)

    def _device(self, node) -> torch.device:
        return self._attribute(node).device if node.op == "get_attr" else device_of(node)

    # ---- where they are used ----

    def _take_constants(self, node) -> None:
        """Operands that are constants of other devices are made where the node is."""
        device = device_of(node)
        if node.target is torch.ops.prims.device_put.default:
            if node.args[0] in self.places:
                node.replace_all_uses_with(self._on(node.args[0], device))
                self.graph.erase_node(node)
        elif device is not None and target_reason(node) is None:
            for operand in node.all_input_nodes:
                if operand in self.places and self._device(operand) != device:
                    node.replace_input_with(operand, self._on(operand, device))

    def _on(self, node, device: torch.device):
        """The node's elements on the device."""
        missing, waiting = set(), [node]
        while waiting:
            one = waiting.pop()
            if one in self.places and (one, device) not in self.made and one not in missing:
                missing.add(one)
                waiting += one.all_input_nodes
        for one in sorted(missing, key=self.places.__getitem__):
            with self.mode, self.graph.inserting_before(one.next):
                made = (self._spelled(one, device) if one.op == "get_attr"
                        else self._copied(one, device))
            self.made[one, device], self.made[made, self._device(one)] = made, one
        return self.made[node, device]

    def _copied(self, node, device: torch.device):
        """The same call on that device."""
        def there(operand):
            return self.made.get((operand, device), operand)

        args, kwargs = torch.fx.node.map_arg((node.args, node.kwargs), there)
        kwargs = {name: value for name, value in kwargs.items() if name != "pin_memory"}
        if _takes_device(node.target):
            kwargs["device"] = device
        made = self._call(node.target, args, kwargs)
        made.meta = {**node.meta, "val": made.meta["val"]}
        return made

    def _spelled(self, node, device: torch.device):
        """Calls that make the elements of a small tensor."""
        value = self._attribute(node)
        with torch.utils._python_dispatch._disable_current_modes():
            elements = value.flatten().tolist()
        full, kind = aten.full.default, {"dtype": value.dtype, "device": device}
        if len(set(map(repr, elements))) <= 1:
            return self._call(full, ([*value.shape], elements[0] if elements else 0), kind)
        parts = [self._call(full, ([1], element), kind) for element in elements]
        made = self._call(aten.cat.default, (parts,), {})
        return self._call(aten.view.default, (made, [*value.shape]), {})

    def _call(self, target, args, kwargs):
        """A constant, with the value that the target gives for fake tensors."""
        node = self.graph.call_function(target, args, kwargs)
        self.places[node] = len(self.places)
        args, kwargs = torch.fx.node.map_arg((args, kwargs), lambda n: n.meta["val"])
        node.meta["val"] = target(*args, **kwargs)
        return node


def _takes_device(target) -> bool:
    return isinstance(target, torch._ops.OpOverload) and any(
        parameter.name == "device" for parameter in target._schema.arguments)


def _fake_mode(graph):
    for node in graph.nodes:
        mode = getattr(node.meta.get("val"), "fake_mode", None)
        if mode is not None:
            return mode
    return None


def _is_spelled(value) -> bool:
    return (type(value) is torch.Tensor and value.layout is torch.strided
            and value.dtype in _SPELLED and value.numel() <= _FEW
            and value.device.type in ("cpu", "cuda"))
