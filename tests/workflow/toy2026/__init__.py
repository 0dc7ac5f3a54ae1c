"""A paper that never was: the least that a folder of a paper has, for test_toy_paper.py."""
