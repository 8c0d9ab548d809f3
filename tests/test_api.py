"""The public API is flat, and what is in it is on purpose."""

import gevo


def test_exported_names():
    assert sorted(gevo.__all__) == gevo.__all__
    public = {
        name
        for name, value in vars(gevo).items()
        if not name.startswith("_") and getattr(value, "__module__", "").startswith("gevo")
    }
    assert public == set(gevo.__all__)


def test_every_error_is_a_gevo_error_and_drawn_in_the_docstring():
    from gevo import errors

    found = [value for value in vars(errors).values() if isinstance(value, type)]
    assert all(issubclass(value, errors.GevoError) for value in found)
    assert all(value.__name__ in errors.__doc__ for value in found)
