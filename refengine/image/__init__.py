"""Image files: what reads them stands here, because it needs a package of its own (pillow)."""
