"""Differential mode: two engines run the same programs, and every difference is judged, shrunk and reported.

``engine_side`` runs in the engines' own interpreters; everything else here runs in the harness's.
"""
