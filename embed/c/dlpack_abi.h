// dlpack_abi.h - the structs of DLPack 1.0, as much as crosses the C API.
//
// Field order and numbers are DLPack's (github.com/dmlc/dlpack, include/dlpack/dlpack.h).

#ifndef COLL_EMBED_C_DLPACK_ABI_H
#define COLL_EMBED_C_DLPACK_ABI_H

#include <cstdint>

struct DLDevice {
  int32_t device_type;
  int32_t device_id;
};

struct DLDataType {
  uint8_t code;
  uint8_t bits;
  uint16_t lanes;
};

struct DLTensor {
  void *data;
  DLDevice device;
  int32_t ndim;
  DLDataType dtype;
  int64_t *shape;
  int64_t *strides; // in elements; null: dense, row-major
  uint64_t byte_offset;
};

struct DLManagedTensor {
  DLTensor dl_tensor;
  void *manager_ctx;
  void (*deleter)(DLManagedTensor *self);
};

struct DLPackVersion {
  uint32_t major;
  uint32_t minor;
};

struct DLManagedTensorVersioned {
  DLPackVersion version;
  void *manager_ctx;
  void (*deleter)(DLManagedTensorVersioned *self);
  uint64_t flags;
  DLTensor dl_tensor;
};

namespace coll::embed {

inline constexpr uint32_t kDlpackMajor = 1;
// Memory that the host can read: plain, and pinned by CUDA or ROCm.
inline constexpr int32_t kDlpackCpu = 1, kDlpackCudaHost = 3, kDlpackRocmHost = 11;
inline constexpr uint8_t kDlpackInt = 0, kDlpackUint = 1, kDlpackFloat = 2, kDlpackBfloat = 4,
                         kDlpackBool = 6, kDlpackF8E4M3FN = 10, kDlpackF8E5M2 = 12;

} // namespace coll::embed

#endif // COLL_EMBED_C_DLPACK_ABI_H
