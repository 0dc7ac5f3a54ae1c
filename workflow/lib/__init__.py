"""The modules that the workflow's scripts share."""
