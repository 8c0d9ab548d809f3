"""Functions that PTX may call without defining: the maths library, printf, assertions."""

LIBM1 = (
    *("acos", "acosh", "asin", "asinh", "atan", "atanh", "cbrt", "ceil", "cos", "cosh", "erf"),
    *("erfc", "exp", "exp2", "expm1", "fabs", "floor", "lgamma", "log", "log10", "log1p", "log2"),
    *(
        "logb",
        "nearbyint",
        "rint",
        "round",
        "sin",
        "sinh",
        "sqrt",
        "tan",
        "tanh",
        "tgamma",
        "trunc",
    ),
)
LIBM2 = (
    "atan2",
    "copysign",
    "fdim",
    "fmax",
    "fmin",
    "fmod",
    "hypot",
    "nextafter",
    "pow",
    "remainder",
)
LIBM3 = ("fma",)
_FAST = {
    **{
        f"fast_{name}f": f"{name}f" for name in ("sin", "cos", "tan", "exp", "log", "log2", "log10")
    },
    "fast_powf": "powf",
    "fast_exp10f": "exp10f",
}


_OWN = {
    "rsqrt": ("gevolve_rsqrt_f64", "double", 1),
    "rsqrtf": ("gevolve_rsqrt_f32", "float", 1),
    "dsqrt_rn": ("sqrt", "double", 1),
    "fsqrt_rn": ("sqrtf", "float", 1),
    "fma_rn": ("fma", "double", 3),
    "fmaf_rn": ("fmaf", "float", 3),
}


def host_function(name: str) -> tuple[str, str, int] | None:
    """The libm function behind a name, as (symbol, LLVM type, number of arguments)."""
    bare = name.removeprefix("__nv_")
    bare = _FAST.get(bare, bare)
    if bare in _OWN:
        return _OWN[bare]
    for names, arity in ((LIBM1, 1), (LIBM2, 2), (LIBM3, 3)):
        if bare in names:
            return bare, "double", arity
        if bare.endswith("f") and bare[:-1] in names:
            return bare, "float", arity
    return None
