"""Plan, measure, repeat: from an experiment to finished trials in a run folder."""
