"""The registers of a kernel: with no limit, with one for the module that is loaded, and with one for its linker."""

from cuda.bindings import driver

LIMIT = 24
SUMS = 48


def checked(answer):
    code, *found = answer
    assert code == driver.CUresult.CUDA_SUCCESS, code
    return found[0] if found else None


def made():
    """PTX that keeps many numbers at once."""
    names = [f"%f{number}" for number in range(SUMS)]
    loads = [f"ld.global.f32 {name}, [%rd1+{4 * at}];" for at, name in enumerate(names)]
    stores = [f"st.global.f32 [%rd1+{4 * at}], {name};" for at, name in enumerate(reversed(names))]
    body = ["ld.param.u64 %rd1, [to];", *loads, *stores, "ret;"]
    lines = [
        *(
            ".version 7.0",
            ".target sm_75",
            ".address_size 64",
            ".visible .entry held(.param .u64 to) {",
        ),
        *(f".reg .f32 %f<{SUMS}>;", ".reg .b64 %rd<2>;", *body, "}"),
    ]
    return ("\n".join(lines) + "\n\0").encode()


def registers(module):
    kernel = checked(driver.cuModuleGetFunction(module, b"held"))
    return checked(
        driver.cuFuncGetAttribute(driver.CUfunction_attribute.CU_FUNC_ATTRIBUTE_NUM_REGS, kernel)
    )


checked(driver.cuInit(0))
checked(driver.cuCtxSetCurrent(checked(driver.cuDevicePrimaryCtxRetain(0))))
ptx = made()
limit = [driver.CUjit_option.CU_JIT_MAX_REGISTERS], [LIMIT]
free = checked(driver.cuModuleLoadData(ptx))
loaded = checked(driver.cuModuleLoadDataEx(ptx, 1, *limit))
linker = checked(driver.cuLinkCreate(1, *limit))
kind = driver.CUjitInputType.CU_JIT_INPUT_PTX
checked(driver.cuLinkAddData(linker, kind, ptx, len(ptx), b"held", 0, [], []))
cubin, size = driver.cuLinkComplete(linker)[1:]
linked = checked(driver.cuModuleLoadData(cubin))
print(*map(registers, (free, loaded, linked)))
