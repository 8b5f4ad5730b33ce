"""The layers of an encoder through onnxruntime, where it is installed: numpy's vectors, sooner.

The graph is written here, in the few messages of the ONNX format that it needs, so nothing but
onnxruntime is asked for. It holds no weights: the session reads them where numpy has them.
"""

import logging
import os
import sys
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from itertools import count
from pkgutil import resolve_name
from struct import pack
from typing import Any

import numpy as np

from mnemolog.embedders.messages import Value, each, message
from mnemolog.embedders.tensors import Floats
from mnemolog.embedders.transformer import (
    EPSILON,
    HEADS,
    Layer,
    Linear,
    Norm,
    Run,
    through_numpy,
)

_log = logging.getLogger(__name__)

RUNTIME = "onnxruntime"
SILENT = "ORT_DISABLE_TELEMETRY"
"""From 1.29 on, onnxruntime reports its use to its makers unless this is 1 before it is loaded."""

_FORMAT, _OPERATORS = 8, 17
# Kinds of tensors and of attributes, by the numbers of the format.
_FLOAT, _INT64 = 1, 7
_REAL, _WHOLE, _WHOLES = 1, 2, 7
_UNMASKED = np.zeros((1, 1, 1, 1), np.float32)

Attribute = int | float | Sequence[int]


def through_onnx(layers: Sequence[Layer]) -> Run:
    """The layers as one session of onnxruntime; as they are where it cannot be had in silence."""
    runtime = _silent_runtime()
    if runtime is None:
        return through_numpy(layers)
    return _session(runtime, layers)


def _silent_runtime() -> Any:
    """onnxruntime, or None if there is none or if somebody else has loaded it with its reports."""
    is_silent = os.environ.get(SILENT) == "1"
    if find_spec(RUNTIME) is None or (RUNTIME in sys.modules and not is_silent):
        return None
    os.environ[SILENT] = "1"
    try:
        return resolve_name(RUNTIME)
    except ImportError as error:
        _log.warning("onnxruntime is installed and cannot be loaded; numpy serves: %s", error)
        return None


class _Session:
    """Layers that are ready to run."""

    def __init__(self, session: Any, weights: Mapping[str, Floats]) -> None:
        self._session = session
        # The session reads them where they lie, and does not keep them alive itself.
        self._weights = weights

    def __call__(self, x: Floats, mask: Floats | None) -> Floats:
        given = {"x": x, "mask": _UNMASKED if mask is None else mask}
        found: Floats = self._session.run(None, given)[0]
        return found


def _session(runtime: Any, layers: Sequence[Layer]) -> _Session:
    graph = _Graph()
    model = graph.of(layers)
    options = runtime.SessionOptions()
    # With threads of its own, a forked child could wait for them for ever when it ends.
    options.intra_op_num_threads = 1
    # An arena would keep the memory of the largest batch, and is no faster here.
    options.enable_cpu_mem_arena = False
    values = [runtime.OrtValue.ortvalue_from_numpy(one) for one in graph.weights.values()]
    options.add_external_initializers(list(graph.weights), values)
    session = runtime.InferenceSession(model, options, ["CPUExecutionProvider"])
    return _Session(session, graph.weights)


