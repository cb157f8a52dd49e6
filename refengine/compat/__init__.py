"""Standing in for Apache MXNet: answering to its name and, file by file, reading what it wrote."""
