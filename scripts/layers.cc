// The layers that decide how long training takes on a CPU, for `train_mobilenet.py`.
//
// XLA has no fast gradient of a depthwise convolution there, and makes several passes over memory
// for a batch normalisation. Here each is one or two passes with the channels innermost.

#include <cmath>
#include <cstring>
#include <vector>

#include "xla/ffi/api/ffi.h"

namespace ffi = xla::ffi;
using F32 = ffi::Buffer<ffi::F32>;
using Out = ffi::Result<F32>;

// Calls what(input offset, tap) for each of the nine taps that lie inside the image.
template <typename What>
static void taps(int64_t h, int64_t w, int64_t i, int64_t j, int64_t stride, What what) {
  for (int64_t p = 0; p < 3; p++)
    for (int64_t q = 0; q < 3; q++) {
      const int64_t row = i * stride + p - 1, column = j * stride + q - 1;
      if (row >= 0 && row < h && column >= 0 && column < w) what(row * w + column, p * 3 + q);
    }
}

static ffi::Error depthwise(F32 x, F32 k, int64_t stride, Out y) {
  auto shape = x.dimensions();
  const int64_t n = shape[0], h = shape[1], w = shape[2], c = shape[3];
  const int64_t rows = h / stride, columns = w / stride;
  for (int64_t b = 0; b < n; b++)
    for (int64_t i = 0; i < rows; i++)
      for (int64_t j = 0; j < columns; j++) {
        float *__restrict out = y->typed_data() + ((b * rows + i) * columns + j) * c;
        std::memset(out, 0, c * sizeof(float));
        taps(h, w, i, j, stride, [&](int64_t at, int64_t tap) {
          const float *__restrict in = x.typed_data() + (b * h * w + at) * c;
          const float *__restrict f = k.typed_data() + tap * c;
          for (int64_t m = 0; m < c; m++) out[m] += in[m] * f[m];
        });
      }
  return ffi::Error::Success();
}

static ffi::Error depthwise_gradient(F32 x, F32 k, F32 g, int64_t stride, Out dx, Out dk) {
  auto shape = x.dimensions();
  const int64_t n = shape[0], h = shape[1], w = shape[2], c = shape[3];
  const int64_t rows = h / stride, columns = w / stride;
  std::memset(dx->typed_data(), 0, n * h * w * c * sizeof(float));
  std::memset(dk->typed_data(), 0, 9 * c * sizeof(float));
  for (int64_t b = 0; b < n; b++)
    for (int64_t i = 0; i < rows; i++)
      for (int64_t j = 0; j < columns; j++) {
        const float *__restrict slope = g.typed_data() + ((b * rows + i) * columns + j) * c;
        taps(h, w, i, j, stride, [&](int64_t at, int64_t tap) {
          const float *__restrict in = x.typed_data() + (b * h * w + at) * c;
          float *__restrict din = dx->typed_data() + (b * h * w + at) * c;
          const float *__restrict f = k.typed_data() + tap * c;
          float *__restrict df = dk->typed_data() + tap * c;
          for (int64_t m = 0; m < c; m++) {
            din[m] += slope[m] * f[m];
            df[m] += slope[m] * in[m];
          }
        });
      }
  return ffi::Error::Success();
}

// Adds up two values of each element by channel, in single precision over short runs of rows.
template <typename Values>
static void sums(int64_t rows, int64_t c, std::vector<double> &s, std::vector<double> &q,
                 Values values) {
  std::vector<float> one(c), other(c);
  float *__restrict a = one.data();
  float *__restrict b = other.data();
  for (int64_t from = 0; from < rows; from += 256) {
    for (int64_t m = 0; m < c; m++) a[m] = b[m] = 0;
    for (int64_t r = from; r < from + 256 && r < rows; r++)
      for (int64_t m = 0; m < c; m++) values(r * c + m, m, a[m], b[m]);
    for (int64_t m = 0; m < c; m++) s[m] += a[m], q[m] += b[m];
  }
}

