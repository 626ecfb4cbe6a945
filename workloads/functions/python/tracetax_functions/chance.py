"""Numbers that look random, the same in every language: xorshift with 32 bits (Marsaglia 2003)."""

from collections.abc import Iterator

MASK = 0xFFFFFFFF


def numbers(seed: int) -> Iterator[int]:
    """Give whole numbers from 1 to 2³² − 1, the same for the same seed, which is one of them."""
    state = seed
    while True:
        state ^= (state << 13) & MASK
        state ^= state >> 17
        state ^= (state << 5) & MASK
        yield state
