// buffers.h - random values of any element type, and their comparison.

#ifndef COLL_TEST_KERNEL_DIFF_BUFFERS_H
#define COLL_TEST_KERNEL_DIFF_BUFFERS_H

#include "mlir/IR/BuiltinTypes.h"

#include <cstdlib>
#include <memory>
#include <random>
#include <string>
#include <vector>

// Memory of a tensor or a scalar, aligned to 64 bytes; the page after it is not accessible.
class Buffer {
public:
  explicit Buffer(int64_t bytes);
  ~Buffer();
  Buffer(Buffer &&other) noexcept;
  Buffer(const Buffer &) = delete;

  char *data() const { return data_; }
  int64_t bytes() const { return bytes_; }
  void copyFrom(const Buffer &other);

private:
  char *pages_ = nullptr, *data_ = nullptr;
  int64_t mapped_ = 0, bytes_ = 0;
};

// Fills a tensor or a scalar of `type`. Integers are small, so that many are valid positions.
void fillRandomly(const Buffer &buffer, mlir::Type type, std::mt19937 &random);

// Writes the sum of the tensors, whose elements are floats, in their order: added in f32 or wider,
// rounded once.
void sumUp(const Buffer &sum, const std::vector<Buffer> &terms, mlir::Type type);

// Returns the first difference beyond rounding, as text; empty if there is none.
std::string compare(const Buffer &expected, const Buffer &actual, mlir::Type type);

#endif // COLL_TEST_KERNEL_DIFF_BUFFERS_H
