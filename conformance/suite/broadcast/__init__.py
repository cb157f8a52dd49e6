"""Cases of broadcasting: which shapes go together, what comes of them, and the gradients."""
