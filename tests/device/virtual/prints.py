"""Kernels that print, and one whose assertion fails."""

import sys

from cuda.bindings import driver


def checked(answer):
    code, *found = answer
    assert code == driver.CUresult.CUDA_SUCCESS, code
    return found[0] if found else None


def launch(module, name, threads, size):
    kernel = checked(driver.cuModuleGetFunction(module, name))
    to = checked(driver.cuMemAlloc(size))
    given = ((to,), (None,))
    checked(driver.cuLaunchKernel(kernel, 1, 1, 1, threads, 1, 1, 0, 0, given, 0))


checked(driver.cuInit(0))
checked(driver.cuCtxSetCurrent(checked(driver.cuDevicePrimaryCtxRetain(0))))
module = checked(driver.cuModuleLoad(sys.argv[1].encode()))
launch(module, b"_Z6printsPi", 2, 64)
launch(module, b"_Z7assertsPi", 6, 64)
assert driver.cuCtxSynchronize()[0] == driver.CUresult.CUDA_ERROR_ASSERT