class _Graph:
    """Writes the layers as nodes, and gathers their weights by name."""

    def __init__(self) -> None:
        self.weights: dict[str, Floats] = {}
        self._nodes: list[bytes] = []
        self._constants: list[bytes] = []
        self._names = map("v{}".format, count())

    def of(self, layers: Sequence[Layer]) -> bytes:
        """A model from `x` (texts, pieces, hidden) and `mask` to `y`, which is shaped as `x` is."""
        hidden = len(layers[0].mixed.bias)
        rows = self._whole(-1, hidden)
        texts_and_pieces = self._node("Shape", "x", start=0, end=2)
        parts = self._node("Concat", texts_and_pieces, self._whole(3, HEADS, -1), axis=0)
        flat = self._node("Reshape", "x", rows)
        for layer in layers:
            flat = self._layer(layer, flat, parts, rows)
        self._add("Reshape", [flat, self._node("Shape", "x")], ["y"])
        return self._model(hidden)

    def _layer(self, layer: Layer, x: str, parts: str, rows: str) -> str:
        looked = self._node("Reshape", self._linear(layer.looking, x), parts)
        mixed = self._node("Reshape", self._attention(looked), rows)
        x = self._norm(layer.attended, self._node("Add", self._linear(layer.mixed, mixed), x))
        narrow = self._linear(layer.narrow, self._gelu(self._linear(layer.wide, x)))
        return self._norm(layer.finished, self._node("Add", narrow, x))

    def _attention(self, looked: str) -> str:
        """As numpy does it; an axis of length 1 stays in front of each of the three."""
        query, key, value = (next(self._names) for _ in range(3))
        turned = self._node("Transpose", looked, perm=[2, 0, 3, 1, 4])
        self._add("Split", [turned], [query, key, value], axis=0)
        scores = self._node("MatMul", query, self._node("Transpose", key, perm=[0, 1, 2, 4, 3]))
        shares = self._node("Softmax", self._node("Add", scores, "mask"), axis=-1)
        return self._node("Transpose", self._node("MatMul", shares, value), perm=[0, 1, 3, 2, 4])

    def _gelu(self, x: str) -> str:
        """In the five steps that onnxruntime knows and makes one."""
        error = self._node("Erf", self._node("Div", x, self._real(2**0.5)))
        doubled = self._node("Mul", x, self._node("Add", error, self._real(1)))
        return self._node("Mul", doubled, self._real(0.5))

    def _linear(self, linear: Linear, x: str) -> str:
        return self._node("Gemm", x, *map(self._weight, linear), transB=1)

    def _norm(self, norm: Norm, x: str) -> str:
        return self._node("LayerNormalization", x, *map(self._weight, norm), epsilon=EPSILON)

    def _node(self, kind: str, *inputs: str, **attributes: Attribute) -> str:
        output = next(self._names)
        self._add(kind, inputs, [output], **attributes)
        return output

    def _add(
        self, kind: str, inputs: Sequence[str], outputs: Sequence[str], **attributes: Attribute
    ) -> None:
        given = (_attribute(name, value) for name, value in attributes.items())
        self._nodes.append(message(*each(1, inputs), *each(2, outputs), (4, kind), *each(5, given)))

    def _weight(self, numbers: Floats) -> str:
        name = next(self._names)
        self.weights[name] = np.ascontiguousarray(numbers, np.float32)
        outside = message((1, "location"), (2, name))
        shape = each(1, numbers.shape)
        self._constants.append(message(*shape, (2, _FLOAT), (8, name), (13, outside), (14, 1)))
        return name

    def _real(self, value: float) -> str:
        return self._constant((2, _FLOAT), (9, pack("<f", value)))

    def _whole(self, *values: int) -> str:
        return self._constant((1, len(values)), (2, _INT64), (9, pack(f"<{len(values)}q", *values)))

    def _constant(self, *fields: tuple[int, Value]) -> str:
        name = next(self._names)
        self._constants.append(message(*fields, (8, name)))
        return name

    def _model(self, hidden: int) -> bytes:
        shaped = ("texts", "pieces", hidden)
        inputs = [_described("x", *shaped), _described("mask", "masked", 1, 1, "keys")]
        graph = message(
            *each(1, self._nodes),
            (2, "layers"),
            *each(5, self._constants),
            *each(11, inputs),
            (12, _described("y", *shaped)),
        )
        return message((1, _FORMAT), (7, graph), (8, message((1, ""), (2, _OPERATORS))))


def _attribute(name: str, value: Attribute) -> bytes:
    if isinstance(value, int):
        return message((1, name), (3, value), (20, _WHOLE))
    if isinstance(value, float):
        return message((1, name), (2, value), (20, _REAL))
    return message((1, name), *each(8, value), (20, _WHOLES))


def _described(name: str, *shape: int | str) -> bytes:
    """An input or output; an axis of any length has a name."""
    axes = (message((1 if isinstance(axis, int) else 2, axis)) for axis in shape)
    tensor = message((1, _FLOAT), (2, message(*each(1, axes))))
    return message((1, name), (2, message((1, tensor))))
