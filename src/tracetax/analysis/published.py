"""What a publication printed, beside what was measured."""

from tracetax.model import Experiment, Use
from tracetax.results.findings import PublishedLineValue, PublishedValue


def published_values(experiment: Experiment, use: Use) -> tuple[PublishedValue, ...]:
    """What the publication printed for a configuration, one value per platform; both of two builds have the same."""
    return tuple(
        PublishedValue(row.platform, row.estimate, row.sd, unit="ns", per="call", source=row.source)
        for row in experiment.published
        if (row.use.agent, row.use.configuration) == (use.agent, use.configuration)
    )


def published_lines(experiment: Experiment, use: Use) -> tuple[PublishedLineValue, ...]:
    """The lines that the publication printed for a configuration, one per platform."""
    return tuple(
        PublishedLineValue(line.platform, line.slope, line.intercept, line.r_squared, line.source)
        for line in experiment.published_lines
        if (line.use.agent, line.use.configuration) == (use.agent, use.configuration)
    )
