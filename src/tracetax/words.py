"""Words in sentences: a count with its noun, the verb that goes with it, and several words in a row."""

from collections.abc import Sequence


def plural(count: int, noun: str, several: str = "") -> str:
    """A count with its noun: ``1 block``, ``1,000 records``; ``several`` where that is not the noun with an s."""
    return f"{count:,} {noun if count == 1 else several or f'{noun}s'}"


def one(noun: str) -> str:
    """A noun with its article: ``an invocation``, ``a request``."""
    return f"{'an' if noun[0] in 'aeiou' else 'a'} {noun}"


def was(count: int) -> str:
    """``was`` or ``were``, for so many."""
    return "was" if count == 1 else "were"


def are(count: int) -> str:
    """``is`` or ``are``, for so many."""
    return "is" if count == 1 else "are"


def listed_words(words: Sequence[str]) -> str:
    """``Java, Python and Node``."""
    *before, last = words
    return f"{', '.join(before)} and {last}" if before else last


def share(count: int, whole: int, noun: str) -> str:
    """So many of a whole: ``1 of 79 trials``, ``1 of 1 trial``. The verb behind it follows ``count``."""
    return f"{count:,} of {plural(whole, noun)}"
