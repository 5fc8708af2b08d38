#include "test/fuzz/campaign.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"

#include <limits>
#include <set>

namespace coll::fuzz {
namespace {

using Clock = std::chrono::steady_clock;

class Campaign {
public:
  Campaign(const CampaignOptions &options, const CampaignFunctions &functions)
      : options_(options), functions_(functions), start_(Clock::now()) {}

  int run() {
    int64_t last =
        options_.count ? options_.first + options_.count : std::numeric_limits<int64_t>::max();
    int64_t next = options_.first;
    // A finding is minimised in children of its own, between two runs of cases.
    while (next < last && !isTimeUp()) {
      pending_ = -1;
      runCases(next, last, options_.guard, functions_.run,
               [&](int64_t index, const Report &report) { return add(next = index, report); });
      ++next;
      if (pending_ >= 0 && isFoundAlone())
        keep();
    }
    summarize();
    return int(found_.size());
  }

private:
  // Returns whether to go on.
  bool add(int64_t index, const Report &report) {
    ++counts_[size_t(report.verdict)];
    if (functions_.onReport)
      functions_.onReport(report);
    if (report.verdict == Verdict::Upstream)
      upstream_.insert(signatureOf(report));
    if (report.verdict == Verdict::Finding && !found_.count(signatureOf(report))) {
      pending_ = index;
      report_ = report;
      return false;
    }
    return !isTimeUp();
  }

  // Whether the case fails in a child of its own. Otherwise an earlier case has damaged the
  // child's memory: the packaged parser does, on some input.
  bool isFoundAlone() {
    Report alone;
    runCases(pending_, pending_ + 1, options_.guard, functions_.run,
             [&](int64_t, const Report &report) {
               alone = report;
               return true;
             });
    if (alone.verdict == Verdict::Finding) {
      report_ = alone;
      return found_.insert(signatureOf(report_)).second;
    }
    --counts_[size_t(Verdict::Finding)];
    ++numNotAlone_;
    llvm::outs() << options_.name << " case " << pending_ << " (seed " << options_.seed
                 << ") fails only after others: " << report_.text << '\n';
    return false;
  }

  void keep() {
    llvm::outs() << options_.name << " case " << pending_ << " (seed " << options_.seed
                 << "): " << report_.text << '\n';
    llvm::outs().flush();
    std::string text = functions_.minimize(pending_, report_);
    if (options_.findings.empty()) {
      llvm::outs() << text << '\n';
      return;
    }
    std::string path = options_.findings + "/" + options_.name + "-" +
                       std::to_string(options_.seed) + "-" + std::to_string(pending_) +
                       options_.suffix;
    std::error_code error = llvm::sys::fs::create_directories(options_.findings);
    llvm::raw_fd_ostream file(path, error);
    if (error)
      llvm::errs() << path << ": " << error.message() << '\n';
    else
      file << (options_.suffix == ".mlir" ? "// " + signatureOf(report_) + "\n" : "") << text;
  }

  bool isTimeUp() const {
    std::chrono::duration<double, std::ratio<60>> passed = Clock::now() - start_;
    return options_.minutes > 0 && passed.count() >= options_.minutes;
  }

  void summarize() {
    std::chrono::duration<double> passed = Clock::now() - start_;
    int64_t total = 0;
    for (int64_t count : counts_)
      total += count;
    llvm::outs() << options_.name << ": " << total << " cases in " << int64_t(passed.count())
                 << " s, " << counts_[0] << " ok, " << counts_[1] << " refused with an error, "
                 << counts_[2] << " crashes of the packaged parser (" << upstream_.size()
                 << " kinds), " << numNotAlone_ << " not repeated alone, " << counts_[3]
                 << " findings (" << found_.size() << " kinds)\n";
  }

  const CampaignOptions &options_;
  const CampaignFunctions &functions_;
  Clock::time_point start_;
  int64_t counts_[4] = {0, 0, 0, 0};
  std::set<std::string> found_, upstream_;
  int64_t numNotAlone_ = 0;
  int64_t pending_ = -1;
  Report report_;
};

} // namespace

std::string signatureOf(const Report &report) {
  std::string signature;
  bool isQuoted = false;
  for (char c : report.text) {
    isQuoted ^= c == '\'';
    if (c == '\n' && !signature.empty() && signature.size() > 200)
      break;
    bool isNumber = (c >= '0' && c <= '9') || c == '.' || c == '-';
    if (c == '\n')
      signature += ' ';
    else if (!isNumber && !isQuoted)
      signature += c;
  }
  return signature.substr(0, signature.find("element"));
}

int runCampaign(const CampaignOptions &options, const CampaignFunctions &functions) {
  return Campaign(options, functions).run();
}

} // namespace coll::fuzz
