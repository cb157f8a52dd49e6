"""Cases of memory planning: sharing, freeing, settings, and what programs do about memory."""
