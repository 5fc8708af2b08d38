// NCCL with one thread for all ranks.

#include "runtime/dl/nccl.h"
#include "test/perf/bench_root_update.h"

namespace coll::bench {
namespace {

using rt::dl::Nccl;

class Peer : public NcclPeer {
public:
  Peer(Team &team, const Nccl &nccl) : team_(team), nccl_(nccl) {
    rt::dl::NcclUniqueId id;
    check(nccl_.getUniqueId(&id), "ncclGetUniqueId");
    comms_.resize(static_cast<size_t>(team.size()));
    check(nccl_.groupStart(), "ncclGroupStart");
    team.each([&](int r) {
      rt::dl::NcclConfig config;
      config.blocking = 1;
      check(nccl_.commInitRankConfig(&comms_[static_cast<size_t>(r)], team.size(), id, r, &config),
            "ncclCommInitRankConfig");
    });
    check(nccl_.groupEnd(), "ncclGroupEnd");
  }
  ~Peer() override {
    for (rt::dl::NcclComm comm : comms_)
      (void)nccl_.commDestroy(comm);
  }

  std::string name() const override { return "NCCL " + rt::dl::ncclVersionName(nccl_.version); }

  void allReduceStep(uint64_t count, bool narrow) override {
    grouped([&](int r) {
      const Member &m = team_[r];
      return nccl_.allReduce(m.gradients, m.sum, count, type(narrow), rt::dl::kNcclSum, comm(r),
                             stream(r));
    });
    team_.each([&](int r) { launchAdam(team_, r, team_[r].sum, 0, count, narrow); });
  }

  void shardedStep(uint64_t count, bool narrow) override {
    const uint64_t share = count / static_cast<uint64_t>(team_.size());
    grouped([&](int r) {
      const Member &m = team_[r];
      return nccl_.reduceScatter(m.gradients, m.sum, share, type(narrow), rt::dl::kNcclSum, comm(r),
                                 stream(r));
    });
    team_.each([&](int r) {
      launchAdam(team_, r, team_[r].sum, share * static_cast<uint64_t>(r), share, narrow);
    });
    grouped([&](int r) {
      const Member &m = team_[r];
      const char *own = m.parameters + share * static_cast<uint64_t>(r) * (narrow ? 2 : 4);
      return nccl_.allGather(own, m.parameters, share, type(narrow), comm(r), stream(r));
    });
  }

private:
  static int type(bool narrow) { return narrow ? rt::dl::kNcclBfloat16 : rt::dl::kNcclFloat32; }
  rt::dl::NcclComm comm(int rank) const { return comms_[static_cast<size_t>(rank)]; }
  rt::dl::CudaStream stream(int rank) const {
    return reinterpret_cast<rt::dl::CudaStream>(team_[rank].stream);
  }
  void check(rt::dl::NcclResult result, const char *call) const {
    must(rt::dl::ncclStatus(nccl_, result, call));
  }
  // One call of all ranks.
  void grouped(const std::function<rt::dl::NcclResult(int rank)> &call) {
    check(nccl_.groupStart(), "ncclGroupStart");
    team_.each([&](int r) { check(call(r), "collective"); });
    check(nccl_.groupEnd(), "ncclGroupEnd");
  }

  Team &team_;
  const Nccl &nccl_;
  std::vector<rt::dl::NcclComm> comms_;
};

} // namespace

std::unique_ptr<NcclPeer> makeNcclPeer(Team &team, std::string &whyNot) {
  if (team.size() == 1 || team.sharesGpus()) {
    whyNot = "it wants several ranks, with a GPU each";
    return nullptr;
  }
  const auto nccl = rt::dl::nccl();
  if (!nccl.ok()) {
    whyNot = nccl.status().toString();
    return nullptr;
  }
  return std::make_unique<Peer>(team, **nccl);
}

} // namespace coll::bench
