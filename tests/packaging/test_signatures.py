"""Public functions say which types they take and return; "make lint" checks that these are true."""

import dataclasses
import inspect

import pytest

import svmselect

PUBLIC = [getattr(svmselect, name) for name in svmselect.__all__]


def functions(thing):
    """The function itself, or the public methods and properties that a class defines; without the constructor
    and the other methods that a dataclass has for free."""
    if not inspect.isclass(thing):
        yield thing
        return
    for name, part in vars(thing).items():
        part = getattr(part, "fget", None) or getattr(part, "__func__", part)
        written = name == "__init__" and not dataclasses.is_dataclass(thing)
        if inspect.isfunction(part) and (written or not name.startswith("_")):
            yield part


@pytest.mark.parametrize(
    "function", [f for thing in PUBLIC for f in functions(thing)], ids=lambda f: f.__qualname__
)
def test_public_signatures_are_annotated(function):
    signature = inspect.signature(function)
    without = [
        name
        for name, parameter in signature.parameters.items()
        if parameter.annotation is parameter.empty and name not in ("self", "cls")
    ]
    if function.__name__ != "__init__" and signature.return_annotation is signature.empty:
        without.append("return")
    assert without == []