// y = x * a + b, cut at zero if `relu`, where a and b make mean `bias` and deviation `scale`.
static ffi::Error norm(F32 x, F32 scale, F32 bias, int64_t relu, Out y, Out mean, Out inverse) {
  const int64_t c = scale.element_count(), rows = x.element_count() / c;
  const float *__restrict in = x.typed_data();
  std::vector<double> s(c), q(c);
  sums(rows, c, s, q, [&](int64_t at, int64_t, float &one, float &other) {
    one += in[at];
    other += in[at] * in[at];
  });
  std::vector<float> a(c), b(c);
  for (int64_t m = 0; m < c; m++) {
    const double mu = s[m] / rows, variance = q[m] / rows - mu * mu;
    const float inv = 1 / std::sqrt((variance > 0 ? variance : 0) + 1e-5);
    mean->typed_data()[m] = mu;
    inverse->typed_data()[m] = inv;
    a[m] = scale.typed_data()[m] * inv;
    b[m] = bias.typed_data()[m] - mu * a[m];
  }
  const float *__restrict ap = a.data();
  const float *__restrict bp = b.data();
  float *__restrict out = y->typed_data();
  const float least = relu ? 0 : -INFINITY;
  for (int64_t r = 0; r < rows; r++)
    for (int64_t m = 0; m < c; m++) {
      const float v = in[r * c + m] * ap[m] + bp[m];
      out[r * c + m] = v > least ? v : least;
    }
  return ffi::Error::Success();
}

static ffi::Error norm_gradient(F32 x, F32 g, F32 scale, F32 bias, F32 mean, F32 inverse,
                                int64_t relu, Out dx, Out dscale, Out dbias) {
  const int64_t c = scale.element_count(), rows = x.element_count() / c;
  const float *__restrict in = x.typed_data();
  const float *__restrict slope = g.typed_data();
  std::vector<float> a(c), b(c), u(c), w(c);
  for (int64_t m = 0; m < c; m++) {
    a[m] = scale.typed_data()[m] * inverse.typed_data()[m];
    b[m] = bias.typed_data()[m] - mean.typed_data()[m] * a[m];
  }
  const float *__restrict ap = a.data();
  const float *__restrict bp = b.data();
  const float least = relu ? 0 : -INFINITY;
  std::vector<double> s(c), q(c);
  sums(rows, c, s, q, [&](int64_t at, int64_t m, float &one, float &other) {
    const float v = in[at] * ap[m] + bp[m] > least ? slope[at] : 0;
    one += v;
    other += v * in[at];
  });
  for (int64_t m = 0; m < c; m++) {  // dx = a (g - mean(g) - x^ mean(g x^)) = a g - u x - w
    const double mu = mean.typed_data()[m], inv = inverse.typed_data()[m];
    const double d = (q[m] - mu * s[m]) * inv;
    dscale->typed_data()[m] = d;
    dbias->typed_data()[m] = s[m];
    u[m] = a[m] * inv * d / rows;
    w[m] = a[m] * s[m] / rows - u[m] * mu;
  }
  const float *__restrict up = u.data();
  const float *__restrict wp = w.data();
  float *__restrict out = dx->typed_data();
  for (int64_t r = 0; r < rows; r++)
    for (int64_t m = 0; m < c; m++) {
      const int64_t at = r * c + m;
      const float v = in[at] * ap[m] + bp[m] > least ? slope[at] : 0;
      out[at] = ap[m] * v - up[m] * in[at] - wp[m];
    }
  return ffi::Error::Success();
}

XLA_FFI_DEFINE_HANDLER_SYMBOL(Depthwise, depthwise,
                              ffi::Ffi::Bind().Arg<F32>().Arg<F32>().Attr<int64_t>("stride")
                                  .Ret<F32>());
XLA_FFI_DEFINE_HANDLER_SYMBOL(DepthwiseGradient, depthwise_gradient,
                              ffi::Ffi::Bind().Arg<F32>().Arg<F32>().Arg<F32>()
                                  .Attr<int64_t>("stride").Ret<F32>().Ret<F32>());
XLA_FFI_DEFINE_HANDLER_SYMBOL(Norm, norm,
                              ffi::Ffi::Bind().Arg<F32>().Arg<F32>().Arg<F32>()
                                  .Attr<int64_t>("relu").Ret<F32>().Ret<F32>().Ret<F32>());
XLA_FFI_DEFINE_HANDLER_SYMBOL(NormGradient, norm_gradient,
                              ffi::Ffi::Bind().Arg<F32>().Arg<F32>().Arg<F32>().Arg<F32>()
                                  .Arg<F32>().Arg<F32>().Attr<int64_t>("relu").Ret<F32>()
                                  .Ret<F32>().Ret<F32>());
