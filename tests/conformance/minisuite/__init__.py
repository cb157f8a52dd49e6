"""A tiny suite for miniature engines: a few functions instead of a whole framework."""
