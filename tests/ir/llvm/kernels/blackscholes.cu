// Prices of European options by the formula of Black and Scholes, in two ways: with the normal
// distribution from erfcf, and with a rational fit in single precision that needs only expf.

#define SQRT_HALF 0.70710678118654752f

__device__ __forceinline__ float normal_by_erfc(float x)
{
    return 0.5f * erfcf(-x * SQRT_HALF);
}

// Hastings' five-term approximation; good to seven digits or so, odd about one half.
__device__ __forceinline__ float normal_by_fit(float x)
{
    const float k = 1.0f / (1.0f + 0.2316419f * fabsf(x));
    float series = 1.330274429f;
    series = series * k - 1.821255978f;
    series = series * k + 1.781477937f;
    series = series * k - 0.356563782f;
    series = series * k + 0.319381530f;
    const float tail = 0.3989422804f * expf(-0.5f * x * x) * series * k;
    return x > 0.0f ? 1.0f - tail : tail;
}

template <bool EXACT>
__device__ float2 price(float spot, float strike, float years, float rate, float volatility)
{
    const float root = volatility * sqrtf(years);
    const float d1 = (logf(spot / strike) + (rate + 0.5f * volatility * volatility) * years) / root;
    const float d2 = d1 - root;
    const float n1 = EXACT ? normal_by_erfc(d1) : normal_by_fit(d1);
    const float n2 = EXACT ? normal_by_erfc(d2) : normal_by_fit(d2);
    const float discounted = strike * expf(-rate * years);
    const float call = spot * n1 - discounted * n2;
    return make_float2(call, call + discounted - spot);
}

extern "C" __global__ void
price_options(const float* spot, const float* strike, const float* years, float2* exact,
              float2* fitted, float rate, float volatility, int options)
{
    const int stride = gridDim.x * blockDim.x;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < options; i += stride) {
        exact[i] = price<true>(spot[i], strike[i], years[i], rate, volatility);
        fitted[i] = price<false>(spot[i], strike[i], years[i], rate, volatility);
    }
}
