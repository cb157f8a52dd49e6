"""Models that go from one engine to the other."""
