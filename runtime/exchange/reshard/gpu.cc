#include "runtime/exchange/reshard/gpu.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

namespace coll::rt::exchange {

namespace {

constexpr int kMostStreams = 16;
// The limit of copies for one box, because each copy costs the host microseconds.
constexpr int64_t kMostEngineCopies = 64;
constexpr int64_t kMostPitch = (int64_t{1} << 31) - 1; // CU_DEVICE_ATTRIBUTE_MAX_PITCH

using kernels::ReshardEntry;
using kernels::ReshardPiece;
using kernels::ReshardTable;

// The boxes of this rank, with their buffers.
std::vector<ReshardPiece> piecesOf(const ReshardPlan &plan, int rank,
                                   const ReshardBuffers &buffers) {
  const bool isPush = buffers.direction == ReshardDirection::Push;
  const OwnBuffer &target =
      plan.strategy == ReshardStrategy::Gather ? buffers.scratch : buffers.target;
  std::vector<ReshardPiece> pieces;
  for (const Transfer *transfer : transfersOf(plan, rank, buffers.direction)) {
    const void *src = buffers.source.data;
    void *dst = target.data;
    if (!transfer->isLocal && isPush)
      dst = buffers.peers[static_cast<size_t>(transfer->receiver)].data;
    if (!transfer->isLocal && !isPush)
      src = buffers.peers[static_cast<size_t>(transfer->sender)].data;
    for (const StridedBox &box : transfer->boxes)
      pieces.push_back({src, dst, box, transfer->isLocal});
  }
  return pieces;
}

std::vector<ReshardPiece> slicesOf(const ReshardPlan &plan, int rank,
                                   const ReshardBuffers &buffers) {
  std::vector<ReshardPiece> pieces;
  const int receiver = plan.receiverOf(rank);
  if (plan.strategy == ReshardStrategy::Gather && receiver >= 0)
    for (const StridedBox &box : plan.slices[static_cast<size_t>(receiver)])
      pieces.push_back({buffers.scratch.data, buffers.target.data, box, /*isLocal=*/true});
  return pieces;
}

Status checkOptions(const ReshardPlan &plan, int rank, const ReshardBuffers &buffers,
                    const GpuReshardOptions &options) {
  const std::string where = "rank " + std::to_string(rank) + ": ";
  if (options.streams < 1 || options.streams > kMostStreams)
    return Status::invalid(where + std::to_string(options.streams) + " streams: 1 to " +
                           std::to_string(kMostStreams) + " are possible");
  if (options.blocks != 0 && options.blocks < options.streams)
    return Status::invalid(where + std::to_string(options.blocks) + " blocks for " +
                           std::to_string(options.streams) + " streams");
  for (const Transfer *transfer : transfersOf(plan, rank, buffers.direction)) {
    const int peer =
        buffers.direction == ReshardDirection::Push ? transfer->receiver : transfer->sender;
    if (!transfer->isLocal && !buffers.peers[static_cast<size_t>(peer)].data)
      return Status(kCollUnsupported, where + "the buffer of peer " + std::to_string(peer) +
                                          " is not memory that the GPU can address");
  }
  return {};
}

// Whether copy engines can take the box: one loop becomes their pitch, the host runs the others.
bool isForEngines(const ReshardPiece &piece, ReshardEngine engine) {
  const StridedBox &box = piece.box;
  if (engine == ReshardEngine::Kernel || box.bytes() == 0)
    return false;
  int64_t pitch = box.rowBytes, copies = 1;
  if (box.numLoops > 0) {
    const auto inner = static_cast<size_t>(box.numLoops - 1);
    if (box.srcStride[inner] < box.rowBytes || box.dstStride[inner] < box.rowBytes)
      return false;
    pitch = std::max(box.srcStride[inner], box.dstStride[inner]);
    copies = box.rows() / box.count[inner];
    if (pitch > kMostPitch)
      return false;
  }
  if (engine == ReshardEngine::Copies)
    return true;
  return !piece.isLocal && box.rowBytes >= kEngineRowBytes && copies <= kMostEngineCopies;
}

// Appends the n-th of `parts` shares of a box: a share of its rows, or of the bytes of its only
// row.
void appendCopies(const ReshardPiece &piece, int n, int parts,
                  std::vector<dl::CudaCopy2D> &copies) {
  StridedBox outer = piece.box;
  int64_t rows = 1, srcPitch = 0, dstPitch = 0;
  if (outer.numLoops > 0) {
    const auto inner = static_cast<size_t>(--outer.numLoops);
    rows = outer.count[inner];
    srcPitch = outer.srcStride[inner];
    dstPitch = outer.dstStride[inner];
  }
  const bool isOneRow = rows == 1;
  // Shares of a row are multiples of 512 bytes.
  const int64_t whole = isOneRow ? (outer.rowBytes + 511) / 512 : rows;
  int64_t begin = whole * n / parts, end = whole * (n + 1) / parts;
  if (begin == end)
    return;
  dl::CudaCopy2D copy;
  int64_t srcSkip = begin * srcPitch, dstSkip = begin * dstPitch;
  copy.bytes = static_cast<size_t>(outer.rowBytes);
  copy.rows = static_cast<size_t>(end - begin);
  if (isOneRow) {
    srcSkip = dstSkip = begin * 512;
    copy.bytes = static_cast<size_t>(std::min(end * 512, outer.rowBytes) - srcSkip);
    copy.rows = 1;
  }
  copy.srcPitch = static_cast<size_t>(srcPitch);
  copy.dstPitch = static_cast<size_t>(dstPitch);
  for (RowCursor at(outer); !at.done(); at.next()) {
    copy.src = reinterpret_cast<dl::CudaAddress>(piece.src) +
               static_cast<dl::CudaAddress>(at.src() + srcSkip);
    copy.dst = reinterpret_cast<dl::CudaAddress>(piece.dst) +
               static_cast<dl::CudaAddress>(at.dst() + dstSkip);
    copies.push_back(copy);
  }
}

} // namespace

const char *nameOf(ReshardEngine engine) {
  return engine == ReshardEngine::Auto     ? "auto"
         : engine == ReshardEngine::Kernel ? "kernel"
                                           : "copies";
}

Result<std::unique_ptr<GpuReshard>> GpuReshard::create(const ReshardPlan &plan, int rank,
                                                       const ReshardBuffers &buffers,
                                                       std::shared_ptr<dl::GpuContext> gpu,
                                                       const GpuReshardOptions &options,
                                                       Launch launch) {
  COLL_RETURN_IF_ERROR(checkReshard(plan, rank, buffers));
  COLL_RETURN_IF_ERROR(checkOptions(plan, rank, buffers, options));
  dl::CudaScope scope(gpu->cuda(), gpu->context());
  COLL_RETURN_IF_ERROR(scope.status());
  std::unique_ptr<GpuReshard> made(new GpuReshard(std::move(gpu), options, launch));
  std::vector<ReshardEntry> entries;
  COLL_RETURN_IF_ERROR(made->prepare(piecesOf(plan, rank, buffers), made->transfers_, entries));
  COLL_RETURN_IF_ERROR(made->prepare(slicesOf(plan, rank, buffers), made->slices_, entries));
  COLL_RETURN_IF_ERROR(made->makeStreams());
  Result<dl::GpuMemory> table = uploadReshard(made->gpu_, entries);
  if (!table)
    return table.status();
  made->table_ = table.take();
  return made;
}

Status GpuReshard::prepare(const std::vector<ReshardPiece> &pieces, Work &work,
                           std::vector<ReshardEntry> &entries) {
  std::vector<ReshardPiece> forKernel;
  work.copies.resize(static_cast<size_t>(options_.streams));
  for (const ReshardPiece &piece : pieces)
    if (isForEngines(piece, options_.engine))
      for (int n = 0; n < options_.streams; ++n)
        appendCopies(piece, n, options_.streams, work.copies[static_cast<size_t>(n)]);
    else
      forKernel.push_back(piece);
  // If there is little work, shares may be empty, but the first of several is not.
  std::stable_sort(work.copies.begin(), work.copies.end(),
                   [](const auto &a, const auto &b) { return a.size() > b.size(); });
  Result<ReshardTable> table = kernels::compileReshard(forKernel);
  if (!table)
    return table.status();
  work.first = entries.size();
  work.counts = table->counts;
  entries.insert(entries.end(), table->entries.begin(), table->entries.end());
  return {};
}

GpuReshard::~GpuReshard() {
  dl::CudaScope scope(gpu_->cuda(), gpu_->context());
  for (dl::CudaEvent event : events_)
    (void)gpu_->cuda().eventDestroy(event);
  for (dl::CudaStream stream : streams_)
    (void)gpu_->cuda().streamDestroy(stream);
}

Status GpuReshard::makeStreams() {
  const dl::Cuda &cuda = gpu_->cuda();
  const bool both = (transfers_.hasCopies() && transfers_.hasUnits()) ||
                    (slices_.hasCopies() && slices_.hasUnits());
  const int others = options_.streams - 1 + (both ? 1 : 0);
  for (int i = 0; i < others; ++i) {
    dl::CudaStream stream = nullptr;
    COLL_RETURN_IF_ERROR(
        gpu_->check(cuda.streamCreate(&stream, dl::kCudaStreamNonBlocking), "cuStreamCreate"));
    streams_.push_back(stream);
  }
  for (int i = 0; others > 0 && i <= others; ++i) {
    dl::CudaEvent event = nullptr;
    COLL_RETURN_IF_ERROR(
        gpu_->check(cuda.eventCreate(&event, dl::kCudaEventNoTiming), "cuEventCreate"));
    events_.push_back(event);
  }
  return {};
}

Result<dl::GpuMemory> uploadReshard(const std::shared_ptr<dl::GpuContext> &gpu,
                                    const std::vector<ReshardEntry> &entries) {
  if (entries.empty())
    return dl::GpuMemory();
  const dl::Cuda &cuda = gpu->cuda();
  dl::CudaScope scope(cuda, gpu->context());
  COLL_RETURN_IF_ERROR(scope.status());
  const size_t bytes = entries.size() * sizeof(ReshardEntry);
  Result<dl::GpuMemory> staged =
      dl::GpuMemory::create(gpu, dl::GpuMemory::Kind::Pinned, static_cast<int64_t>(bytes));
  if (!staged)
    return staged.status();
  std::memcpy(staged->host(), entries.data(), bytes);
  Result<dl::GpuMemory> memory =
      dl::GpuMemory::create(gpu, dl::GpuMemory::Kind::Device, static_cast<int64_t>(bytes));
  if (!memory)
    return memory.status();
  dl::CudaStream stream = nullptr;
  COLL_RETURN_IF_ERROR(
      gpu->check(cuda.streamCreate(&stream, dl::kCudaStreamNonBlocking), "cuStreamCreate"));
  Status copied =
      gpu->check(cuda.memcpyHtoDAsync(reinterpret_cast<dl::CudaAddress>(memory->device()),
                                      staged->host(), bytes, stream),
                 "cuMemcpyHtoDAsync");
  Status ended = gpu->check(cuda.streamSynchronize(stream), "cuStreamSynchronize");
  (void)cuda.streamDestroy(stream);
  if (!copied.ok() || !ended.ok())
    return copied.ok() ? ended : copied;
  return memory;
}

Status GpuReshard::copy(const std::vector<dl::CudaCopy2D> &copies, dl::CudaStream stream) {
  const dl::Cuda &cuda = gpu_->cuda();
  for (const dl::CudaCopy2D &one : copies)
    COLL_RETURN_IF_ERROR(
        one.rows == 1
            ? gpu_->check(cuda.memcpyAsync(one.dst, one.src, one.bytes, stream), "cuMemcpyAsync")
            : gpu_->check(cuda.memcpy2DAsync(&one, stream), "cuMemcpy2DAsync"));
  return {};
}

Status GpuReshard::launch(const Work &work, dl::CudaStream stream, int part, int parts) {
  kernels::ReshardCopy copy;
  copy.entries = reinterpret_cast<const ReshardEntry *>(table_.device()) + work.first;
  copy.counts = work.counts;
  copy.blocks = options_.blocks / parts;
  copy.part = static_cast<uint32_t>(part);
  copy.parts = static_cast<uint32_t>(parts);
  return launch_(copy, stream);
}

Status GpuReshard::put(const Work &work, dl::CudaStream stream) {
  if (!work.hasCopies() && !work.hasUnits())
    return {};
  const dl::Cuda &cuda = gpu_->cuda();
  dl::CudaScope scope(cuda, gpu_->context());
  COLL_RETURN_IF_ERROR(scope.status());
  if (!streams_.empty())
    COLL_RETURN_IF_ERROR(gpu_->check(cuda.eventRecord(events_[0], stream), "cuEventRecord"));
  for (dl::CudaStream other : streams_)
    COLL_RETURN_IF_ERROR(
        gpu_->check(cuda.streamWaitEvent(other, events_[0], 0), "cuStreamWaitEvent"));
  // Beside copies: one launch on a stream of its own. Otherwise one launch on each stream.
  if (work.hasCopies() && work.hasUnits())
    COLL_RETURN_IF_ERROR(launch(work, streams_.back(), 0, 1));
  for (int i = 0; i < options_.streams; ++i) {
    const auto at = static_cast<size_t>(i);
    dl::CudaStream one = i == 0 ? stream : streams_[at - 1];
    if (work.hasCopies())
      COLL_RETURN_IF_ERROR(copy(work.copies[at], one));
    else
      COLL_RETURN_IF_ERROR(launch(work, one, i, options_.streams));
  }
  for (size_t i = 0; i < streams_.size(); ++i) {
    COLL_RETURN_IF_ERROR(
        gpu_->check(cuda.eventRecord(events_[i + 1], streams_[i]), "cuEventRecord"));
    COLL_RETURN_IF_ERROR(
        gpu_->check(cuda.streamWaitEvent(stream, events_[i + 1], 0), "cuStreamWaitEvent"));
  }
  return {};
}

Status GpuReshard::run(dl::CudaStream stream) { return put(transfers_, stream); }
Status GpuReshard::slice(dl::CudaStream stream) { return put(slices_, stream); }

} // namespace coll::rt::exchange
