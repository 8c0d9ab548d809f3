"""The math header against exact values: accuracy in ulp, and C99's special cases."""

import math
import re

import numpy as np
import pytest

from tests.ir.llvm.hostmath import call

SAMPLES = 60_000
TYPES = {"float": np.float32, "double": np.float64}
WIDE = np.longdouble
INF, NAN = math.inf, math.nan


def uniform(low, high):
    return lambda rng, top: rng.uniform(low, high, SAMPLES)


def powers(low, high, *, signed=True):
    """Spread over all magnitudes from 2^low to 2^high; `high` is cut to the type's range."""

    def draw(rng, top):
        values = np.exp2(rng.uniform(max(low, -top), min(high, top), SAMPLES))
        return values * rng.choice([-1, 1], SAMPLES) if signed else values

    return draw


def near_zeros_of_sine(rng, top):
    return np.arange(1, SAMPLES) * (math.pi / 2)


def _sinpi(x):
    whole = np.rint(2 * x)
    angle = WIDE("3.14159265358979323846264338327950288") * (x - whole / 2)
    turn = np.mod(whole, 4)
    return np.select([turn == 0, turn == 1, turn == 2], [np.sin(angle), np.cos(angle), -np.sin(angle)], -np.cos(angle))  # fmt: skip


def _double(function):
    # The C library's double is all there is: half an ulp of its own error for double.
    return lambda x: np.array([function(v) for v in x.astype(float)], WIDE)


POSITIVE = (powers(-900, 900, signed=False), uniform(0.5, 2), uniform(0.99, 1.01))
ANGLES = (uniform(-10, 10), powers(-20, 20), powers(20, 1000), near_zeros_of_sine)
UNIT = (uniform(-1, 1), powers(-20, 0))
REALS = (uniform(-80, 80), powers(-30, 6))
# function: (exact, where, bound for float, bound for double)
UNARY = {
    "exp": (np.exp, (uniform(-700, 700), uniform(-80, 80), powers(-30, 0)), 1, 1),
    "exp2": (np.exp2, (uniform(-1000, 1000), uniform(-120, 120)), 1, 1),
    "exp10": (lambda x: WIDE(10) ** x, (uniform(-300, 300), uniform(-37, 37)), 1, 1.5),
    "expm1": (np.expm1, (uniform(-1, 1), *REALS), 1.5, 2),
    "log": (np.log, POSITIVE, 1, 1),
    "log2": (np.log2, POSITIVE, 2, 2),
    "log10": (np.log10, POSITIVE, 2.5, 2),
    "log1p": (np.log1p, (uniform(-0.99, 3), powers(-30, -1), powers(0, 60, signed=False)), 1, 1),
    "sin": (np.sin, ANGLES, 2.5, 1.6),
    "cos": (np.cos, ANGLES, 2.5, 1.6),
    "tan": (np.tan, ANGLES, 4, 3.2),
    "sinpi": (_sinpi, (uniform(-3, 3), powers(-20, 20)), 1.5, 1.5),
    "cospi": (lambda x: _sinpi(x + WIDE(0.5)), (uniform(-3, 3), powers(-20, 9)), 1.5, 1.5),
    "asin": (np.arcsin, UNIT, 2, 2.2),
    "acos": (np.arccos, UNIT, 1.5, 1.5),
    "atan": (np.arctan, (uniform(-2, 2), powers(-20, 40)), 1.5, 1.8),
    "sinh": (np.sinh, REALS, 2.2, 2.5),
    "cosh": (np.cosh, REALS, 1.5, 1.5),
    "tanh": (np.tanh, REALS, 1.6, 2.5),
    "asinh": (np.arcsinh, (powers(-30, 100), uniform(-2, 2)), 2, 2),
    "acosh": (np.arccosh, (uniform(1, 3), powers(0, 100, signed=False)), 2.2, 2.5),
    "atanh": (np.arctanh, UNIT, 2.2, 2.2),
    "erf": (_double(math.erf), (uniform(-5, 5), powers(-20, 2)), 1.2, 2),
    "erfc": (_double(math.erfc), (uniform(-3, 9), uniform(-1, 1.5)), 4, 5),
    "tgamma": (_double(math.gamma), (uniform(0.01, 33), uniform(-9.9, -0.01)), 6, 12),
    # Python's own lgamma is off by 30 ulp near its zeros.
    "lgamma": (_double(math.lgamma), (uniform(0.01, 0.8), uniform(2.5, 50)), 5, 40),
    "cbrt": (np.cbrt, (powers(-900, 900),), 1, 0.6),
    "rcbrt": (lambda x: 1 / np.cbrt(x), (powers(-900, 900),), 2, 1.6),
    "rsqrt": (lambda x: 1 / np.sqrt(x), (powers(-900, 900, signed=False),), 1, 1.6),
}
BINARY = {
    "pow": (np.power, (powers(-3, 3, signed=False), uniform(-38, 38)), 1.2, 1.5),
    "atan2": (np.arctan2, (powers(-20, 20), powers(-20, 20)), 1.6, 1.8),
    "hypot": (np.hypot, (powers(-20, 20), powers(-20, 20)), 1.3, 1.3),
}


