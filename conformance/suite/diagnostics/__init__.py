"""Cases of diagnosis: what errors say, what breaks a gradient and what does not, and tools that help to look."""
