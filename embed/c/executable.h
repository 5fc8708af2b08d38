// executable.h - a compiled step: its code, and what is known about it.

#ifndef COLL_EMBED_C_EXECUTABLE_H
#define COLL_EMBED_C_EXECUTABLE_H

#include "embed/c/handles.h"
#include "runtime/program/program.h"

#include <string>
#include <vector>

namespace coll::embed {

// Code that this process can run, from the compiler or from a file.
struct StepCode {
  std::vector<rt::Program> classes;
  std::shared_ptr<void> owner; // the code lives as long
};

struct StageText {
  std::string name, text;
};

struct MessageText {
  int32_t severity = COLL_NOTE;
  std::string location, text;
};

// Never changes once it is made, so any thread may read it.
class Executable {
public:
  static constexpr Kind kKind = Kind::Executable;

  // `code` is of at least one class.
  explicit Executable(StepCode code);

  std::vector<StageText> stages;
  std::vector<MessageText> messages;
  bool isProved = false;
  bool isFromCache = false;

  const std::vector<rt::Program> &classes() const { return code_.classes; }
  // The arguments and results of all classes together, which have only some of them each where the
  // step is cut into pipeline stages.
  const rt::Descriptor &descriptor() const { return signature_; }

  coll_executable_info describe() const;
  Outcome describeArg(size_t index, coll_value_info &info) const;
  Outcome describeResult(size_t index, coll_value_info &info) const;
  Outcome describeCollective(size_t index, coll_collective_info &info) const;
  Outcome describeMemory(int32_t rank, coll_memory_info &info) const;

  size_t numState() const { return descriptor().states.size(); }
  size_t numOutputs() const { return numOutputs_; }

private:
  struct Collective {
    size_t classIndex;
    const rt::OpInfo *op;
  };

  coll_value_info describeValue(const rt::TensorInfo &info, const std::string &sharding) const;

  StepCode code_;
  rt::Descriptor signature_;
  std::string mesh_;
  std::vector<std::string> argShardings_, resultShardings_;
  std::vector<Collective> collectives_;
  size_t numBatch_ = 0, numOutputs_ = 0;
};

} // namespace coll::embed

#endif // COLL_EMBED_C_EXECUTABLE_H
