"""The option --save: a trained model, with how the rows of its file were encoded."""

from __future__ import annotations

from svmselect.sklearn import save_model

__all__ = ["check_saving", "save"]


def check_saving(arguments, data):
    """A ValueError, before anything is trained, where the format cannot hold the encoding."""
    if arguments.save and arguments.save_as == "libsvm" and not data.encoding.is_plain:
        raise ValueError(
            "LIBSVM's model file cannot hold categories, imputed values or standardised features: save the "
            "model as json, or encode the file itself"
        )


def save(model, data, arguments):
    """Write the model where --save says."""
    encoding = None if arguments.save_as == "libsvm" else data.encoding.as_dict()
    save_model(model, arguments.save, arguments.save_as, encoding)
