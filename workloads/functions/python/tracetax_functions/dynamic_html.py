"""dynamic-html: a page with a list of random numbers, made from a template."""

from hashlib import sha256
from itertools import islice
from pathlib import Path
from typing import Any

from jinja2 import Template

from tracetax_functions.chance import numbers
from tracetax_functions.steps import step

TEMPLATE = Path(__file__).with_name("templates") / "page.html"
NEEDS = ("username", "random_len", "seed", "time")
LESS_THAN = 1_000_000


def handle(event: dict[str, Any]) -> dict[str, Any]:
    """Render the page for a user, with ``random_len`` numbers of a ``seed``."""
    count = event["random_len"]
    with step("draw numbers", count=count):
        drawn = [number % LESS_THAN for number in islice(numbers(event["seed"]), count)]
    with step("read template", file=TEMPLATE.name):
        text = TEMPLATE.read_text(encoding="utf-8")
        template = Template(text, autoescape=True, trim_blocks=True, keep_trailing_newline=True)
    with step("render page"):
        html = template.render(username=event["username"], cur_time=event["time"], random_numbers=drawn)
    return {"html": html, "digest": sha256(html.encode()).hexdigest()}
