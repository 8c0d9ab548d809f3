"""Whole programs whose host code does not compile here: their kernels load all the same."""

import pytest

from gevolve.errors import CompileError, SourceError
from gevolve.ir.llvm.source import kernels, read

KERNEL = """
__global__ void scale(float *x, float by, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[i] *= by;
}
"""
HOSTS = {
    "a library": "#include <cublas_v2.h>\nvoid go(float *x) { cublasHandle_t h; cublasCreate(&h); }\n",
    "a header of the system": '#include <error.h>\nint main() { error(1, 2, "no"); }\n',
    "a field": "int main() { cudaDeviceProp p; return p.no_such_field; }\n",
    "a launch of too few": "int main() { scale<<<1, 32>>>(nullptr); nobody(3); }\n",
}


@pytest.mark.parametrize("host", HOSTS)
def test_host_code_that_does_not_compile_is_left_out(host, tmp_path, capfd):
    file = tmp_path / "program.cu"
    *includes, rest = HOSTS[host].splitlines()
    file.write_text("\n".join((*includes, KERNEL, rest, "")))
    text = read(file)
    assert [name for name in kernels(text) if "scale" in name]
    line = file.read_text().splitlines().index("        x[i] *= by;") + 1
    assert f"line: {line}" in text, "lines keep their numbers"
    assert "was left out (program.cu" in capfd.readouterr().err


def test_it_reaches_into_headers_of_the_user(tmp_path):
    (tmp_path / "mine.h").write_text("#include <cufft.h>\nvoid plan() { cufftHandle h; }\n")
    file = tmp_path / "program.cu"
    file.write_text(f'#include "mine.h"\n{KERNEL}int main() {{ plan(); }}\n')
    assert len(kernels(read(file))) == 1


def test_an_error_in_a_kernel_is_told_as_it_is(tmp_path):
    file = tmp_path / "program.cu"
    file.write_text(KERNEL.replace("*= by", "*= bye") + HOSTS["a field"])
    with pytest.raises(CompileError, match="undeclared identifier 'bye'"):
        read(file)
    file.write_text("#include <cub/cub.cuh>\n" + KERNEL.replace("*= by", "*= cub::nothing(by)"))
    with pytest.raises(SourceError, match="comes with the CUDA toolkit"):
        read(file)
