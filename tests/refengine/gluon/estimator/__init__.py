"""Estimators and their event handlers."""
