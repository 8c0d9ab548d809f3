// Everything that this header of the CUDA toolkit declares and a kernel needs is included already.
#pragma once
