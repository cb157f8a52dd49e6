"""Cases of operators that a program defines: written in Python, or compiled into a library."""
