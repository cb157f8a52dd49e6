"""The cases, a package per area; ``kit`` holds the few building blocks that they share."""