def ulps(got, want, kind):
    """The distance from exact values, in units of the last place of `kind`."""
    with np.errstate(over="ignore", under="ignore"):
        unit = np.spacing(np.abs(want).astype(kind)).astype(WIDE)
    normal = (np.abs(want) > np.finfo(kind).tiny) & (np.abs(want) < np.finfo(kind).max)
    return np.max(np.abs((got.astype(WIDE) - want)[normal] / unit[normal]))


@pytest.mark.parametrize("name", UNARY)
@pytest.mark.parametrize("type_name", TYPES)
def test_functions_of_one_argument_are_accurate(name, type_name):
    exact, domains, *bounds = UNARY[name]
    kind = TYPES[type_name]
    rng = np.random.default_rng(7)
    for domain in domains:
        with np.errstate(all="ignore"):
            x = domain(rng, np.finfo(kind).maxexp - 1).astype(kind)
            want = np.asarray(exact(x[np.isfinite(x)].astype(WIDE)), WIDE)
            got = call(name, x[np.isfinite(x)])
        assert ulps(got, want, kind) <= bounds[type_name == "double"]


@pytest.mark.parametrize("name", BINARY)
@pytest.mark.parametrize("type_name", TYPES)
def test_functions_of_two_arguments_are_accurate(name, type_name):
    exact, domains, *bounds = BINARY[name]
    kind = TYPES[type_name]
    rng = np.random.default_rng(8)
    x, y = (domain(rng, 120).astype(kind) for domain in domains)
    with np.errstate(all="ignore"):
        want = exact(x.astype(WIDE), y.astype(WIDE))
    assert ulps(call(name, x, y), want, kind) <= bounds[type_name == "double"]


@pytest.mark.parametrize("type_name", TYPES)
def test_remainders_are_exact(type_name):
    kind = TYPES[type_name]
    rng = np.random.default_rng(9)
    x, y = (powers(-20, 20)(rng, 120)[:3000].astype(kind) for _ in range(2))
    pairs = list(zip(x.tolist(), y.tolist(), strict=True))
    np.testing.assert_array_equal(
        call("fmod", x, y), np.array([math.fmod(a, b) for a, b in pairs], kind)
    )
    want = np.array([math.remainder(a, b) for a, b in pairs], kind)
    np.testing.assert_array_equal(call("remainder", x, y), want)


@pytest.mark.parametrize("type_name", TYPES)
def test_rounding_is_exact(type_name):
    kind = TYPES[type_name]
    x = np.concatenate([np.arange(-40, 41) / 4, [0.49999997, -0.49999997, 1e15, 2.0**52 + 1, INF]])
    x = x.astype(kind)
    for name, exact in (
        ("floor", np.floor),
        ("ceil", np.ceil),
        ("trunc", np.trunc),
        ("rint", np.rint),
    ):
        np.testing.assert_array_equal(call(name, x), exact(x))
    away = np.copysign(np.floor(np.abs(x.astype(WIDE)) + WIDE(0.5)), x)
    np.testing.assert_array_equal(call("round", x), away.astype(kind))
    np.testing.assert_array_equal(call("nextafter", x, -x), np.nextafter(x, -x))


