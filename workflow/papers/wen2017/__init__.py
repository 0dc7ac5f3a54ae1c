"""Wen et al. (2017)."""
