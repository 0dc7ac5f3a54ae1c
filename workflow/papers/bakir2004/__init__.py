"""Bakir, Bottou and Weston (2004)."""
