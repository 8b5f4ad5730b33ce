"""A MiniLM of two layers and random weights, written to disk as the real one comes."""

import json
from pathlib import Path

import numpy as np

VOCABULARY = "[PAD] [UNK] [CLS] [SEP] the cat sat on a mat ##s dog ran , .".split()
HIDDEN, WIDE, LAYERS, PLACES = 24, 48, 2, 256


def tensors(seed: int = 0) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(seed)

    def drawn(*shape: int) -> np.ndarray:
        return rng.normal(0, 0.5, shape).astype(np.float32)

    made = {
        "embeddings.word_embeddings.weight": drawn(len(VOCABULARY), HIDDEN),
        "embeddings.position_embeddings.weight": drawn(PLACES, HIDDEN),
        "embeddings.token_type_embeddings.weight": drawn(2, HIDDEN),
    }
    shapes: dict[str, tuple[int, ...]] = {"embeddings.LayerNorm": (HIDDEN,)}
    for number in range(LAYERS):
        layer = f"encoder.layer.{number}."
        for name in ("self.query", "self.key", "self.value", "output.dense"):
            shapes[f"{layer}attention.{name}"] = (HIDDEN, HIDDEN)
        shapes[f"{layer}attention.output.LayerNorm"] = (HIDDEN,)
        shapes[f"{layer}intermediate.dense"] = (WIDE, HIDDEN)
        shapes[f"{layer}output.dense"] = (HIDDEN, WIDE)
        shapes[f"{layer}output.LayerNorm"] = (HIDDEN,)
    for name, shape in shapes.items():
        made |= {f"{name}.weight": drawn(*shape), f"{name}.bias": drawn(shape[0])}
    return made


def safetensors(arrays: dict[str, np.ndarray]) -> bytes:
    """The file format: the length of a JSON header, the header, the bytes of the tensors."""
    header: dict[str, object] = {"__metadata__": {"format": "pt"}}
    body = b""
    for name, array in arrays.items():
        start, body = len(body), body + array.tobytes()
        kind = {"float32": "F32", "int64": "I64"}[array.dtype.name]
        header[name] = {
            "dtype": kind,
            "shape": list(array.shape),
            "data_offsets": [start, len(body)],
        }
    encoded = json.dumps(header).encode()
    encoded += b" " * (-len(encoded) % 8)
    return len(encoded).to_bytes(8, "little") + encoded + body


def write_model(folder: Path, seed: int = 0) -> Path:
    folder.mkdir(parents=True)
    # The real file, too, has one tensor of whole numbers.
    arrays = {"embeddings.position_ids": np.arange(PLACES)[None], **tensors(seed)}
    (folder / "model.safetensors").write_bytes(safetensors(arrays))
    (folder / "vocab.txt").write_text("\n".join(VOCABULARY) + "\n", encoding="utf-8")
    return folder
