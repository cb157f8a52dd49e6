"""GRAPH rules: computation graphs, symbols, their files, and automatic differentiation as the documents describe it."""
