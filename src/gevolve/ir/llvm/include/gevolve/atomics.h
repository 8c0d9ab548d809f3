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

// The same with an order and a scope of one's own, as CUDA has them since 12.8.
enum { __NV_ATOMIC_RELAXED, __NV_ATOMIC_CONSUME, __NV_ATOMIC_ACQUIRE, __NV_ATOMIC_RELEASE,
       __NV_ATOMIC_ACQ_REL, __NV_ATOMIC_SEQ_CST };
enum { __NV_THREAD_SCOPE_SYSTEM, __NV_THREAD_SCOPE_DEVICE, __NV_THREAD_SCOPE_BLOCK,
       __NV_THREAD_SCOPE_CLUSTER = 5, __NV_THREAD_SCOPE_THREAD = 4 };

#define GEVOLVE_ORDERED int order, int scope = __NV_THREAD_SCOPE_SYSTEM
#define GEVOLVE_FETCH(name)                                                                           \
  template <class T> GEVOLVE_DEVICE T __nv_atomic_fetch_##name(T *p, T v, GEVOLVE_ORDERED) {          \
    return __scoped_atomic_fetch_##name(p, v, order, scope);                                          \
  }                                                                                                   \
  template <class T> GEVOLVE_DEVICE void __nv_atomic_##name(T *p, T v, GEVOLVE_ORDERED) {             \
    __scoped_atomic_fetch_##name(p, v, order, scope);                                                 \
  }

GEVOLVE_FETCH(add)
GEVOLVE_FETCH(sub)
GEVOLVE_FETCH(min)
GEVOLVE_FETCH(max)
GEVOLVE_FETCH(and)
GEVOLVE_FETCH(or)
GEVOLVE_FETCH(xor)
template <class T> GEVOLVE_DEVICE T __nv_atomic_load_n(T *p, GEVOLVE_ORDERED) {
  return __scoped_atomic_load_n(p, order, scope);
}
template <class T> GEVOLVE_DEVICE void __nv_atomic_load(T *p, T *to, GEVOLVE_ORDERED) {
  __scoped_atomic_load(p, to, order, scope);
}
template <class T> GEVOLVE_DEVICE void __nv_atomic_store_n(T *p, T v, GEVOLVE_ORDERED) {
  __scoped_atomic_store_n(p, v, order, scope);
}
template <class T> GEVOLVE_DEVICE void __nv_atomic_store(T *p, T *v, GEVOLVE_ORDERED) {
  __scoped_atomic_store(p, v, order, scope);
}
template <class T> GEVOLVE_DEVICE T __nv_atomic_exchange_n(T *p, T v, GEVOLVE_ORDERED) {
  return __scoped_atomic_exchange_n(p, v, order, scope);
}
template <class T> GEVOLVE_DEVICE void __nv_atomic_exchange(T *p, T *v, T *to, GEVOLVE_ORDERED) {
  __scoped_atomic_exchange(p, v, to, order, scope);
}
template <class T>
GEVOLVE_DEVICE bool __nv_atomic_compare_exchange_n(T *p, T *expected, T desired, bool weak, int order,
                                                   int failed, int scope = __NV_THREAD_SCOPE_SYSTEM) {
  return __scoped_atomic_compare_exchange_n(p, expected, desired, weak, order, failed, scope);
}
template <class T>
GEVOLVE_DEVICE bool __nv_atomic_compare_exchange(T *p, T *expected, T *desired, bool weak, int order,
                                                 int failed, int scope = __NV_THREAD_SCOPE_SYSTEM) {
  return __scoped_atomic_compare_exchange(p, expected, desired, weak, order, failed, scope);
}
GEVOLVE_DEVICE void __nv_atomic_thread_fence(GEVOLVE_ORDERED) {
  __scoped_atomic_thread_fence(order, scope);
}

#undef GEVOLVE_FETCH
#undef GEVOLVE_ORDERED
