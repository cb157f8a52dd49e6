"""Ready-made models."""
