"""Stand-ins for headers that NVRTC does not have: what device code needs of them, or nothing.

NVRTC knows CUDA's own names, the functions of ``math.h`` and `printf` without any header.
"""

from collections.abc import Mapping


def _defines(values: Mapping[str, str]) -> str:
    return "".join(
        f"#ifndef {n.partition('(')[0]}\n#define {n} {v}\n#endif\n" for n, v in values.items()
    )


_LIMITS = _defines(
    {
        "CHAR_BIT": "8",
        "SCHAR_MAX": "127",
        "UCHAR_MAX": "255",
        "SHRT_MAX": "32767",
        "SHRT_MIN": "(-32768)",
        "USHRT_MAX": "65535",
        "INT_MAX": "2147483647",
        "INT_MIN": "(-INT_MAX - 1)",
        "UINT_MAX": "4294967295u",
        "LONG_MAX": "9223372036854775807l",
        "LONG_MIN": "(-LONG_MAX - 1)",
        "ULONG_MAX": "18446744073709551615ul",
        "LLONG_MAX": "9223372036854775807ll",
        "LLONG_MIN": "(-LLONG_MAX - 1)",
        "ULLONG_MAX": "18446744073709551615ull",
        "RAND_MAX": "2147483647",
    }
)
_FLOATS = _defines(
    {
        "FLT_RADIX": "2",
        "FLT_DIG": "6",
        "FLT_MANT_DIG": "24",
        "FLT_MAX": "3.402823466e+38f",
        "FLT_MIN": "1.175494351e-38f",
        "FLT_EPSILON": "1.192092896e-07f",
        "DBL_DIG": "15",
        "DBL_MANT_DIG": "53",
        "DBL_MAX": "1.7976931348623157e+308",
        "DBL_MIN": "2.2250738585072014e-308",
        "DBL_EPSILON": "2.2204460492503131e-16",
    }
)
_INTEGERS = (
    "#pragma once\n"
    + "".join(
        f"typedef {sign}{name} {prefix}int{bits}_t;\n"
        for bits, name in ((8, "char"), (16, "short"), (32, "int"), (64, "long"))
        for prefix, sign in (("", "signed "), ("u", "unsigned "))
    )
    + "typedef long intptr_t;\ntypedef unsigned long uintptr_t;\nnamespace std {\nusing ::size_t;\n"
    + "".join(f"using ::{u}int{bits}_t;\n" for bits in (8, 16, 32, 64, "ptr") for u in ("", "u"))
    + "}\n"
    + _defines(
        {
            "INT64_C(x)": "x##l",
            "UINT64_C(x)": "x##ul",
            "INT32_C(x)": "x",
            "UINT32_C(x)": "x##u",
        }
    )
)
_SHORT_NAMES = "".join(f"typedef unsigned {kind} u{kind};\n" for kind in ("short", "int", "long"))
_MATHS = (
    *(
        "abs fabs sqrt cbrt exp exp2 expm1 log log2 log10 log1p pow hypot sin cos tan asin acos atan"
    ),
    *(" atan2 sinh cosh tanh asinh acosh atanh erf erfc tgamma lgamma floor ceil trunc round rint"),
    *(
        " nearbyint fmod remainder fma fmin fmax fdim copysign ldexp frexp modf isnan isinf isfinite"
    ),
)
_MATH = _defines(
    {
        "M_PI": "3.14159265358979323846",
        "M_PI_2": "1.57079632679489661923",
        "M_PI_4": "0.78539816339744830962",
        "M_1_PI": "0.31830988618379067154",
        "M_2_PI": "0.63661977236758134308",
        "M_E": "2.7182818284590452354",
        "M_LN2": "0.69314718055994530942",
        "M_LN10": "2.30258509299404568402",
        "M_LOG2E": "1.4426950408889634074",
        "M_SQRT2": "1.41421356237309504880",
        "M_SQRT1_2": "0.70710678118654752440",
        "INFINITY": "(__int_as_float(0x7f800000))",
        "NAN": "(__int_as_float(0x7fffffff))",
        "HUGE_VALF": "INFINITY",
        "HUGE_VAL": "(__longlong_as_double(0x7ff0000000000000ll))",
    }
)
_CMATH = (
    "#pragma once\n#include <math.h>\n#include <algorithm>\nnamespace std {\n"
    + "".join(f"using ::{name};\n" for name in "".join(_MATHS).split())
    + "}\n"
)
_NUMERIC = (
    "#pragma once\nnamespace std {\ntemplate <class T> struct numeric_limits;\n"
    + "".join(
        f"template <> struct numeric_limits<{kind}> {{\n"
        + "".join(
            f"static __device__ {'' if '_as_' in value else 'constexpr '}{kind} {name}() {{ return {value}; }}\n"
            for name, value in values.items()
        )
        + "};\n"
        for kind, values in {
            "int": {"min": "-2147483647 - 1", "lowest": "-2147483647 - 1", "max": "2147483647"},
            "unsigned": {"min": "0", "lowest": "0", "max": "4294967295u"},
            "long long": {
                "min": "-9223372036854775807ll - 1",
                "lowest": "-9223372036854775807ll - 1",
                "max": "9223372036854775807ll",
            },
            "unsigned long long": {"min": "0", "lowest": "0", "max": "18446744073709551615ull"},
            "float": {
                "min": "1.175494351e-38f",
                "lowest": "-3.402823466e+38f",
                "max": "3.402823466e+38f",
                "epsilon": "1.192092896e-07f",
                "infinity": "__int_as_float(0x7f800000)",
                "quiet_NaN": "__int_as_float(0x7fffffff)",
            },
            "double": {
                "min": "2.2250738585072014e-308",
                "lowest": "-1.7976931348623157e+308",
                "max": "1.7976931348623157e+308",
                "epsilon": "2.2204460492503131e-16",
                "infinity": "__longlong_as_double(0x7ff0000000000000ll)",
                "quiet_NaN": "__longlong_as_double(0x7fffffffffffffffll)",
            },
        }.items()
    )
    + "}\n"
)
_ALGORITHM = """#pragma once
#include <limits>
namespace std {
template <class T> __device__ constexpr const T &min(const T &a, const T &b) { return b < a ? b : a; }
template <class T> __device__ constexpr const T &max(const T &a, const T &b) { return a < b ? b : a; }
template <class T> __device__ void swap(T &a, T &b) { T c = a; a = b; b = c; }
}
"""
_GETOPT = """#pragma once
struct option { const char *name; int has_arg; int *flag; int val; };
"""
# What nvcc itself includes first has these of the host, with or without a header of the source's.
_FIRST = (
    "#pragma once\n#include <math.h>\n#include <limits.h>\nnamespace std { using ::size_t; }\n"
    + _SHORT_NAMES
)
# Those that CUDA has its own form of, in a folder that comes with NVRTC.
_OF_CUDA = ("array", "tuple", "type_traits", "atomic", "optional", "span", "ratio")
_NOTHING = (
    *("cuda.h", "cuda_runtime_api.h", "device_launch_parameters.h"),
    *("device_functions.h", "math_functions.h", "cuda_profiler_api.h", "driver_types.h"),
    *("stdio.h", "cstdio", "string.h", "cstring", "strings.h", "assert.h", "cassert", "errno.h"),
    *("stddef.h", "cstddef", "time.h", "ctime", "sys/time.h", "unistd.h", "stdbool.h", "fcntl.h"),
    *("ctype.h", "cctype", "stdarg.h", "cstdarg", "cerrno", "signal.h", "csignal", "omp.h"),
    *("sys/stat.h", "sys/mman.h", "sys/resource.h", "pthread.h", "dirent.h", "libgen.h"),
    *("new", "exception", "typeinfo", "stdexcept", "initializer_list", "iterator", "bitset"),
    *("list", "map", "set", "queue", "deque", "stack", "unordered_map", "unordered_set"),
)
_WITH_INTEGERS = (
    *("stdlib.h", "cstdlib", "sys/types.h", "iostream", "fstream", "sstream", "iomanip"),
    *("ostream", "istream", "string", "vector", "chrono", "memory", "numeric", "random"),
    *("functional", "thread", "mutex", "condition_variable", "future", "filesystem"),
)
"""Those of which device code needs no more than ``int64_t``, ``uint`` and the like, which come with them on Linux."""
HEADERS: Mapping[str, str] = {
    **dict.fromkeys(_NOTHING, ""),
    **dict.fromkeys(("limits.h", "climits"), _LIMITS),
    **dict.fromkeys(("float.h", "cfloat"), _FLOATS),
    **dict.fromkeys(("stdint.h", "cstdint", "inttypes.h", "cinttypes"), _INTEGERS),
    **dict.fromkeys(_WITH_INTEGERS, _INTEGERS + _SHORT_NAMES),
    **{
        name: f"#pragma once\n#include <cuda/std/{name}>\nnamespace std {{ using namespace cuda::std; }}\n"
        for name in _OF_CUDA
    },
    "cuda_runtime.h": _FIRST,
    "getopt.h": _GETOPT,
    "limits": _NUMERIC,
    "math.h": _MATH,
    "cmath": _CMATH,
    **dict.fromkeys(("algorithm", "utility"), _ALGORITHM),
}
"""The text of each header, by the name that a source includes it by."""
