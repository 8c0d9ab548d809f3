"""The public API is flat, and what is in it is on purpose."""

import gevolve


def test_exported_names():
    assert sorted(gevolve.__all__) == gevolve.__all__
    public = {
        name
        for name, value in vars(gevolve).items()
        if not name.startswith("_") and getattr(value, "__module__", "").startswith("gevolve")
    }
    assert public == set(gevolve.__all__)


def test_every_error_is_a_gevolve_error_and_drawn_in_the_docstring():
    from gevolve import errors

    found = [value for value in vars(errors).values() if isinstance(value, type)]
    assert all(issubclass(value, errors.GevolveError) for value in found)
    assert all(value.__name__ in errors.__doc__ for value in found)
