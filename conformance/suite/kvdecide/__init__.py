"""Cases of how a Trainer chooses its store and where the updates run."""
