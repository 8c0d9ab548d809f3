// Included by the toolkit's cuda_fp16.h; some sources name it.
#pragma once
#include "cuda_fp16.h"
