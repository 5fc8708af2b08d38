// machine.h - runs the kernels for the tests: emulated on the host, or on a GPU.
//
// A machine is a file with a COLL_KERNEL_MACHINE line for each suite; make() returns the machine,
// or the reason why there is none.

#ifndef COLL_TEST_KERNELS_MACHINE_H
#define COLL_TEST_KERNELS_MACHINE_H

#include "runtime/kernels/pages/pack.h"
#include "runtime/kernels/pages/unpack.h"

#include <gtest/gtest.h>
#include <memory>
#include <string>
#include <vector>

namespace coll::kernels::test {

enum class Where { Device, PinnedHost };

class Machine {
public:
  virtual ~Machine() = default;
  // Allocates exactly so many bytes, at least 1, aligned to 256; never null.
  virtual void *allocate(size_t bytes, Where where) = 0;
  virtual void release(void *memory, Where where) = 0;
  virtual void copyIn(void *to, const void *from, size_t bytes) = 0;
  virtual void copyOut(void *to, const void *from, size_t bytes) = 0;
  // Each call returns when the kernel has ended.
  virtual rt::Status unpack(const PageCopy &copy) = 0;
  virtual rt::Status pack(const PageCopy &copy) = 0;
  virtual rt::Status unpackNext(const MessageCopy<rt::UnpackHandle> &message) = 0;
  virtual rt::Status unpackGroup(const UnpackGroupCopy &copy) = 0;
  virtual rt::Status packNext(const MessageCopy<rt::PackHandle> &message) = 0;
  // The number of random cases that take a second or two.
  virtual int cases() const = 0;
  virtual bool slow() const = 0; // leave out what moves megabytes
};

// Memory of a machine whose first byte may be unaligned, with guards where it is written.
class Memory {
public:
  static constexpr size_t kGuardBytes = 64;

  Memory(Machine &machine, size_t bytes, size_t misalign, Where where, bool guarded);
  ~Memory() { machine_.release(base_, where_); }
  Memory(const Memory &) = delete;
  Memory &operator=(const Memory &) = delete;

  uint8_t *data() const { return base_ + before_; }
  size_t bytes() const { return bytes_; }
  void fill(const std::vector<uint8_t> &bytes);
  std::vector<uint8_t> read() const;
  bool guardsIntact() const;

private:
  Machine &machine_;
  size_t bytes_, before_, after_;
  Where where_;
  uint8_t *base_;
};

struct MachineResult {
  std::unique_ptr<Machine> machine;
  std::string whyNot;
};

struct MachineCase {
  const char *name;
  MachineResult (*make)();
};

class KernelTest : public testing::TestWithParam<MachineCase> {
protected:
  void SetUp() override;
  Machine &machine() { return *machine_; }

private:
  std::unique_ptr<Machine> machine_;
};

class UnpackTest : public KernelTest {};
class PackTest : public KernelTest {};

#define COLL_KERNEL_MACHINE(machine, suite, make)                                                  \
  INSTANTIATE_TEST_SUITE_P(machine, suite, testing::Values(MachineCase{#machine, make}),           \
                           [](const auto &info) { return std::string(info.param.name); })

} // namespace coll::kernels::test

#endif // COLL_TEST_KERNELS_MACHINE_H
