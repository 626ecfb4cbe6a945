"""The run folder: everything one execution of an experiment produced, and the only thing makers and readers share."""
