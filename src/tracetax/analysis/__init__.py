"""From finished trials to findings."""
