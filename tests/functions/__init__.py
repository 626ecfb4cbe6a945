"""A host of the tests that serves functions, and a repository in which it is a workload."""
