//===- checker.h - compares a run with its references --------------------*- C++ -*-===//

#ifndef COLL_DRIVER_CHECKER_H
#define COLL_DRIVER_CHECKER_H

#include "driver/judge.h"
#include "driver/reference.h"
#include "driver/single_device.h"

namespace coll::run {

/// Compares the outcome of a run with one device's and with a file's.
class Checker {
public:
  struct Settings {
    Tolerance tolerance;
    bool isStrict = false; // noise excuses nothing
    uint64_t seed = 0;     // of the noise
    // What the noise of one device's own step is measured by. Foreign: the run's program rounds
    // narrow floats at other places, because products compute what follows them.
    Twin twin = Twin::OurOwn;
  };

  /// The names are for messages: one per state argument and per free result. `single`, which may be
  /// null, is borrowed, and so are `state` and `batches`, the inputs of the run.
  Checker(Settings settings, std::vector<std::string> stateNames,
          std::vector<std::string> resultNames, SingleDevice *single, const Tensors &state,
          BatchSource &batches)
      : settings_(settings), stateNames_(std::move(stateNames)),
        resultNames_(std::move(resultNames)), single_(single), state_(state), batches_(batches) {}

  /// Compares `run` with as many steps on one device. What noise excuses is judged once more by the
  /// last step alone, begun on one device from the state that the ranks had, if `run` has kept it:
  /// the noise of one step hides less than that of all.
  llvm::Expected<std::vector<Comparison>> compareWithSingle(const RunResult &run);

  /// Compares `run` with the outcome of the same steps in another program. If the step's noise
  /// cannot be measured, `note` says why.
  llvm::Expected<std::vector<Comparison>>
  compareWithReference(const RunResult &run, const Reference &reference, std::string &note);

private:
  /// What steps begin with, and what they are given.
  struct Start {
    const Tensors &state;
    BatchSource &batches;
  };

  std::vector<Comparison> compare(const RunResult &run, const std::vector<double> &losses,
                                  const Reference &expected) const;
  llvm::Error judge(std::vector<Comparison> &comparisons, const Reference &expected, Twin twin,
                    Start start, const RunResult &baseline);
  llvm::Error judgeLastStep(std::vector<Comparison> &comparisons, const RunResult &run);
  std::vector<Evidence> gather(const RunNoise &noise, const Reference &expected,
                               const Tensors &start, const RunResult &baseline,
                               llvm::ArrayRef<Comparison> comparisons) const;
  bool mayBeNoise(llvm::ArrayRef<Comparison> comparisons) const;

  Settings settings_;
  std::vector<std::string> stateNames_, resultNames_;
  SingleDevice *single_;
  const Tensors &state_;
  BatchSource &batches_;
};

/// Fails the comparisons of state, which come first, that the ranks of this process should hold
/// alike and do not.
llvm::Error compareReplicas(rt::Executor &executor, std::vector<Comparison> &comparisons);

} // namespace coll::run

#endif // COLL_DRIVER_CHECKER_H
