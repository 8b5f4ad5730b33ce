"""The static table in torch: a text's vector is the weighted sum of its pieces' vectors, turned.

The turn is the same for all pieces, so that what it learns holds for pieces that the training
texts do not have; the weights and the vectors are each piece's own.
"""

import torch  # type: ignore[import-not-found]
from torch.nn import functional as F  # type: ignore[import-not-found]  # noqa: N812

from retriever.encoder import Pieces, Tensor, Weights


def parts_of(table: Tensor) -> Weights:
    """A table as what is tuned of it."""
    rows, size = table.shape
    return {
        "vectors": table,
        "weights": torch.zeros(rows, device=table.device),
        "turn": torch.eye(size, device=table.device),
    }


def whole(parts: Weights) -> Tensor:
    """The table that these parts make up."""
    return (parts["vectors"] * parts["weights"].exp()[:, None]) @ parts["turn"]


def encode(parts: Weights, pieces: Pieces) -> Tensor:
    """One vector of length 1 for each text; the marks at both ends are no part of it."""
    place = torch.arange(pieces.ids.shape[1], device=pieces.ids.device)
    is_text = (place > 0) & (place < pieces.lengths[:, None] - 1)
    weights = parts["weights"].exp()[pieces.ids] * is_text
    total = (F.embedding(pieces.ids, parts["vectors"]) * weights[:, :, None]).sum(1)
    return F.normalize((total @ parts["turn"]).float(), dim=1)
