// cudnn.h - a cuDNN for tests, over a fake driver: its convolutions run on the fake's streams.
//
// Three engines are proposed for each convolution: one whose sums have no fixed order, one that
// cannot be made, and one that works, with a few more that differ only in their number. Sums are
// formed in f64 and rounded once. Only one FakeCudnn at a time in a process, within the life of a
// FakeCuda.

#ifndef COLL_TEST_SUPPORT_FAKES_CUDNN_H
#define COLL_TEST_SUPPORT_FAKES_CUDNN_H

#include "runtime/dl/cudnn.h"

#include <cstdint>
#include <string>

namespace coll::rt::dl {

class FakeCudnn {
public:
  FakeCudnn();
  ~FakeCudnn();
  FakeCudnn(const FakeCudnn &) = delete;
  FakeCudnn &operator=(const FakeCudnn &) = delete;

  const Cudnn &table() const;
  // The first engine's number; the others follow.
  void numberEnginesFrom(int64_t number);
  // From now on there is no engine for any convolution.
  void loseEngines();
  // The next call of the function with this member name of Cudnn fails.
  void failNext(const std::string &function, DnnResult result);
  int64_t calls(const std::string &function) const;
  // The engine of the last convolution that was executed.
  int64_t lastEngine() const;
  // The number of handles and descriptors that were made and not destroyed.
  int64_t liveObjects() const;

private:
  friend struct FakeDnnFunctions;
};

} // namespace coll::rt::dl

#endif // COLL_TEST_SUPPORT_FAKES_CUDNN_H
