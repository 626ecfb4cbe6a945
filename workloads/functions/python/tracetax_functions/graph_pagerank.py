"""graph-pagerank: PageRank of a graph that grows by preferential attachment (Barabási and Albert 1999)."""

from hashlib import sha256
from typing import Any

import igraph

from tracetax_functions.chance import numbers
from tracetax_functions.steps import step

NEEDS = ("size", "seed")
EDGES = 10
"""Edges that each new vertex brings, as in the graph that SeBS makes."""
TOP = 10


def handle(event: dict[str, Any]) -> dict[str, Any]:
    """Rank the ``size`` vertices of the graph that a ``seed`` makes; tell the first and their highest rank."""
    size = event["size"]
    with step("generate graph", vertices=size):
        graph = igraph.Graph(size, edges(size, event["seed"]))
    with step("rank vertices"):
        ranks: list[float] = graph.pagerank(damping=0.85)
    top = sorted(range(size), key=lambda vertex: -ranks[vertex])[:TOP]
    told = f"{','.join(map(str, top))} {ranks[top[0]]:.9f}"
    return {"top": top, "rank": ranks[top[0]], "digest": sha256(told.encode()).hexdigest()}


def edges(size: int, seed: int) -> list[tuple[int, int]]:
    """Draw the edges: a new vertex chooses ends of earlier edges, so vertices with many get more."""
    drawn = numbers(seed)
    ends = [0]
    made: list[tuple[int, int]] = []
    for vertex in range(1, size):
        before = len(ends)
        for _ in range(min(EDGES, vertex)):
            other = ends[next(drawn) % before]
            made.append((vertex, other))
            ends.append(other)
        ends.extend([vertex] * min(EDGES, vertex))
    return made
