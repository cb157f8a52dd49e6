"""Cases of automatic differentiation: recording, variables, the walk back, and functions written in Python."""
