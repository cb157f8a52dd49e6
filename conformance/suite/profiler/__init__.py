"""Cases of the profiler."""
