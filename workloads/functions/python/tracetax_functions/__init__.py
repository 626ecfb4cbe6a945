"""Five functions as clouds run them, and what every host needs to call one."""
