"""How close numpy's vectors from rounded weights come to those of the model as it was trained.

    python -m retriever.measure_rounding

The latter were written by `retriever.train`, on the GPU and from weights of 32 bits, for the first
turn and question of each conversation that is held out, and a few texts besides.
"""

from pathlib import Path

import numpy as np

from mnemolog.embedders import open_embedder
from mnemolog.embedders.tensors import Floats
from retriever.measure_vectors import TUNED, found

SIZES = (*TUNED, "static")
REFERENCES = Path(__file__).parent.parent / "tests" / "embedders" / "references.npz"


def cosines(size: str) -> Floats:
    """The cosine of each text's two vectors."""
    with np.load(REFERENCES) as kept:
        texts, wanted = kept["texts"].tolist(), kept[size].astype(np.float32)
    wanted /= np.linalg.norm(wanted, axis=1, keepdims=True)
    both: Floats = (open_embedder(found(size)).embed(texts) * wanted).sum(axis=1)
    return both


def main() -> None:
    """Print the least and the mean cosine of each size."""
    for size in SIZES:
        each = cosines(size)
        print(f"{size:6} least {each.min():.5f}, mean {each.mean():.5f} ({len(each)} texts)")


if __name__ == "__main__":
    main()
