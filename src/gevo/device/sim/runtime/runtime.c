/* The whole runtime as one unit, so that the small functions inline. */
#include "sim.h"
#include "trace.c"
#include "exchange.c"
#include "simt.c"
#include "math.c"