# Argument (or two): result.
SPECIAL = """
exp       inf:inf -inf:0 nan:nan 10000:inf -10000:0 0:1
exp2      inf:inf -inf:0 nan:nan 10000:inf -10000:0 3:8
exp10     inf:inf -inf:0 nan:nan 10000:inf -10000:0 0:1
expm1     inf:inf -inf:-1 nan:nan 10000:inf -10000:-1 -0.0:-0.0
log       0:-inf -0.0:-inf -1:nan inf:inf nan:nan 1:0 -inf:nan
log2      0:-inf -1:nan inf:inf nan:nan 8:3 0.25:-2
log10     0:-inf -1:nan inf:inf nan:nan 1:0
log1p     -1:-inf -2:nan inf:inf nan:nan -0.0:-0.0
sin       inf:nan -inf:nan nan:nan -0.0:-0.0 0:0
cos       inf:nan nan:nan 0:1
tan       inf:nan nan:nan -0.0:-0.0
sinpi     inf:nan nan:nan -0.0:-0.0 0.5:1 1.5:-1 3:0
cospi     inf:nan nan:nan 0:1 1:-1 0.5:0 2.5:0
asin      2:nan nan:nan -0.0:-0.0 1:1.5707963267948966
acos      2:nan nan:nan 1:0 -1:3.141592653589793
atan      inf:1.5707963267948966 -inf:-1.5707963267948966 nan:nan -0.0:-0.0
sinh      inf:inf -inf:-inf nan:nan -0.0:-0.0
cosh      inf:inf -inf:inf nan:nan 0:1
tanh      inf:1 -inf:-1 nan:nan -0.0:-0.0
asinh     inf:inf -inf:-inf nan:nan -0.0:-0.0
acosh     1:0 inf:inf 0.5:nan nan:nan
atanh     1:inf -1:-inf 2:nan nan:nan -0.0:-0.0
erf       inf:1 -inf:-1 nan:nan -0.0:-0.0
erfc      inf:0 -inf:2 nan:nan 0:1
normcdf   inf:1 -inf:0 nan:nan 0:0.5
tgamma    inf:inf -inf:nan nan:nan 0:inf -0.0:-inf -3:nan 5:24 200:inf
lgamma    inf:inf -inf:inf nan:nan 0:inf -3:inf 1:0 2:0
cbrt      inf:inf -inf:-inf nan:nan -0.0:-0.0 27:3 -8:-2
rsqrt     inf:0 0:inf nan:nan -1:nan 4:0.5
logb      0:-inf inf:inf -inf:inf nan:nan 10:3 1e-40:-133
"""
SPECIAL_PAIRS = """
pow       0,0:1 nan,0:1 1,nan:1 nan,1:nan 2,nan:nan 0,-1:inf -0.0,-3:-inf -0.0,-2:inf
          -0.0,3:-0.0 0,2.5:0 -2,3:-8 -2,2:4 -2,0.5:nan -1,inf:1 -1,-inf:1 0.5,inf:0
          0.5,-inf:inf 2,inf:inf inf,-1:0 inf,2:inf -inf,3:-inf -inf,2:inf -inf,-3:-0.0
          -inf,0.5:inf 1e+30,1000:inf 1e+30,-1000:0 2,-1074:5e-324 10,3:1000
atan2     0,1:0 -0.0,1:-0.0 0,-1:3.141592653589793 -0.0,-1:-3.141592653589793
          0,-0.0:3.141592653589793 1,0:1.5707963267948966 -1,0:-1.5707963267948966
          inf,inf:0.7853981633974483 inf,-inf:2.356194490192345 1,inf:0 1,-inf:3.141592653589793
          nan,1:nan
hypot     inf,nan:inf nan,1:nan 3,4:5 0,0:0 1e+30,1e+30:1.414213562373095e+30
fmod      inf,1:nan 1,0:nan 1,inf:1 -1,3:-1 -3,3:-0.0 nan,1:nan
remainder inf,1:nan 1,0:nan 1,inf:1 5,3:-1 -3,3:-0.0 2.5,1:0.5
fdim      3,1:2 1,3:0 nan,1:nan
fmin      nan,1:1 1,nan:1 2,1:1
fmax      nan,1:1 1,nan:1 2,1:2
"""


def special_cases(table):
    """Functions and their cases, each a list of the arguments and the result."""
    found = {}
    for line in re.sub(r"\n +", " ", table.strip()).splitlines():
        name, *cases = line.split()
        found[name] = [[float(number) for number in re.split("[,:]", case)] for case in cases]
    return found.items()


def check(got, want, kind, where):
    np.testing.assert_allclose(got, want, rtol=4 * np.finfo(kind).eps, atol=0, err_msg=where)
    numbers = ~np.isnan(want)
    np.testing.assert_array_equal(
        np.signbit(got[numbers]), np.signbit(want[numbers]), err_msg=where
    )


@pytest.mark.parametrize("type_name", TYPES)
@pytest.mark.filterwarnings("ignore:overflow encountered in cast:RuntimeWarning")
def test_special_cases_are_those_of_c99(type_name):
    kind = TYPES[type_name]
    for name, cases in (*special_cases(SPECIAL), *special_cases(SPECIAL_PAIRS)):
        *operands, want = np.array(cases, kind).T
        check(call(name, *operands), want, kind, name)


def test_float_results_become_subnormal_gradually():
    x = np.linspace(-103, -87, 1000).astype(np.float32)
    got, want = call("exp", x), np.exp(x.astype(float))
    assert np.max(np.abs(got - want)) <= 1.5 * 2.0**-149


def test_double_results_become_subnormal_gradually():
    x = np.linspace(-745, -708, 1000)
    assert np.max(np.abs(call("exp", x).astype(WIDE) - np.exp(x.astype(WIDE)))) <= WIDE(2.0**-1074)
