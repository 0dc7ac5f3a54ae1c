"""Sarafis, Diou and Delopoulos (2018)."""
