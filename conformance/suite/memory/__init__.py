"""Cases of memory: reuse in place, out=, allocation, what is known of it, and what is freed when."""
