// Resharding with NCCL: senders pack what each receiver needs, send and receive in one group, and
// receivers unpack. Data that is a single row is sent or received in place.

#include "runtime/kernels/reshard/copy.h"
#include "tools/coll-perf/nccl_ranks.h"
#include "tools/coll-perf/reshard/mover.h"

#include <vector>

namespace coll::perf {

namespace {

using kernels::ReshardPiece;
using rt::StridedBox;
using rt::dl::GpuMemory;
using rt::exchange::ReshardPlan;
using rt::exchange::Transfer;

// A table of boxes in GPU memory.
struct Table {
  GpuMemory memory;
  kernels::ReshardCopy copy;
};

class NcclMover final : public Mover {
public:
  explicit NcclMover(GpuRankMemory &memory) : memory_(memory) {}

  Status open(const ReshardTask &task, int rank, net::Bootstrap &bootstrap) {
    Result<ReshardPlan> plan = planReshard(task.spec);
    if (!plan)
      return plan.status();
    COLL_RETURN_IF_ERROR(connect(task, rank, bootstrap));
    return layOut(*plan, rank);
  }

  Status run() override {
    rt::dl::CudaScope scope(memory_.gpu()->cuda(), memory_.gpu()->context());
    rt::dl::CudaStream stream = memory_.stream();
    COLL_RETURN_IF_ERROR(kernels::launchReshardCopy(pack_.copy, stream));
    COLL_RETURN_IF_ERROR(ranks_->exchange(messages_, stream));
    return kernels::launchReshardCopy(unpack_.copy, stream);
  }
  Status synchronize() override {
    rt::dl::CudaScope scope(memory_.gpu()->cuda(), memory_.gpu()->context());
    return memory_.gpu()->check(memory_.gpu()->cuda().streamSynchronize(memory_.stream()),
                                "cuStreamSynchronize");
  }

private:
  Status connect(const ReshardTask &task, int rank, net::Bootstrap &bootstrap) {
    Result<const rt::dl::Nccl *> nccl = rt::dl::nccl();
    if (!nccl)
      return nccl.status();
    Result<std::unique_ptr<NcclRanks>> ranks = NcclRanks::create(
        **nccl, memory_.gpu(), {rank, task.ranks, task.nodeOf(rank), task.nodes},
        [&](const std::string &mine) { return bootstrap.allgather(mine, task.timeoutUs); });
    if (!ranks)
      return ranks.status();
    ranks_ = ranks.take();
    return {};
  }

  // Assigns a place to each message: in the buffer, or in the staging memory.
  Status layOut(const ReshardPlan &plan, int rank) {
    std::vector<ReshardPiece> packed, unpacked;
    int64_t bytes = 0;
    for (const Transfer &transfer : plan.transfers)
      if (plan.senders[static_cast<size_t>(transfer.sender)] == rank ||
          plan.receivers[static_cast<size_t>(transfer.receiver)] == rank)
        bytes += rounded(transfer.bytes);
    Result<GpuMemory> staging =
        GpuMemory::create(memory_.gpu(), GpuMemory::Kind::Device, bytes + 1);
    if (!staging)
      return staging.status();
    staging_ = staging.take();
    char *free = staging_.device();
    char *source = memory_.own(Place::Source).data, *target = memory_.own(Place::Target).data;
    for (const Transfer &transfer : plan.transfers) {
      const int from = plan.senders[static_cast<size_t>(transfer.sender)];
      const int to = plan.receivers[static_cast<size_t>(transfer.receiver)];
      if (from != rank && to != rank)
        continue;
      if (transfer.isLocal) {
        for (const StridedBox &box : transfer.boxes)
          packed.push_back({source, target, box, true});
        continue;
      }
      const bool sends = from == rank;
      const int64_t own = sends ? transfer.boxes[0].srcOffset : transfer.boxes[0].dstOffset;
      NcclRanks::Message message{sends, sends ? to : from, (sends ? source : target) + own,
                                 static_cast<size_t>(transfer.bytes)};
      if (!isOnePiece(transfer, sends)) {
        message.data = free;
        free += rounded(transfer.bytes);
        addPieces(transfer, sends, message.data, sends ? source : target,
                  sends ? packed : unpacked);
      }
      messages_.push_back(message);
    }
    COLL_RETURN_IF_ERROR(upload(packed, pack_));
    return upload(unpacked, unpack_);
  }

