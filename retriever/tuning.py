"""Contrastive tuning: a question's evidence has to lie closer to it than every other turn.

A step takes a few conversations whole. All of their turns, and some of one conversation more, are
compared with all of their questions, so that the hardest negatives, the turns said just before and
after, are always there. Evidence competes with what is no evidence only, never with other evidence.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import NamedTuple

import torch  # type: ignore[import-not-found]
from torch.nn import functional as F  # type: ignore[import-not-found]  # noqa: N812

from retriever.conversations import Conversation, Turn, spoken
from retriever.encoder import Pieces, Tensor, Weights

Encode = Callable[[Weights, Pieces], Tensor]
Cut = Callable[[Sequence[str]], Pieces]


@dataclass(frozen=True)
class Recipe:
    """How a model is tuned."""

    epochs: int = 6
    rate: float = 3e-5
    temperature: float = 0.05
    together: int = 1
    """Conversations in one step."""
    strangers: int = 30
    """Turns of another conversation that are negatives besides."""
    beside: float = 0.0
    """What the turns before and after add to a turn's score, as they do in search."""
    average: float = 0.99
    """Decay of the running mean of the weights, which is what is kept."""
    seed: int = 8


class Batch(NamedTuple):
    """Some conversations, ready to be compared."""

    turns: list[str]
    questions: list[str]
    is_evidence: Tensor
    before: Tensor
    after: Tensor


def batches(
    conversations: Sequence[Conversation], recipe: Recipe, device: str
) -> Iterator[tuple[Batch, float]]:
    """All steps of a training, and how far it has come by each, from 0 to 1."""
    random = Random(recipe.seed)
    steps = recipe.epochs * -(-len(conversations) // recipe.together)
    step = 0
    for _ in range(recipe.epochs):
        order = random.sample(conversations, len(conversations))
        for start in range(0, len(order), recipe.together):
            chosen = order[start : start + recipe.together]
            other = random.choice([one for one in conversations if one not in chosen])["turns"]
            strangers = random.sample(other, min(recipe.strangers, len(other)))
            yield batch(chosen, strangers, device), step / steps
            step += 1


def batch(chosen: Sequence[Conversation], strangers: Sequence[Turn], device: str) -> Batch:
    """Whole conversations, and turns that stand alone."""
    turns = [(at, turn) for at, one in enumerate(chosen) for turn in one["turns"]]
    place = {(at, turn["id"]): row for row, (at, turn) in enumerate(turns)}
    asked = [(at, question) for at, one in enumerate(chosen) for question in one["questions"]]
    is_evidence = torch.zeros(len(asked), len(turns) + len(strangers), dtype=torch.bool)
    for row, (at, question) in enumerate(asked):
        for name in question["evidence"]:
            is_evidence[row, place[at, name]] = True
    before, after = _beside([(at, turn["session"]) for at, turn in turns], len(strangers))
    return Batch(
        [spoken(turn) for _, turn in turns] + [spoken(turn) for turn in strangers],
        [question["question"] for _, question in asked],
        is_evidence.to(device), before.to(device), after.to(device),
    )  # fmt: skip


def _beside(sessions: Sequence[tuple[int, str]], strangers: int) -> tuple[Tensor, Tensor]:
    """The columns before and after each one; where none is, one past the last."""
    none = len(sessions) + strangers
    before = [
        row - 1 if row and sessions[row - 1] == own else none for row, own in enumerate(sessions)
    ]
    after = [none] * none
    for row, earlier in enumerate(before):
        if earlier != none:
            after[earlier] = row
    return torch.tensor(before + [none] * strangers), torch.tensor(after)


def scores(asked: Tensor, said: Tensor, batch: Batch, beside: float) -> Tensor:
    """Each question's score with each turn, as search will add it up."""
    own = asked @ said.T
    if not beside:
        return own
    wide = F.pad(own, (0, 1))
    return own + beside * (wide[:, batch.before] + wide[:, batch.after])


def loss(logits: Tensor, is_evidence: Tensor) -> Tensor:
    """For each question, the mean over its evidence of how badly it wins against the rest."""
    rest = logits.masked_fill(is_evidence, -torch.inf).logsumexp(1, keepdim=True)
    lost = F.softplus(rest - logits) * is_evidence
    return (lost.sum(1) / is_evidence.sum(1).clamp(min=1)).mean()


def tune(
    weights: Weights,
    conversations: Sequence[Conversation],
    recipe: Recipe,
    encode: Encode,
    cut: Cut,
    extra: Callable[[Batch, Tensor], Tensor] | None = None,
    rates: Mapping[str, float] | None = None,
) -> Weights:
    """The tuned weights; `extra` may add to the loss, given a step's logits, and some weights may
    have a rate of their own."""
    torch.manual_seed(recipe.seed)
    own = {name: (rates or {}).get(name, recipe.rate) for name in weights}
    weights = {name: one.clone().requires_grad_(own[name] > 0) for name, one in weights.items()}
    groups = [{"params": [one], "rate": own[name]} for name, one in weights.items() if own[name]]
    optimiser = torch.optim.AdamW(groups, lr=recipe.rate, weight_decay=0.01, fused=True)
    mean = {name: one.detach().clone() for name, one in weights.items()}
    device = next(iter(weights.values())).device.type
    for step, share in batches(conversations, recipe, device):
        for group in optimiser.param_groups:
            group["lr"] = group["rate"] * min(share / 0.1, (1 - share) / 0.9, 1.0)
        with torch.autocast(device, torch.bfloat16, enabled=device == "cuda"):
            asked, said = encode(weights, cut(step.questions)), encode(weights, cut(step.turns))
        logits = scores(asked.float(), said.float(), step, recipe.beside) / recipe.temperature
        total = loss(logits, step.is_evidence)
        if extra is not None:
            total = total + extra(step, logits)
        optimiser.zero_grad()
        total.backward()
        torch.nn.utils.clip_grad_norm_([one for one in weights.values() if one.requires_grad], 1.0)
        optimiser.step()
        _follow(mean, weights, recipe.average)
    return mean


def _follow(mean: Weights, weights: Weights, decay: float) -> None:
    with torch.no_grad():
        torch._foreach_lerp_(list(mean.values()), list(weights.values()), 1 - decay)
