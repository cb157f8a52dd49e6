"""The benchmark records, a module per family; ``_reference`` is the independent numpy arithmetic of their checks."""
