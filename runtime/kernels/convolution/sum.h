// sum.h - computes one element of a convolution's result, for kernel and host.

#ifndef COLL_RUNTIME_KERNELS_CONVOLUTION_SUM_H
#define COLL_RUNTIME_KERNELS_CONVOLUTION_SUM_H

#include "runtime/kernels/convolution/convolution.h"

#ifdef __CUDACC__
#define COLL_CONVOLUTION_CODE __host__ __device__
#else
#define COLL_CONVOLUTION_CODE
#endif

namespace coll::kernels::convolution {

// The sizes, in the form that a kernel takes.
struct Shape {
  int64_t batch, groups, channels, features;
  int64_t in[3], window[3], out[3], stride[3], dilation[3], pad[3];
};

inline Shape shapeOf(const Convolution &c) {
  Shape s = {c.batch, c.groups, c.channels, c.features, {}, {}, {}, {}, {}, {}};
  for (size_t d = 0; d < Convolution::kSpatial; ++d) {
    s.in[d] = c.in[d], s.window[d] = c.window[d], s.out[d] = c.out[d];
    s.stride[d] = c.stride[d], s.dilation[d] = c.dilation[d], s.pad[d] = c.pad[d];
  }
  return s;
}

// The position of x that a window's place reads, or -1 if it is outside.
COLL_CONVOLUTION_CODE inline int64_t inputAt(const Shape &s, const int64_t *out, const int64_t *w) {
  int64_t at = 0;
  for (int d = 0; d < 3; ++d) {
    const int64_t i = out[d] * s.stride[d] + w[d] * s.dilation[d] - s.pad[d];
    if (i < 0 || i >= s.in[d])
      return -1;
    at = at * s.in[d] + i;
  }
  return at;
}

// The position of y whose window has x's position `in` at place `w`, or -1.
COLL_CONVOLUTION_CODE inline int64_t outputAt(const Shape &s, const int64_t *in, const int64_t *w) {
  int64_t at = 0;
  for (int d = 0; d < 3; ++d) {
    const int64_t from = in[d] + s.pad[d] - w[d] * s.dilation[d];
    if (from < 0 || from % s.stride[d] != 0 || from / s.stride[d] >= s.out[d])
      return -1;
    at = at * s.out[d] + from / s.stride[d];
  }
  return at;
}

// Divides `index` by `size`, and returns the remainder.
COLL_CONVOLUTION_CODE inline int64_t takeOff(int64_t &index, int64_t size) {
  const int64_t digit = index % size;
  index /= size;
  return digit;
}

COLL_CONVOLUTION_CODE inline void takeOff(int64_t &index, const int64_t *sizes, int64_t *digits) {
  for (int d = 2; d >= 0; --d)
    digits[d] = takeOff(index, sizes[d]);
}

// `Load(data, i)` gives element i as an Acc.
template <typename Acc, typename Load>
COLL_CONVOLUTION_CODE Acc forwardSum(const Shape &s, const void *x, const void *w, int64_t index,
                                     Load load) {
  int64_t out[3], p[3];
  const int64_t f = takeOff(index, s.features), g = takeOff(index, s.groups);
  takeOff(index, s.out, out);
  const int64_t n = index, places = s.window[0] * s.window[1] * s.window[2];
  const int64_t positions = s.in[0] * s.in[1] * s.in[2];
  Acc sum = 0;
  for (int64_t place = 0; place < places; ++place) {
    int64_t rest = place;
    takeOff(rest, s.window, p);
    const int64_t at = inputAt(s, out, p);
    if (at < 0)
      continue;
    const int64_t xAt = ((n * positions + at) * s.groups + g) * s.channels;
    const int64_t wAt = ((g * s.features + f) * places + place) * s.channels;
    for (int64_t c = 0; c < s.channels; ++c)
      sum += load(x, xAt + c) * load(w, wAt + c);
  }
  return sum;
}

template <typename Acc, typename Load>
COLL_CONVOLUTION_CODE Acc dataSum(const Shape &s, const void *y, const void *w, int64_t index,
                                  Load load) {
  int64_t in[3], p[3];
  const int64_t c = takeOff(index, s.channels), g = takeOff(index, s.groups);
  takeOff(index, s.in, in);
  const int64_t n = index, places = s.window[0] * s.window[1] * s.window[2];
  const int64_t positions = s.out[0] * s.out[1] * s.out[2];
  Acc sum = 0;
  for (int64_t place = 0; place < places; ++place) {
    int64_t rest = place;
    takeOff(rest, s.window, p);
    const int64_t at = outputAt(s, in, p);
    if (at < 0)
      continue;
    const int64_t yAt = ((n * positions + at) * s.groups + g) * s.features;
    for (int64_t f = 0; f < s.features; ++f)
      sum += load(y, yAt + f) * load(w, ((g * s.features + f) * places + place) * s.channels + c);
  }
  return sum;
}

template <typename Acc, typename Load>
COLL_CONVOLUTION_CODE Acc filterSum(const Shape &s, const void *x, const void *y, int64_t index,
                                    Load load) {
  int64_t out[3], p[3];
  const int64_t c = takeOff(index, s.channels);
  takeOff(index, s.window, p);
  const int64_t f = takeOff(index, s.features), g = index;
  const int64_t inputs = s.in[0] * s.in[1] * s.in[2], outputs = s.out[0] * s.out[1] * s.out[2];
  Acc sum = 0;
  for (int64_t n = 0; n < s.batch; ++n)
    for (int64_t position = 0; position < outputs; ++position) {
      int64_t rest = position;
      takeOff(rest, s.out, out);
      const int64_t at = inputAt(s, out, p);
      if (at >= 0)
        sum += load(x, ((n * inputs + at) * s.groups + g) * s.channels + c) *
               load(y, ((n * outputs + position) * s.groups + g) * s.features + f);
    }
  return sum;
}

template <typename Acc, typename Load>
COLL_CONVOLUTION_CODE Acc sumOf(Convolution::Kind kind, const Shape &s, const void *a,
                                const void *b, int64_t index, Load load) {
  if (kind == Convolution::Kind::Forward)
    return forwardSum<Acc>(s, a, b, index, load);
  if (kind == Convolution::Kind::Data)
    return dataSum<Acc>(s, a, b, index, load);
  return filterSum<Acc>(s, a, b, index, load);
}

} // namespace coll::kernels::convolution

#endif // COLL_RUNTIME_KERNELS_CONVOLUTION_SUM_H
