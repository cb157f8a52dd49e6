"""GLUON rules: blocks, hybridizing, parameters, hooks, export, helpers of gluon."""
