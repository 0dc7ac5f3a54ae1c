"""What the workflow's scripts share, and one package per paper."""
