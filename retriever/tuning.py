"""Contrastive tuning: a question's evidence has to lie closer to it than every other turn.

A step takes one conversation whole. All of its turns, and some of other conversations, are compared
with all of its questions, so that the hardest negatives, the turns said just before and after, are
always there. Evidence competes with what is no evidence only, never with other evidence.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any, NamedTuple

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
    strangers: int = 300
    """Turns of other conversations that are negatives besides."""
    disguised: bool = True
    """Whether strangers bear the names of those who speak here; else they are told by theirs."""
    worst: float = 0.0
    """How much of a question's loss is that of its worst evidence; the rest is the mean of all."""
    frozen: str = "nothing"
    """Weights whose names begin so are not tuned."""
    average: float = 0.99
    """Decay of the running mean of the weights, which is what is kept."""
    seed: int = 8


class Batch(NamedTuple):
    """A conversation, ready to be compared."""

    turns: list[str]
    questions: list[str]
    is_evidence: Tensor
    is_stranger: Tensor


def batches(
    conversations: Sequence[Conversation], recipe: Recipe, device: str
) -> Iterator[tuple[Batch, float]]:
    """All steps of a training, and how far it has come by each, from 0 to 1."""
    random = Random(recipe.seed)
    steps = recipe.epochs * len(conversations)
    said = [(number, turn) for number, one in enumerate(conversations) for turn in one["turns"]]
    for epoch in range(recipe.epochs):
        order = random.sample(range(len(conversations)), len(conversations))
        for step, number in enumerate(order, epoch * len(order)):
            others = random.sample(said, min(2 * recipe.strangers, len(said)))
            strangers = [turn for owner, turn in others if owner != number][: recipe.strangers]
            if recipe.disguised:
                strangers = disguised(strangers, conversations[number], random)
            yield batch(conversations[number], strangers, device), step / steps


def disguised(strangers: Sequence[Turn], here: Conversation, random: Random) -> list[Turn]:
    """Turns of others as if they had been said by those who speak here."""
    names = sorted({turn["speaker"] for turn in here["turns"]})
    return [{**turn, "speaker": random.choice(names)} for turn in strangers]


def batch(chosen: Conversation, strangers: Sequence[Turn], device: str) -> Batch:
    """A whole conversation, and turns that stand alone."""
    place = {turn["id"]: row for row, turn in enumerate(chosen["turns"])}
    turns = [spoken(turn) for turn in (*chosen["turns"], *strangers)]
    is_evidence = torch.zeros(len(chosen["questions"]), len(turns), dtype=torch.bool)
    for row, question in enumerate(chosen["questions"]):
        is_evidence[row, [place[name] for name in question["evidence"]]] = True
    asked = [question["question"] for question in chosen["questions"]]
    is_stranger = torch.arange(len(turns)) >= len(chosen["turns"])
    return Batch(turns, asked, is_evidence.to(device), is_stranger.to(device))


def likeness(weights: Weights, step: Batch, encode: Encode, cut: Cut) -> Tensor:
    """The cosine of each question with each turn."""
    device = step.is_evidence.device.type
    with torch.autocast(device, torch.bfloat16, enabled=device == "cuda"):
        vectors = encode(weights, cut([*step.questions, *step.turns])).float()
    return vectors[: len(step.questions)] @ vectors[len(step.questions) :].T


def doubts(judge: Weights, encode: Encode, cut: Cut) -> Callable[[Batch], Tensor]:
    """Which strangers a judge finds at least as close to a question as the least of its evidence:
    some of them would answer it, had they been said here."""

    def unsure(step: Batch) -> Tensor:
        with torch.no_grad():
            scores = likeness(judge, step, encode, cut)
        least = scores.masked_fill(~step.is_evidence, torch.inf).amin(1, keepdim=True)
        return (scores >= least) & step.is_stranger

    return unsure


def loss(logits: Tensor, is_evidence: Tensor, is_left_out: Tensor, worst: float) -> Tensor:
    """For each question, how badly its evidence wins against the rest."""
    rest = logits.masked_fill(is_evidence | is_left_out, -torch.inf).logsumexp(1, keepdim=True)
    lost = F.softplus(rest - logits) * is_evidence
    mean = lost.sum(1) / is_evidence.sum(1).clamp(min=1)
    return ((1 - worst) * mean + worst * lost.amax(1)).mean()


def tune(
    weights: Weights,
    conversations: Sequence[Conversation],
    recipe: Recipe,
    encode: Encode,
    cut: Cut,
    extra: Callable[[Batch, Tensor], Tensor] | None = None,
    rates: Mapping[str, float] | None = None,
    unsure: Callable[[Batch], Tensor] | None = None,
) -> Weights:
    """The tuned weights; `extra` may add to the loss, given a step's logits, some weights may have
    a rate of their own, and what `unsure` names is no negative."""
    torch.manual_seed(recipe.seed)
    own = {
        name: 0.0 if name.startswith(recipe.frozen) else (rates or {}).get(name, recipe.rate)
        for name in weights
    }
    weights = {name: one.clone().requires_grad_(own[name] > 0) for name, one in weights.items()}
    tuned = {name: one for name, one in weights.items() if own[name]}
    optimiser = _optimiser(tuned, own)
    mean = {name: one.detach().clone() for name, one in weights.items()}
    device = next(iter(weights.values())).device.type
    for step, share in batches(conversations, recipe, device):
        for group in optimiser.param_groups:
            group["lr"] = group["rate"] * min(share / 0.1, (1 - share) / 0.9, 1.0)
        logits = likeness(weights, step, encode, cut) / recipe.temperature
        left_out = unsure(step) if unsure else torch.zeros_like(step.is_evidence)
        total = loss(logits, step.is_evidence, left_out, recipe.worst)
        if extra is not None:
            total = total + extra(step, logits)
        optimiser.zero_grad()
        total.backward()
        torch.nn.utils.clip_grad_norm_(tuned.values(), 1.0)
        optimiser.step()
        _follow(mean, weights, recipe.average)
    return mean


def _optimiser(tuned: Weights, own: Mapping[str, float]) -> Any:
    """AdamW; weights of one rate are one group, which is faster than many."""
    groups = [
        {"params": [one for name, one in tuned.items() if own[name] == rate], "rate": rate}
        for rate in sorted({own[name] for name in tuned})
    ]
    return torch.optim.AdamW(groups, weight_decay=0.01, fused=True)


def _follow(mean: Weights, weights: Weights, decay: float) -> None:
    with torch.no_grad():
        torch._foreach_lerp_(list(mean.values()), list(weights.values()), 1 - decay)
