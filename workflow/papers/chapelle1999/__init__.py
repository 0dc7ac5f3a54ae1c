"""Chapelle and Vapnik (1999)."""
