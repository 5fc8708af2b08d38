// nccl_state.h - the state that the parts of the fake NCCL share; only for their own files.
//
// The fake driver's lock protects all of it.

#ifndef COLL_TEST_SUPPORT_FAKES_NCCL_STATE_H
#define COLL_TEST_SUPPORT_FAKES_NCCL_STATE_H

#include "test/support/fakes/nccl.h"
#include "test/support/fakes/nccl_ops.h"

#include <atomic>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace coll::rt::dl {

struct NcclCommTag {
  std::shared_ptr<fake::Clique> clique;
  int rank = 0;
  int gpu = 0;
  bool launched = false; // its first operation was
  bool blocks = false;
  const fake::Split *splitting = nullptr; // the last that it was asked for
  std::shared_ptr<bool> dead = std::make_shared<bool>(false);
  // Operations that were called and are not launched yet.
  std::vector<fake::Op> deferred;
  CudaStream deferredTo = nullptr;
};

struct NcclWindowTag {
  int unused = 0;
};

struct FakeNcclFailure {
  NcclResult result = 0;
  int skip = 0;
};

struct FakeNccl::State {
  Nccl table;
  std::map<std::string, FakeNcclFailure> failures;
  std::map<std::string, int64_t> calls;
  std::map<NcclComm, std::unique_ptr<NcclCommTag>> comms;
  std::map<std::string, std::shared_ptr<fake::Clique>> joining; // by unique id
  std::map<int, double> scaledSums;                             // by number of the reduction
  std::map<void *, NcclComm> registrations;
  std::map<NcclWindow, NcclComm> windows;
  std::vector<std::unique_ptr<NcclWindowTag>> windowTags;
  std::vector<uint64_t> tags; // of calls with a configuration
  fake::Faults faults;
  uint64_t ids = 0;
  int nextOp = 5;
  int64_t handles = 0;
  bool hangInit = false;
  std::string misuse, lastError;

  NcclResult wrong(const std::string &what, NcclResult result = kNcclInvalidUsage) {
    if (misuse.empty())
      misuse = what;
    lastError = what;
    return result;
  }
};

// The base of the library's functions: the fake that exists now, and how each call begins.
struct FakeNcclBase {
  using State = FakeNccl::State;
  static inline std::atomic<State *> fake{nullptr};

  // Counts the call and runs `body` under the lock, unless the test asked for a failure.
  template <typename Body>
  static NcclResult call(const char *name, Body &&body) {
    NcclResult result = kNcclSuccess;
    FakeCuda::locked([&] {
      State &state = *fake.load();
      ++state.calls[name];
      auto it = state.failures.find(name);
      if (it != state.failures.end() && it->second.skip-- == 0) {
        result = it->second.result;
        state.lastError = "the test wants it so";
        state.failures.erase(it);
        return;
      }
      result = body(state);
    });
    return result;
  }
  // The same, on a communicator that must exist.
  template <typename Body>
  static NcclResult callOn(const char *name, NcclComm comm, Body &&body) {
    return call(name, [&](State &state) -> NcclResult {
      if (!state.comms.count(comm))
        return state.wrong(std::string(name) + " on a communicator that does not exist",
                           kNcclInvalidArgument);
      return body(state);
    });
  }
};

// Operations on their way to a stream: checked, held while a group is open, connected, launched.
struct FakeNcclLaunch : FakeNcclBase {
  static NcclResult groupStart();
  static NcclResult groupEnd();
  // Makes the operation of the function with this name: launched at once, or at the end of the
  // group.
  static NcclResult issue(const char *name, fake::Op op, NcclComm comm, CudaStream stream);
  // Puts the operations on the stream.
  static void launch(NcclComm comm, CudaStream stream, std::vector<fake::Op> ops);

private:
  static NcclResult check(State &state, const char *name, NcclComm comm, fake::Op &op);
  // Launches the operations that the group holds, together for each communicator.
  static NcclResult flush();
  // Waits, like a blocking communicator, for the members that the operations need. Returns false if
  // it was aborted meanwhile.
  static bool connect(NcclComm comm, const std::vector<fake::Op> &ops);
};

} // namespace coll::rt::dl

#endif // COLL_TEST_SUPPORT_FAKES_NCCL_STATE_H
