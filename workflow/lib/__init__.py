"""What the workflow's scripts share: configuration, result rows, checkpoints, clocks, tables, figures; one package per paper."""
