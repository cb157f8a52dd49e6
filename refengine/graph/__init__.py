"""Graphs: the nodes behind symbols, inference of shapes and dtypes, memory plans and execution."""
