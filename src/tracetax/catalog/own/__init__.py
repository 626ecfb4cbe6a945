"""What is the user's own: files in the place of agents', and a service in the place of a workload."""
