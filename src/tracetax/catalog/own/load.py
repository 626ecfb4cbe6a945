"""A load of the user's own, which sends the measured requests in the place of Tracetax's."""

import shlex
import shutil

from tracetax.catalog.agent_checks import check_names
from tracetax.catalog.reading import Report

LOADS = ("k6", "oha")
"""Programs that send requests, whose accounts of them the load reads (``load/tool.go``)."""
PLACEHOLDERS = ("url", "port", "rate", "seconds", "requests")
"""What the command of such a program may have, in braces."""


def load_of(typed: str | None, requests: int, report: Report) -> tuple[str, ...]:
    """The words of its command, placeholders as typed; none where nothing was. Every problem is reported.

    ``requests`` is how many requests to different endpoints are named beside it.
    """
    if typed is None:
        return ()
    try:
        words = tuple(shlex.split(typed))
    except ValueError as error:
        report.add("--load", f"cannot be split into words: {error}")
        return ()
    if not words or words[0].rpartition("/")[2] not in LOADS:
        report.add("--load", "must begin with k6 or oha: what others send cannot be read")
    elif not shutil.which(words[0]):
        report.add("--load", f'there is no program "{words[0]}"')
    if requests > 1:
        text = "sends its own requests, and --requests names several: of one alone it is known what records it makes"
        report.add("--load", text)
    check_names("--load", " ".join(words), PLACEHOLDERS, report)
    return words
