"""The asv benchmarks: a class per family, derived from the records of ``perfsuite.records``."""
