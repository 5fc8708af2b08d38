#include "test/kernels/pages/machine.h"

namespace coll::kernels::test {
namespace {

constexpr uint8_t kGuard = 0xA7;

bool all(const std::vector<uint8_t> &bytes, size_t begin, size_t end) {
  for (size_t i = begin; i < end; ++i)
    if (bytes[i] != kGuard)
      return false;
  return true;
}

} // namespace

Memory::Memory(Machine &machine, size_t bytes, size_t misalign, Where where, bool guarded)
    : machine_(machine), bytes_(bytes), before_(misalign + (guarded ? kGuardBytes : 0)),
      after_(guarded ? kGuardBytes : 0), where_(where) {
  const size_t total = std::max<size_t>(1, before_ + bytes_ + after_);
  base_ = static_cast<uint8_t *>(machine.allocate(total, where));
  const std::vector<uint8_t> guards(total, kGuard);
  machine.copyIn(base_, guards.data(), total);
}

void Memory::fill(const std::vector<uint8_t> &bytes) {
  machine_.copyIn(data(), bytes.data(), std::min(bytes.size(), bytes_));
}

std::vector<uint8_t> Memory::read() const {
  std::vector<uint8_t> out(bytes_);
  machine_.copyOut(out.data(), data(), bytes_);
  return out;
}

bool Memory::guardsIntact() const {
  std::vector<uint8_t> out(before_ + bytes_ + after_);
  machine_.copyOut(out.data(), base_, out.size());
  return all(out, 0, before_) && all(out, before_ + bytes_, out.size());
}

void KernelTest::SetUp() {
  MachineResult made = GetParam().make();
  if (!made.machine)
    GTEST_SKIP() << made.whyNot;
  machine_ = std::move(made.machine);
}

} // namespace coll::kernels::test
