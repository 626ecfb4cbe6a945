"""A service that stands in for a workload, and a repository in which it is one."""
