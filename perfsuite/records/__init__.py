"""The benchmark records, a module per family; ``_reference`` holds the independent numpy arithmetic they are checked by."""
