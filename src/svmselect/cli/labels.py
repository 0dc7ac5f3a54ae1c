"""Labels as people write and read them."""

from __future__ import annotations

import numpy as np

from svmselect.cli.encoding import counted
from svmselect.cli.number import is_number

__all__ = ["codes_of", "name_of"]


def name_of(label):
    """A class for people: whole numbers without a point."""
    return f"{label:.0f}" if isinstance(label, float) else str(label)


def codes_of(labels, classes, path, doubts):
    """The number of each row's class: -1 if the model does not know the label, -2 if there is none.

    None if no row has one. A ValueError if no label is known: the file means something else by them.
    """
    are_text = classes.dtype.kind not in "iuf"
    numbers = {(str(label) if are_text else float(label)): k for k, label in enumerate(classes.tolist())}
    if isinstance(labels, np.ndarray):
        words = [name_of(value) if value == np.floor(value) else str(value) for value in labels.tolist()]
    else:
        words = labels

    def key(word):
        return word if are_text else float(word) if is_number(word) else None

    codes = np.array([-2 if word == "" else numbers.get(key(word), -1) for word in words])
    if (codes == -2).all():
        return None
    unknown = sorted({word for word, code in zip(words, codes, strict=True) if code == -1})
    known = ", ".join(name_of(label) for label in classes.tolist())
    if (codes < 0).all():
        if isinstance(labels, np.ndarray) and len(unknown) == 1:
            doubts.append(
                f"every label is {unknown[0]}, which is no class of the model ({known}): they are taken to "
                "stand for none"
            )
            return None
        raise ValueError(f"{path}: no label, such as {unknown[0]!r}, is a class of the model ({known})")
    if unknown:
        doubts.append(
            f"{counted(np.count_nonzero(codes == -1), 'row has', 'rows have')} a label that is no class of "
            f"the model ({known}), such as {unknown[0]!r}: each counts as an error"
        )
    if (codes == -2).any():
        n = np.count_nonzero(codes == -2)
        doubts.append(f"{counted(n, 'row has', 'rows have')} no label: the error is that of the others")
    return codes
