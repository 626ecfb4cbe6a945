"""What a publication printed, beside what was measured."""

from tracetax.model import Experiment, Use
from tracetax.results.findings import PublishedValue


def published_values(experiment: Experiment, use: Use) -> tuple[PublishedValue, ...]:
    """What the publication printed for a configuration, one value per platform; both of two builds have the same."""
    return tuple(
        PublishedValue(row.platform, row.estimate, row.sd, unit="ns", per="call", source=row.source)
        for row in experiment.published
        if (row.use.agent, row.use.configuration) == (use.agent, use.configuration)
    )
