#include "runtime/program/made_up.h"

#include "runtime/base/dtype.h"

namespace coll::rt {

namespace {

void fillElement(HostTensor &tensor, int64_t index, double real, int64_t integer) {
  switch (tensor.dtype) {
  case kCollF32:
    tensor.as<float>()[index] = static_cast<float>(real);
    break;
  case kCollF64:
    tensor.as<double>()[index] = real;
    break;
  case kCollF16:
    tensor.as<uint16_t>()[index] = f32ToF16(static_cast<float>(real));
    break;
  case kCollBf16:
    tensor.as<uint16_t>()[index] = f32ToBf16(static_cast<float>(real));
    break;
  case kCollI8:
    tensor.as<int8_t>()[index] = static_cast<int8_t>(integer);
    break;
  case kCollI16:
    tensor.as<int16_t>()[index] = static_cast<int16_t>(integer);
    break;
  case kCollI32:
    tensor.as<int32_t>()[index] = static_cast<int32_t>(integer);
    break;
  case kCollI64:
    tensor.as<int64_t>()[index] = integer;
    break;
  case kCollBool:
    tensor.data[index] = static_cast<char>(integer & 1);
    break;
  case kCollF8E4M3FN:
    tensor.as<uint8_t>()[index] = f32ToF8E4M3FN(static_cast<float>(real));
    break;
  case kCollF8E5M2:
    tensor.as<uint8_t>()[index] = f32ToF8E5M2(static_cast<float>(real));
    break;
  case kCollU8:
    tensor.as<uint8_t>()[index] = static_cast<uint8_t>(integer);
    break;
  }
}

HostTensor emptyTensor(const TensorInfo &info) {
  HostTensor tensor;
  tensor.dtype = info.dtype;
  tensor.shape = info.shape;
  tensor.data.resize(static_cast<size_t>(info.globalBytes()));
  return tensor;
}

int64_t elementsOf(const TensorInfo &info) { return info.globalBytes() / dtypeSize(info.dtype); }

} // namespace

std::vector<HostTensor> makeUpState(const std::vector<TensorInfo> &state, uint64_t seed) {
  Random random(seed);
  std::vector<HostTensor> tensors;
  for (const TensorInfo &info : state) {
    tensors.push_back(emptyTensor(info));
    for (int64_t i = 0, e = elementsOf(info); i < e; ++i)
      fillElement(tensors.back(), i, 0.1 * random.uniform(), 0);
  }
  return tensors;
}

std::vector<HostTensor> makeUpBatch(const std::vector<TensorInfo> &batch, int64_t step,
                                    uint64_t seed) {
  Random random(seed + static_cast<uint64_t>(step + 1) * 0x100000001b3ull);
  std::vector<HostTensor> tensors;
  for (const TensorInfo &info : batch) {
    tensors.push_back(emptyTensor(info));
    for (int64_t i = 0, e = elementsOf(info); i < e; ++i) {
      double real = 2 * random.uniform() - 1;
      fillElement(tensors.back(), i, real, static_cast<int64_t>(random.below(8)));
    }
  }
  return tensors;
}

uint64_t Random::next() {
  uint64_t z = state_ += 0x9e3779b97f4a7c15ull;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
  return z ^ (z >> 31);
}

uint64_t Random::below(uint64_t bound) {
  return static_cast<uint64_t>((static_cast<unsigned __int128>(next()) * bound) >> 64);
}

double Random::uniform() { return static_cast<double>(next() >> 11) * 0x1p-53; }

} // namespace coll::rt
