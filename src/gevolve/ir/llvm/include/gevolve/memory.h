// Loads and stores that say how they use the caches.
#pragma once

// Through the read-only cache: the compiler may assume that nobody writes the location.
#define GEVOLVE_LDG(type, builtin)                                                                    \
  GEVOLVE_DEVICE type __ldg(const type *p) { return builtin(p); }
#define GEVOLVE_LDG_AS(type, other)                                                                   \
  GEVOLVE_DEVICE type __ldg(const type *p) { return (type)__ldg((const other *)p); }
#define GEVOLVE_LDG2(type, element, letter)                                                           \
  GEVOLVE_DEVICE type __ldg(const type *p) {                                                          \
    typedef element vector __attribute__((ext_vector_type(2)));                                    \
    vector v = __nvvm_ldg_##letter##2((const vector *)p);                                          \
    return {v[0], v[1]};                                                                           \
  }
#define GEVOLVE_LDG4(type, element, letter)                                                           \
  GEVOLVE_DEVICE type __ldg(const type *p) {                                                          \
    typedef element vector __attribute__((ext_vector_type(4)));                                    \
    vector v = __nvvm_ldg_##letter##4((const vector *)p);                                          \
    return {v[0], v[1], v[2], v[3]};                                                               \
  }

GEVOLVE_LDG(char, __nvvm_ldg_c)
GEVOLVE_LDG(signed char, __nvvm_ldg_sc)
GEVOLVE_LDG(unsigned char, __nvvm_ldg_uc)
GEVOLVE_LDG(short, __nvvm_ldg_s)
GEVOLVE_LDG(unsigned short, __nvvm_ldg_us)
GEVOLVE_LDG(int, __nvvm_ldg_i)
GEVOLVE_LDG(unsigned int, __nvvm_ldg_ui)
GEVOLVE_LDG(long, __nvvm_ldg_l)
GEVOLVE_LDG(unsigned long, __nvvm_ldg_ul)
GEVOLVE_LDG(long long, __nvvm_ldg_ll)
GEVOLVE_LDG(unsigned long long, __nvvm_ldg_ull)
GEVOLVE_LDG(float, __nvvm_ldg_f)
GEVOLVE_LDG(double, __nvvm_ldg_d)
GEVOLVE_LDG_AS(bool, unsigned char)
GEVOLVE_LDG2(char2, signed char, sc)
GEVOLVE_LDG2(uchar2, unsigned char, uc)
GEVOLVE_LDG2(short2, short, s)
GEVOLVE_LDG2(ushort2, unsigned short, us)
GEVOLVE_LDG2(int2, int, i)
GEVOLVE_LDG2(uint2, unsigned int, ui)
GEVOLVE_LDG2(longlong2, long long, ll)
GEVOLVE_LDG2(ulonglong2, unsigned long long, ull)
GEVOLVE_LDG2(float2, float, f)
GEVOLVE_LDG2(double2, double, d)
GEVOLVE_LDG4(char4, signed char, sc)
GEVOLVE_LDG4(uchar4, unsigned char, uc)
GEVOLVE_LDG4(short4, short, s)
GEVOLVE_LDG4(ushort4, unsigned short, us)
GEVOLVE_LDG4(int4, int, i)
GEVOLVE_LDG4(uint4, unsigned int, ui)
GEVOLVE_LDG4(float4, float, f)
template <class T>
GEVOLVE_DEVICE T *__ldg(T *const *p) {
  return (T *)__ldg((const unsigned long *)p);
}

#undef GEVOLVE_LDG
#undef GEVOLVE_LDG_AS
#undef GEVOLVE_LDG2
#undef GEVOLVE_LDG4

// The other cache hints change no result; an edit is better off with a plain load or store.
#define GEVOLVE_HINTED_LOAD(name)                                                                     \
  template <class T>                                                                               \
  GEVOLVE_DEVICE T name(const T *p) {                                                                 \
    return *p;                                                                                     \
  }
#define GEVOLVE_HINTED_STORE(name)                                                                    \
  template <class T, class U>                                                                      \
  GEVOLVE_DEVICE void name(T *p, U v) {                                                               \
    *p = v;                                                                                        \
  }

GEVOLVE_HINTED_LOAD(__ldca)
GEVOLVE_HINTED_LOAD(__ldcg)
GEVOLVE_HINTED_LOAD(__ldcs)
GEVOLVE_HINTED_LOAD(__ldlu)
GEVOLVE_HINTED_STORE(__stcg)
GEVOLVE_HINTED_STORE(__stcs)
GEVOLVE_HINTED_STORE(__stwb)
GEVOLVE_HINTED_STORE(__stwt)

// A value that another thread may have changed must be read again each time.
template <class T>
GEVOLVE_DEVICE T __ldcv(const T *p) {
  return *(const volatile T *)p;
}

#undef GEVOLVE_HINTED_LOAD
#undef GEVOLVE_HINTED_STORE

GEVOLVE_DEVICE unsigned __isShared(const void *p) { return __nvvm_isspacep_shared(p); }
GEVOLVE_DEVICE unsigned __isGlobal(const void *p) { return __nvvm_isspacep_global(p); }
GEVOLVE_DEVICE unsigned __isLocal(const void *p) { return __nvvm_isspacep_local(p); }
GEVOLVE_DEVICE unsigned __isConstant(const void *p) { return __nvvm_isspacep_const(p); }
GEVOLVE_DEVICE size_t __cvta_generic_to_shared(const void *p) {
  return (size_t)(__attribute__((address_space(3))) const void *)p;
}
GEVOLVE_DEVICE size_t __cvta_generic_to_global(const void *p) {
  return (size_t)(__attribute__((address_space(1))) const void *)p;
}
GEVOLVE_DEVICE void *__cvta_shared_to_generic(size_t p) {
  return (void *)(__attribute__((address_space(3))) void *)p;
}

extern "C" {
// Clang turns printf into vprintf.
__device__ int printf(const char *, ...);
__device__ int vprintf(const char *, const char *);
__device__ void *malloc(size_t);
__device__ void free(void *);
__device__ __attribute__((noreturn)) void __assertfail(const char *, const char *, unsigned,
                                                       const char *, size_t);
}
GEVOLVE_DEVICE void __assert_fail(const char *message, const char *file, int line,
                               const char *function) {
  __assertfail(message, file, line, function, 1);
}
GEVOLVE_DEVICE void *memcpy(void *to, const void *from, size_t n) {
  return __builtin_memcpy(to, from, n);
}
GEVOLVE_DEVICE void *memmove(void *to, const void *from, size_t n) {
  return __builtin_memmove(to, from, n);
}
GEVOLVE_DEVICE void *memset(void *to, int value, size_t n) { return __builtin_memset(to, value, n); }
