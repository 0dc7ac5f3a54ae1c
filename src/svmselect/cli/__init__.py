"""The command `svmselect`: leave-one-out errors, cross-validation and model selection for files."""

from svmselect.cli.main import main

__all__ = ["main"]
