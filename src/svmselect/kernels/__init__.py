"""Kernels: small frozen objects that compute blocks of the Gram matrix (`kernel.Kernel` is the protocol)."""

from svmselect.kernels.combined import Custom, Product, Sum
from svmselect.kernels.inner import RBF, AnisotropicRBF, Linear, Polynomial, Sigmoid
from svmselect.kernels.kernel import Kernel
from svmselect.kernels.pairwise import ChiSquared, Laplacian
from svmselect.kernels.panels import Rows

__all__ = [
    "RBF",
    "AnisotropicRBF",
    "ChiSquared",
    "Custom",
    "Kernel",
    "Laplacian",
    "Linear",
    "Polynomial",
    "Product",
    "Rows",
    "Sigmoid",
    "Sum",
]
