// Atomic functions, for pointers into any memory; relaxed, as CUDA's are.
#pragma once

#define GEVOLVE_RMW(name, builtin, type, suffix, scope)                                               \
  GEVOLVE_DEVICE type atomic##name##suffix(type *p, type v) {                                         \
    return builtin(p, v, __ATOMIC_RELAXED, scope);                                                 \
  }

#define GEVOLVE_INTEGER_ATOMICS(type, suffix, scope)                                                  \
  GEVOLVE_RMW(Add, __scoped_atomic_fetch_add, type, suffix, scope)                                    \
  GEVOLVE_RMW(Sub, __scoped_atomic_fetch_sub, type, suffix, scope)                                    \
  GEVOLVE_RMW(Min, __scoped_atomic_fetch_min, type, suffix, scope)                                    \
  GEVOLVE_RMW(Max, __scoped_atomic_fetch_max, type, suffix, scope)                                    \
  GEVOLVE_RMW(And, __scoped_atomic_fetch_and, type, suffix, scope)                                    \
  GEVOLVE_RMW(Or, __scoped_atomic_fetch_or, type, suffix, scope)                                      \
  GEVOLVE_RMW(Xor, __scoped_atomic_fetch_xor, type, suffix, scope)                                    \
  GEVOLVE_RMW(Exch, __scoped_atomic_exchange_n, type, suffix, scope)                                  \
  GEVOLVE_DEVICE type atomicCAS##suffix(type *p, type expected, type desired) {                       \
    __scoped_atomic_compare_exchange_n(p, &expected, desired, false, __ATOMIC_RELAXED,             \
                                       __ATOMIC_RELAXED, scope);                                   \
    return expected;                                                                               \
  }

#define GEVOLVE_FLOAT_ATOMICS(type, bits, suffix, scope)                                              \
  GEVOLVE_RMW(Add, __scoped_atomic_fetch_add, type, suffix, scope)                                    \
  GEVOLVE_DEVICE type atomicExch##suffix(type *p, type v) {                                           \
    return __builtin_bit_cast(                                                                     \
        type, atomicExch##suffix((bits *)p, __builtin_bit_cast(bits, v)));                         \
  }

#define GEVOLVE_ATOMICS(suffix, scope, ptx)                                                           \
  GEVOLVE_INTEGER_ATOMICS(int, suffix, scope)                                                         \
  GEVOLVE_INTEGER_ATOMICS(unsigned int, suffix, scope)                                                \
  GEVOLVE_INTEGER_ATOMICS(long, suffix, scope)                                                        \
  GEVOLVE_INTEGER_ATOMICS(unsigned long, suffix, scope)                                               \
  GEVOLVE_INTEGER_ATOMICS(long long, suffix, scope)                                                   \
  GEVOLVE_INTEGER_ATOMICS(unsigned long long, suffix, scope)                                          \
  GEVOLVE_FLOAT_ATOMICS(float, unsigned int, suffix, scope)                                           \
  GEVOLVE_FLOAT_ATOMICS(double, unsigned long long, suffix, scope)                                    \
  GEVOLVE_DEVICE unsigned atomicInc##suffix(unsigned *p, unsigned bound) {                            \
    return __nvvm_atom##ptx##_inc_gen_ui(p, bound);                                                \
  }                                                                                                \
  GEVOLVE_DEVICE unsigned atomicDec##suffix(unsigned *p, unsigned bound) {                            \
    return __nvvm_atom##ptx##_dec_gen_ui(p, bound);                                                \
  }

GEVOLVE_ATOMICS(, __MEMORY_SCOPE_DEVICE, )
GEVOLVE_ATOMICS(_block, __MEMORY_SCOPE_WRKGRP, _cta)
GEVOLVE_ATOMICS(_system, __MEMORY_SCOPE_SYSTEM, _sys)

#undef GEVOLVE_ATOMICS
#undef GEVOLVE_FLOAT_ATOMICS
#undef GEVOLVE_INTEGER_ATOMICS
#undef GEVOLVE_RMW
