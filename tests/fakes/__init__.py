"""Programs that stand in for a JVM with an agent, one for every verdict that a trial can get."""
