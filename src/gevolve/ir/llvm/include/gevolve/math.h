// The C and C++ math library for device code, written here because a toolkit's libdevice is not.
//
// `gevolve/math/` holds the functions as overloads in the namespace gevolve_math, one header per family;
// it also compiles as plain host C++, where the tests compare it with exact values. `names.h` gives
// them the names that kernels use.
#pragma once

#include "math/core.h"
#include "math/basic.h"
#include "math/exponential.h"
#include "math/power.h"
#include "math/trigonometric.h"
#include "math/inverse.h"
#include "math/hyperbolic.h"
#include "math/special.h"
#include "math/gamma.h"

#include "math/names.h"
