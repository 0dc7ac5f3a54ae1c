"""The version of the installed library."""

from importlib.metadata import version

__all__ = ["package_attribute"]


def package_attribute(name: str) -> str:
    """Return the value of ``svmselect.__version__``, which is read on use: that takes a millisecond.

    The package imports this function as its ``__getattr__``.
    """
    if name == "__version__":
        return version("svmselect")
    raise AttributeError(f"module 'svmselect' has no attribute {name!r}")
