"""The steps of a tour: each prints its name once it has held, so that a failure is the step after the last one printed."""

from contextlib import contextmanager


@contextmanager
def step(name):
    yield
    print(name, flush=True)


def equal(actual, expected):
    if actual != expected:
        raise AssertionError(f"expected {expected!r}, got {actual!r}")


@contextmanager
def refused(kind, status):
    """The block has to raise an error of this kind with this status."""
    try:
        yield
    except kind as error:
        equal(error.status_code, status)
    else:
        raise AssertionError(f"not refused with {status}")