  static int64_t rounded(int64_t bytes) { return (bytes + 255) / 256 * 256; }

  // Returns true if, on this side, the bytes are contiguous and in the order in which they travel.
  static bool isOnePiece(const Transfer &transfer, bool sends) {
    if (transfer.boxes.size() != 1)
      return false;
    const StridedBox &box = transfer.boxes[0];
    int64_t bytes = box.rowBytes;
    for (int i = box.numLoops; i-- > 0;) {
      const auto d = static_cast<size_t>(i);
      if ((sends ? box.srcStride[d] : box.dstStride[d]) != bytes)
        return false;
      bytes *= box.count[d];
    }
    return true;
  }

  // Adds copies between the boxes of this side and the staging memory, where they follow each other
  // row by row.
  static void addPieces(const Transfer &transfer, bool sends, char *stretch, char *own,
                        std::vector<ReshardPiece> &pieces) {
    int64_t at = 0;
    for (StridedBox box : transfer.boxes) {
      auto &offset = sends ? box.dstOffset : box.srcOffset;
      auto &strides = sends ? box.dstStride : box.srcStride;
      offset = at;
      int64_t bytes = box.rowBytes;
      for (int i = box.numLoops; i-- > 0;) {
        strides[static_cast<size_t>(i)] = bytes;
        bytes *= box.count[static_cast<size_t>(i)];
      }
      at += bytes;
      pieces.push_back({sends ? own : stretch, sends ? stretch : own, box, true});
    }
  }

  Status upload(const std::vector<ReshardPiece> &pieces, Table &table) {
    Result<kernels::ReshardTable> compiled = kernels::compileReshard(pieces);
    if (!compiled)
      return compiled.status();
    const size_t bytes = compiled->entries.size() * sizeof(kernels::ReshardEntry);
    if (bytes == 0)
      return {};
    const std::shared_ptr<rt::dl::GpuContext> &gpu = memory_.gpu();
    Result<GpuMemory> memory =
        GpuMemory::create(gpu, GpuMemory::Kind::Device, static_cast<int64_t>(bytes));
    if (!memory)
      return memory.status();
    table.memory = memory.take();
    table.copy.entries = reinterpret_cast<const kernels::ReshardEntry *>(table.memory.device());
    table.copy.counts = compiled->counts;
    rt::dl::CudaScope scope(gpu->cuda(), gpu->context());
    COLL_RETURN_IF_ERROR(gpu->check(
        gpu->cuda().memcpyHtoDAsync(reinterpret_cast<rt::dl::CudaAddress>(table.memory.device()),
                                    compiled->entries.data(), bytes, memory_.stream()),
        "cuMemcpyHtoDAsync"));
    return synchronize();
  }

  GpuRankMemory &memory_;
  GpuMemory staging_;
  Table pack_, unpack_;
  std::vector<NcclRanks::Message> messages_;
  std::unique_ptr<NcclRanks> ranks_; // ends before the memory that it moves
};

} // namespace

Result<std::unique_ptr<Mover>> makeNcclMover(const ReshardTask &task, int rank,
                                             GpuRankMemory &memory, net::Bootstrap &bootstrap) {
  auto mover = std::make_unique<NcclMover>(memory);
  COLL_RETURN_IF_ERROR(mover->open(task, rank, bootstrap));
  return std::unique_ptr<Mover>(std::move(mover));
}

} // namespace coll::perf
