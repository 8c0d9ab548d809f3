// The CUDA C++ that a kernel may use without a CUDA toolkit; clang reads it before every source.
//
// One idea per file. All functions are inlined and carry no debug information, so an instruction
// that comes from here has the source line of the user's call.
#pragma once
#pragma clang system_header

#include "gevolve/host.h"
#include "gevolve/language.h"
#include "gevolve/vectors.h"
#include "gevolve/integer.h"
#include "gevolve/rounding.h"
#include "gevolve/warp.h"
#include "gevolve/atomics.h"
#include "gevolve/memory.h"
#include "gevolve/math.h"
#include "gevolve/runtime.h"
