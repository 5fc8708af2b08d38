#include "tools/coll-perf/nccl_ranks.h"

#include "runtime/base/env.h"

#include <cstring>

namespace coll::perf {

Result<std::unique_ptr<NcclRanks>> NcclRanks::create(const rt::dl::Nccl &nccl,
                                                     std::shared_ptr<rt::dl::GpuContext> gpu,
                                                     const Options &options, const Swap &swap) {
  std::unique_ptr<NcclRanks> ranks(new NcclRanks(nccl, std::move(gpu)));
  COLL_RETURN_IF_ERROR(ranks->connect(options, swap));
  return ranks;
}

NcclRanks::~NcclRanks() {
  if (comm_)
    (void)nccl_.commAbort(comm_);
}

Status NcclRanks::connect(const Options &options, const Swap &swap) {
  int count = 0;
  COLL_RETURN_IF_ERROR(gpu_->check(gpu_->cuda().deviceGetCount(&count), "cuDeviceGetCount"));
  if (options.ranks > count)
    return Status(kCollUnsupported, "NCCL needs a GPU for each of the " +
                                        std::to_string(options.ranks) + " ranks; there are " +
                                        std::to_string(count));
  if (options.nodes > 1) {
    // NCCL takes ranks with different host ids for different machines, and uses sockets between
    // them.
    rt::setForeignEnv("NCCL_HOSTID", ("node " + std::to_string(options.node)).c_str());
    if (!rt::foreignEnv("NCCL_SOCKET_IFNAME"))
      rt::setForeignEnv("NCCL_SOCKET_IFNAME", "lo");
  }
  rt::dl::CudaScope scope(gpu_->cuda(), gpu_->context());
  rt::dl::NcclUniqueId id;
  Status made = options.rank == 0 ? check(nccl_.getUniqueId(&id), "ncclGetUniqueId") : Status();
  Result<std::vector<std::string>> ids =
      swap(options.rank == 0 && made.ok() ? std::string(id.bytes, sizeof(id.bytes)) : "");
  COLL_RETURN_IF_ERROR(made);
  if (!ids)
    return ids.status();
  if (ids->front().size() != sizeof(id.bytes))
    return Status(kCollUnsupported, "rank 0 has no NCCL");
  std::memcpy(id.bytes, ids->front().data(), sizeof(id.bytes));
  rt::dl::NcclConfig config;
  config.blocking = 1;
  return check(nccl_.commInitRankConfig(&comm_, options.ranks, id, options.rank, &config),
               "ncclCommInitRankConfig");
}

Status NcclRanks::exchange(const std::vector<Message> &messages, rt::dl::CudaStream stream) {
  COLL_RETURN_IF_ERROR(check(nccl_.groupStart(), "ncclGroupStart"));
  Status status;
  for (const Message &message : messages) {
    const rt::dl::NcclResult result =
        message.sends ? nccl_.send(message.data, message.bytes, rt::dl::kNcclInt8, message.peer,
                                   comm_, stream)
                      : nccl_.recv(message.data, message.bytes, rt::dl::kNcclInt8, message.peer,
                                   comm_, stream);
    if (status.ok())
      status = check(result, message.sends ? "ncclSend" : "ncclRecv");
  }
  const Status ended = check(nccl_.groupEnd(), "ncclGroupEnd");
  return status.ok() ? ended : status;
}

std::string NcclRanks::name() const {
  int version = 0;
  return nccl_.getVersion(&version) == 0 ? "NCCL " + rt::dl::ncclVersionName(version) : "NCCL";
}

} // namespace coll::perf
