"""Distilling: a smaller model learns to say what a larger one says.

First it copies the teacher's vectors of all training texts and of noise made from these: parts of
texts, and texts in which pieces were exchanged for others, so that every piece of the vocabulary
comes up. Then it is tuned like the teacher was, with the teacher's scores as a second aim.
"""

from collections.abc import Callable, Iterator, Sequence
from random import Random

import torch  # type: ignore[import-not-found]
from torch.nn import functional as F  # type: ignore[import-not-found]  # noqa: N812

from retriever.conversations import Conversation, spoken
from retriever.encoder import Cutter, Pieces, Tensor, Weights, encode, padded
from retriever.tuning import Batch, likeness

TEXTS_AT_ONCE = 256
# The first pieces of BERT's vocabulary are marks and places that nothing uses.
FIRST_PIECE = 999
# The teacher's scores are compared at this temperature.
TEMPERATURE = 0.05


def kept_layers(weights: Weights, layers: Sequence[int]) -> Weights:
    """A model of some of the layers."""
    kept = {name: one for name, one in weights.items() if not name.startswith("encoder.layer.")}
    for number, layer in enumerate(layers):
        old = f"encoder.layer.{layer}."
        for name, one in weights.items():
            if name.startswith(old):
                kept[f"encoder.layer.{number}.{name.removeprefix(old)}"] = one
    return {name: one.clone() for name, one in kept.items()}


def texts_of(conversations: Sequence[Conversation]) -> list[str]:
    """Everything said and asked."""
    said = [spoken(turn) for one in conversations for turn in one["turns"]]
    return said + [each["question"] for one in conversations for each in one["questions"]]


def noisy(pieces: Sequence[int], vocabulary: int, random: Random) -> list[int]:
    """A text as it is, a part of it, or with some of its pieces exchanged."""
    first, *inner, last = pieces
    kind = random.random()
    if kind < 0.5 and len(inner) > 4:
        start = random.randrange(len(inner) - 3)
        inner = inner[start : start + random.randint(4, len(inner))]
    if kind > 0.3:
        share = random.choice((0.0, 0.15, 0.4))
        inner = [
            random.randrange(FIRST_PIECE, vocabulary) if random.random() < share else one
            for one in inner
        ]
    return [first, *inner, last]


def noise(texts: Sequence[str], cut: Cutter, vocabulary: int, seed: int) -> Iterator[Pieces]:
    """Batches of texts and of what was made of them, without end."""
    random = Random(seed)
    while True:
        chosen = random.sample(texts, min(TEXTS_AT_ONCE, len(texts)))
        yield padded([noisy(cut.one(text), vocabulary, random) for text in chosen], cut.device)


def copy_vectors(
    student: Weights, teacher: Weights, source: Iterator[Pieces], steps: int, rate: float = 3e-4
) -> Weights:
    """The student's weights after so many batches of the teacher's vectors."""
    weights = {name: one.clone().requires_grad_() for name, one in student.items()}
    optimiser = torch.optim.AdamW(weights.values(), lr=rate, weight_decay=0.01, fused=True)
    device = next(iter(weights.values())).device.type
    for step in range(steps):
        for group in optimiser.param_groups:
            group["lr"] = rate * min(step / (0.05 * steps), 1 - step / steps, 1.0)
        pieces = next(source)
        with torch.autocast(device, torch.bfloat16, enabled=device == "cuda"):
            with torch.no_grad():
                wanted = encode(teacher, pieces)
            found = encode(weights, pieces)
        loss = 20 * (1 - (wanted * found).sum(1)).mean()
        loss = loss + likeness_loss(found @ found.T, wanted @ wanted.T)
        optimiser.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(weights.values(), 1.0)
        optimiser.step()
    return {name: one.detach() for name, one in weights.items()}


def likeness_loss(found: Tensor, wanted: Tensor) -> Tensor:
    """How far one ranking of a batch is from another."""
    log_found = F.log_softmax(found.float() / TEMPERATURE, 1)
    return F.kl_div(
        log_found, F.log_softmax(wanted.float() / TEMPERATURE, 1),
        reduction="batchmean", log_target=True,
    )  # fmt: skip


def teachers_scores(
    teacher: Weights, cut: Cutter, share: float
) -> Callable[[Batch, Tensor], Tensor]:
    """A loss besides: the distance to the teacher's scores of the same turns."""

    def extra(step: Batch, logits: Tensor) -> Tensor:
        with torch.no_grad():
            wanted = likeness(teacher, step, encode, cut)
        return share * F.kl_div(
            F.log_softmax(logits, 1), F.log_softmax(wanted / TEMPERATURE, 1),
            reduction="batchmean", log_target=True,
        )  # fmt: skip

    return extra
