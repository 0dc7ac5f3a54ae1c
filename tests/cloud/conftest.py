"""An object store and an API of Kubernetes, both of them on this machine's loopback."""

import pytest
from checkouts import Checkout
from cloud.pods import Kubernetes

BUCKET = "reproduction"


@pytest.fixture(scope="module")
def store():
    # boto3 and moto are in the group cloud, which `make test` does not install
    from cloud.stores import Store

    store = Store(BUCKET)
    yield store
    store.stop()


@pytest.fixture
def checkout(tmp_path):
    (tmp_path / "checkout").mkdir()
    return Checkout(tmp_path / "checkout")


@pytest.fixture
def kubernetes(tmp_path):
    with Kubernetes(tmp_path / "cluster") as cluster:
        yield cluster
