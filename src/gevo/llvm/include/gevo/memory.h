// Loads and stores that say how they use the caches.
#pragma once

// Through the read-only cache: the compiler may assume that nobody writes the location.
#define GEVO_LDG(type, builtin)                                                                    \
  GEVO_DEVICE type __ldg(const type *p) { return builtin(p); }
#define GEVO_LDG_AS(type, other)                                                                   \
  GEVO_DEVICE type __ldg(const type *p) { return (type)__ldg((const other *)p); }
#define GEVO_LDG2(type, element, letter)                                                           \
  GEVO_DEVICE type __ldg(const type *p) {                                                          \
    typedef element vector __attribute__((ext_vector_type(2)));                                    \
    vector v = __nvvm_ldg_##letter##2((const vector *)p);                                          \
    return {v[0], v[1]};                                                                           \
  }
#define GEVO_LDG4(type, element, letter)                                                           \
  GEVO_DEVICE type __ldg(const type *p) {                                                          \
    typedef element vector __attribute__((ext_vector_type(4)));                                    \
    vector v = __nvvm_ldg_##letter##4((const vector *)p);                                          \
    return {v[0], v[1], v[2], v[3]};                                                               \
  }

GEVO_LDG(char, __nvvm_ldg_c)
GEVO_LDG(signed char, __nvvm_ldg_sc)
GEVO_LDG(unsigned char, __nvvm_ldg_uc)
GEVO_LDG(short, __nvvm_ldg_s)
GEVO_LDG(unsigned short, __nvvm_ldg_us)
GEVO_LDG(int, __nvvm_ldg_i)
GEVO_LDG(unsigned int, __nvvm_ldg_ui)
GEVO_LDG(long, __nvvm_ldg_l)
GEVO_LDG(unsigned long, __nvvm_ldg_ul)
GEVO_LDG(long long, __nvvm_ldg_ll)
GEVO_LDG(unsigned long long, __nvvm_ldg_ull)
GEVO_LDG(float, __nvvm_ldg_f)
GEVO_LDG(double, __nvvm_ldg_d)
GEVO_LDG_AS(bool, unsigned char)
GEVO_LDG2(char2, signed char, sc)
GEVO_LDG2(uchar2, unsigned char, uc)
GEVO_LDG2(short2, short, s)
GEVO_LDG2(ushort2, unsigned short, us)
GEVO_LDG2(int2, int, i)
GEVO_LDG2(uint2, unsigned int, ui)
GEVO_LDG2(longlong2, long long, ll)
GEVO_LDG2(ulonglong2, unsigned long long, ull)
GEVO_LDG2(float2, float, f)
GEVO_LDG2(double2, double, d)
GEVO_LDG4(char4, signed char, sc)
GEVO_LDG4(uchar4, unsigned char, uc)
GEVO_LDG4(short4, short, s)
GEVO_LDG4(ushort4, unsigned short, us)
GEVO_LDG4(int4, int, i)
GEVO_LDG4(uint4, unsigned int, ui)
GEVO_LDG4(float4, float, f)
template <class T>
GEVO_DEVICE T *__ldg(T *const *p) {
  return (T *)__ldg((const unsigned long *)p);
}

#undef GEVO_LDG
#undef GEVO_LDG_AS
#undef GEVO_LDG2
#undef GEVO_LDG4

// The other cache hints change no result; an edit is better off with a plain load or store.
#define GEVO_HINTED_LOAD(name)                                                                     \
  template <class T>                                                                               \
  GEVO_DEVICE T name(const T *p) {                                                                 \
    return *p;                                                                                     \
  }
#define GEVO_HINTED_STORE(name)                                                                    \
  template <class T, class U>                                                                      \
  GEVO_DEVICE void name(T *p, U v) {                                                               \
    *p = v;                                                                                        \
  }

GEVO_HINTED_LOAD(__ldca)
GEVO_HINTED_LOAD(__ldcg)
GEVO_HINTED_LOAD(__ldcs)
GEVO_HINTED_LOAD(__ldlu)
GEVO_HINTED_STORE(__stcg)
GEVO_HINTED_STORE(__stcs)
GEVO_HINTED_STORE(__stwb)
GEVO_HINTED_STORE(__stwt)

// A value that another thread may have changed must be read again each time.
template <class T>
GEVO_DEVICE T __ldcv(const T *p) {
  return *(const volatile T *)p;
}

#undef GEVO_HINTED_LOAD
#undef GEVO_HINTED_STORE

GEVO_DEVICE unsigned __isShared(const void *p) { return __nvvm_isspacep_shared(p); }
GEVO_DEVICE unsigned __isGlobal(const void *p) { return __nvvm_isspacep_global(p); }
GEVO_DEVICE unsigned __isLocal(const void *p) { return __nvvm_isspacep_local(p); }
GEVO_DEVICE unsigned __isConstant(const void *p) { return __nvvm_isspacep_const(p); }
GEVO_DEVICE size_t __cvta_generic_to_shared(const void *p) {
  return (size_t)(__attribute__((address_space(3))) const void *)p;
}
GEVO_DEVICE size_t __cvta_generic_to_global(const void *p) {
  return (size_t)(__attribute__((address_space(1))) const void *)p;
}
GEVO_DEVICE void *__cvta_shared_to_generic(size_t p) {
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
GEVO_DEVICE void __assert_fail(const char *message, const char *file, int line,
                               const char *function) {
  __assertfail(message, file, line, function, 1);
}
GEVO_DEVICE void *memcpy(void *to, const void *from, size_t n) {
  return __builtin_memcpy(to, from, n);
}
GEVO_DEVICE void *memmove(void *to, const void *from, size_t n) {
  return __builtin_memmove(to, from, n);
}
GEVO_DEVICE void *memset(void *to, int value, size_t n) { return __builtin_memset(to, value, n); }
