"""Mutants of the miniature engine, and a few that are faulty themselves."""
