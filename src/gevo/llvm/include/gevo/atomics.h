// Atomic functions, for pointers into any memory; relaxed, as CUDA's are.
#pragma once

#define GEVO_RMW(name, builtin, type, suffix, scope)                                               \
  GEVO_DEVICE type atomic##name##suffix(type *p, type v) {                                         \
    return builtin(p, v, __ATOMIC_RELAXED, scope);                                                 \
  }

#define GEVO_INTEGER_ATOMICS(type, suffix, scope)                                                  \
  GEVO_RMW(Add, __scoped_atomic_fetch_add, type, suffix, scope)                                    \
  GEVO_RMW(Sub, __scoped_atomic_fetch_sub, type, suffix, scope)                                    \
  GEVO_RMW(Min, __scoped_atomic_fetch_min, type, suffix, scope)                                    \
  GEVO_RMW(Max, __scoped_atomic_fetch_max, type, suffix, scope)                                    \
  GEVO_RMW(And, __scoped_atomic_fetch_and, type, suffix, scope)                                    \
  GEVO_RMW(Or, __scoped_atomic_fetch_or, type, suffix, scope)                                      \
  GEVO_RMW(Xor, __scoped_atomic_fetch_xor, type, suffix, scope)                                    \
  GEVO_RMW(Exch, __scoped_atomic_exchange_n, type, suffix, scope)                                  \
  GEVO_DEVICE type atomicCAS##suffix(type *p, type expected, type desired) {                       \
    __scoped_atomic_compare_exchange_n(p, &expected, desired, false, __ATOMIC_RELAXED,             \
                                       __ATOMIC_RELAXED, scope);                                   \
    return expected;                                                                               \
  }

#define GEVO_FLOAT_ATOMICS(type, bits, suffix, scope)                                              \
  GEVO_RMW(Add, __scoped_atomic_fetch_add, type, suffix, scope)                                    \
  GEVO_DEVICE type atomicExch##suffix(type *p, type v) {                                           \
    return __builtin_bit_cast(                                                                     \
        type, atomicExch##suffix((bits *)p, __builtin_bit_cast(bits, v)));                         \
  }

#define GEVO_ATOMICS(suffix, scope, ptx)                                                           \
  GEVO_INTEGER_ATOMICS(int, suffix, scope)                                                         \
  GEVO_INTEGER_ATOMICS(unsigned int, suffix, scope)                                                \
  GEVO_INTEGER_ATOMICS(long, suffix, scope)                                                        \
  GEVO_INTEGER_ATOMICS(unsigned long, suffix, scope)                                               \
  GEVO_INTEGER_ATOMICS(long long, suffix, scope)                                                   \
  GEVO_INTEGER_ATOMICS(unsigned long long, suffix, scope)                                          \
  GEVO_FLOAT_ATOMICS(float, unsigned int, suffix, scope)                                           \
  GEVO_FLOAT_ATOMICS(double, unsigned long long, suffix, scope)                                    \
  GEVO_DEVICE unsigned atomicInc##suffix(unsigned *p, unsigned bound) {                            \
    return __nvvm_atom##ptx##_inc_gen_ui(p, bound);                                                \
  }                                                                                                \
  GEVO_DEVICE unsigned atomicDec##suffix(unsigned *p, unsigned bound) {                            \
    return __nvvm_atom##ptx##_dec_gen_ui(p, bound);                                                \
  }

GEVO_ATOMICS(, __MEMORY_SCOPE_DEVICE, )
GEVO_ATOMICS(_block, __MEMORY_SCOPE_WRKGRP, _cta)
GEVO_ATOMICS(_system, __MEMORY_SCOPE_SYSTEM, _sys)

#undef GEVO_ATOMICS
#undef GEVO_FLOAT_ATOMICS
#undef GEVO_INTEGER_ATOMICS
#undef GEVO_RMW
