// The CUDA C++ that a kernel may use without a CUDA toolkit; clang reads it before every source.
//
// One idea per file. All functions are inlined and carry no debug information, so an instruction
// that comes from here has the source line of the user's call.
#pragma once
#pragma clang system_header

#include "gevo/host.h"
#include "gevo/language.h"
#include "gevo/vectors.h"
#include "gevo/integer.h"
#include "gevo/rounding.h"
#include "gevo/warp.h"
#include "gevo/atomics.h"
#include "gevo/memory.h"
#include "gevo/math.h"
#include "gevo/runtime.h"
