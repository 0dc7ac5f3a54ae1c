"""Franc, Laskov and Mueller (ICML 2008): what the scripts of this paper compute."""
