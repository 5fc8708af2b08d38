#include "tools/coll-perf/reshard/rank.h"

#include "tools/coll-perf/gathering.h"
#include "tools/coll-perf/output.h"
#include "tools/coll-perf/plot.h"
#include "tools/coll-perf/reshard/mover.h"
#include "tools/coll-perf/rows.h"
#include "tools/coll-perf/units.h"

#include <algorithm>
#include <cstdio>
#include <optional>
#include <vector>

namespace coll::perf {

namespace {

// The result of one way; the same on all ranks.
struct Figure {
  ReshardWay way;
  double us = 0;      // one reshard, slowest rank
  int64_t wrong = -1; // elements on all ranks; -1: not checked
  int64_t wireBytes = 0, leastBytes = 0;
  plan::RouteInflow link; // the busiest way into a rank
};

// The results of one task.
struct Measured {
  const ReshardTask *task = nullptr;
  std::vector<Figure> figures;
};

class ReshardRank {
public:
  ReshardRank(const ReshardTask &task, Gathering &ranks)
      : task_(task), ranks_(ranks), rank_(ranks.rank()) {}

  Status open();
  // Measures each way that works here; rank 0 prints the reason for the others.
  Result<std::vector<Figure>> measure();

private:
  Status makeMemory();
  Result<std::unique_ptr<Mover>> makeMover(const ReshardWay &way);
  Result<Figure> measureWay(const ReshardWay &way);
  Result<int64_t> checkWay(Mover &mover);
  Result<double> timeWay(Mover &mover, Status (Mover::*step)());
  void print(const Figure &figure) const;

  const ReshardTask &task_;
  Gathering &ranks_;
  const int rank_;
  std::unique_ptr<RankMemory> memory_;
  GpuRankMemory *gpu_ = nullptr; // memory_, if it is a GPU's
  std::optional<ShardPattern> source_, target_;
};

Status ReshardRank::open() {
  // All ranks need their drivers before they allocate memory, which they do together.
  Status usable;
  if (task_.gpu) {
    Result<const rt::dl::Cuda *> cuda = rt::dl::cuda();
    int count = 0;
    usable = !cuda
                 ? cuda.status()
                 : rt::dl::cudaStatus(**cuda, (*cuda)->deviceGetCount(&count), "cuDeviceGetCount");
    if (usable.ok() && count == 0)
      usable = Status(kCollUnsupported, "there is no GPU");
  }
  COLL_RETURN_IF_ERROR(ranks_.agree(usable));
  return ranks_.agree(makeMemory());
}

Status ReshardRank::makeMemory() {
  PlaceBytes bytes = {};
  for (const ReshardWay &way : task_.ways) {
    Result<rt::exchange::ReshardPlan> plan = planReshard(task_.spec, way.strategy);
    if (!plan)
      return plan.status();
    const int sender = plan->senderOf(rank_), receiver = plan->receiverOf(rank_);
    if (sender >= 0)
      bytes[0] = plan->senderBytes[static_cast<size_t>(sender)];
    if (receiver >= 0) {
      bytes[1] = plan->receiverBytes[static_cast<size_t>(receiver)];
      bytes[2] = std::max(bytes[2], plan->scratchBytes);
    }
    if (sender >= 0)
      source_.emplace(task_.spec, task_.spec.senders[static_cast<size_t>(sender)], task_.seed);
    if (receiver >= 0)
      target_.emplace(task_.spec, task_.spec.receivers[static_cast<size_t>(receiver)], task_.seed);
  }
  if (task_.gpu) {
    Result<std::unique_ptr<GpuRankMemory>> made =
        makeGpuMemory(task_, rank_, bytes, ranks_.bootstrap());
    if (!made)
      return made.status();
    gpu_ = made->get();
    memory_ = made.take();
  } else {
    Result<std::unique_ptr<RankMemory>> made =
        task_.shared ? makeSharedMemory(task_, bytes, ranks_.bootstrap())
                     : makeHostMemory(task_, rank_, bytes, ranks_.bootstrap());
    if (!made)
      return made.status();
    memory_ = made.take();
  }
  return source_ && task_.check ? memory_->fill(*source_) : Status();
}

Result<std::unique_ptr<Mover>> ReshardRank::makeMover(const ReshardWay &way) {
  if (!gpu_)
    return makeHostMover(task_, way, rank_, *memory_);
  switch (way.kind) {
  case ReshardWay::Kind::Nccl:
    return makeNcclMover(task_, rank_, *gpu_, ranks_.bootstrap());
  case ReshardWay::Kind::Copies:
    return makeCopiesMover(task_, way, rank_, *gpu_);
  default:
    return makeGpuMover(task_, way, rank_, *gpu_);
  }
}

// Fills the targets with junk and makes one reshard; returns the number of wrong elements on all
// ranks.
Result<int64_t> ReshardRank::checkWay(Mover &mover) {
  COLL_RETURN_IF_ERROR(ranks_.agree(memory_->spoil()));
  for (auto step : {&Mover::run, &Mover::slice}) {
    Status status = (mover.*step)();
    COLL_RETURN_IF_ERROR(ranks_.agree(status.ok() ? mover.synchronize() : status));
  }
  if (!task_.check)
    return -1;
  Result<int64_t> wrong = target_ ? memory_->wrong(*target_) : Result<int64_t>(0);
  Result<std::vector<int64_t>> all = ranks_.agree(wrong.status(), wrong.ok() ? *wrong : 0);
  if (!all)
    return all.status();
  int64_t sum = 0;
  for (int64_t count : *all)
    sum += count;
  return sum;
}

// Returns the time of one step on the slowest rank.
Result<double> ReshardRank::timeWay(Mover &mover, Status (Mover::*step)()) {
  Status status;
  for (int i = 0; i < task_.warmup && status.ok(); ++i)
    status = (mover.*step)();
  if (status.ok())
    status = mover.synchronize();
  COLL_RETURN_IF_ERROR(ranks_.agree(status));
  Result<int64_t> start = ranks_.commonStart();
  if (!start)
    return start.status();
  for (int i = 0; i < task_.iterations && status.ok(); ++i)
    status = (mover.*step)();
  if (status.ok())
    status = mover.synchronize();
  Result<std::vector<int64_t>> all = ranks_.agree(status, net::nowUs() - *start);
  if (!all)
    return all.status();
  return static_cast<double>(*std::max_element(all->begin(), all->end())) / task_.iterations;
}

Result<Figure> ReshardRank::measureWay(const ReshardWay &way) {
  Result<std::unique_ptr<Mover>> mover = makeMover(way);
  COLL_RETURN_IF_ERROR(ranks_.agree(mover.status()));
  Figure figure;
  figure.way = way;
  const rt::exchange::ReshardPlan plan = planReshard(task_.spec, way.strategy).take();
  figure.wireBytes = plan.wireBytes;
  figure.leastBytes = plan.leastWireBytes;
  figure.link = certify(task_.spec, plan).busiest();
  Result<int64_t> wrong = checkWay(**mover);
  if (!wrong)
    return wrong.status();
  figure.wrong = *wrong;
  const bool hasSlices = way.strategy == rt::exchange::ReshardStrategy::Gather;
  std::vector<double> times;
  for (int i = 0; i < task_.repeat; ++i) {
    Result<double> run = timeWay(**mover, &Mover::run);
    if (!run)
      return run.status();
    double us = *run;
    if (hasSlices) {
      Result<double> slice = timeWay(**mover, &Mover::slice);
      if (!slice)
        return slice.status();
      us += *slice;
    }
    times.push_back(us);
  }
  figure.us = median(times);
  // No window is closed while another rank still uses it.
  COLL_RETURN_IF_ERROR(ranks_.agree(Status()));
  return figure;
}

void ReshardRank::print(const Figure &figure) const {
  const auto size = [](int64_t bytes) { return formatBytes(static_cast<uint64_t>(bytes)); };
  std::printf("%-30s %12.1f %10.2f %12s %12s %12s %12s %8s\n", figure.way.name().c_str(), figure.us,
              static_cast<double>(task_.bytes()) / figure.us * 1e-3, size(figure.wireBytes).c_str(),
              size(figure.leastBytes).c_str(), size(figure.link.bytes).c_str(),
              size(figure.link.leastBytes).c_str(),
              figure.wrong < 0 ? "-" : std::to_string(figure.wrong).c_str());
}

Result<std::vector<Figure>> ReshardRank::measure() {
  std::vector<Figure> figures;
  for (const ReshardWay &way : task_.ways) {
    Result<Figure> figure = measureWay(way);
    if (figure.ok()) {
      figures.push_back(*figure);
      if (rank_ != 0)
        continue;
      print(*figure);
    } else if (figure.status().code() != kCollUnsupported) {
      return figure.status().annotate(way.name());
    } else if (rank_ == 0) {
      std::printf("SKIPPED: %s: %s\n", way.name().c_str(), figure.status().message().c_str());
    }
    std::fflush(stdout);
  }
  return figures;
}

// "GPU memory of processes, 4 x NVIDIA H200"
std::string placeName(const ReshardTask &task) {
  if (!task.gpu)
    return task.shared ? "shared memory of processes" : "host memory of processes, over tcp";
  std::string name = "GPU memory of processes";
  if (task.nodes > 1)
    name += " on " + std::to_string(task.nodes) + " nodes, over tcp between them";
  Result<const rt::dl::Cuda *> cuda = rt::dl::cuda();
  if (cuda)
    if (auto devices = rt::dl::cudaDevices(**cuda); devices && !devices->empty())
      name += ", " + std::to_string(devices->size()) + " x " + devices->front().name;
  return name;
}

std::vector<Row> rowsOf(const ReshardTask &task, const std::vector<Figure> &figures) {
  const std::string place = placeName(task);
  std::vector<Row> rows;
  auto add = [&](const Figure &ours, const Figure *peer) {
    Row row;
    row.caseName = "reshard " + task.title + ", " + place + ": " + ours.way.name();
    row.size = formatBytes(static_cast<uint64_t>(task.bytes()));
    row.metric = "us, slowest rank";
    row.higherIsBetter = false;
    row.ours = ours.us;
    row.more = {{"wire_bytes", static_cast<double>(ours.wireBytes)},
                {"least_wire_bytes", static_cast<double>(ours.leastBytes)},
                {"link_bytes", static_cast<double>(ours.link.bytes)},
                {"least_link_bytes", static_cast<double>(ours.link.leastBytes)},
                {"streams", task.streams}};
    if (peer) {
      row.peer = peer->us;
      row.peerName = peer->way.name();
    }
    rows.push_back(std::move(row));
  };
  for (const Figure &ours : figures) {
    if (ours.way.kind != ReshardWay::Kind::Ours)
      continue;
    bool hasPeer = false;
    for (const Figure &peer : figures)
      if (peer.way.kind != ReshardWay::Kind::Ours) {
        add(ours, &peer);
        hasPeer = true;
      }
    if (!hasPeer)
      add(ours, nullptr);
  }
  return rows;
}

// Draws curves over the bytes of the shapes, one for each way.
Status writePlotOf(const std::vector<Measured> &all, const std::string &path) {
  Chart time{"time of the slowest rank", "us", {}, {}},
      speed{"tensor's size by time", "GB/s", {}, {}};
  for (const Measured &measured : all)
    for (const Figure &figure : measured.figures) {
      const std::string label = figure.way.name();
      const auto bytes = static_cast<double>(measured.task->bytes());
      if (bytes <= 0 || figure.us <= 0)
        continue; // the logarithmic scales cannot show it
      curveOf(time, label).points.emplace_back(bytes, figure.us);
      curveOf(speed, label).points.emplace_back(bytes, bytes / figure.us * 1e-3);
    }
  return writePlot(path, "coll-perf reshard: " + all.front().task->pattern, {time, speed});
}

void printHead(const ReshardTask &task) {
  std::printf("reshard %s: %s, %d ranks, %s\n", task.title.c_str(),
              formatBytes(static_cast<uint64_t>(task.bytes())).c_str(), task.ranks,
              placeName(task).c_str());
  if (task.certificate) {
    std::vector<rt::exchange::ReshardStrategy> told;
    for (const ReshardWay &way : task.ways)
      if (std::find(told.begin(), told.end(), way.strategy) == told.end()) {
        told.push_back(way.strategy);
        const auto plan = planReshard(task.spec, way.strategy).take();
        std::printf("%s", certify(task.spec, plan).describe().c_str());
      }
  }
  std::printf("%-30s %12s %10s %12s %12s %12s %12s %8s\n", "way", "us", "GB/s", "between",
              "at least", "busiest link", "at least", "wrong");
  std::fflush(stdout);
}

Result<std::vector<Figure>> measureTask(const ReshardTask &task, Gathering &ranks) {
  ReshardRank self(task, ranks);
  // The other ranks receive the same result.
  COLL_RETURN_IF_ERROR(self.open());
  if (ranks.rank() == 0)
    printHead(task);
  return self.measure();
}

Status writeFiles(const std::vector<Measured> &all, const ReshardFiles &files) {
  for (const Measured &measured : all)
    if (!files.json.empty())
      COLL_RETURN_IF_ERROR(
          appendRows(files.json, files.command, rowsOf(*measured.task, measured.figures)));
  return files.plot.empty() ? Status() : writePlotOf(all, files.plot);
}

} // namespace

int runReshardRank(const std::vector<ReshardTask> &tasks, const rt::JobOptions &job,
                   const ReshardFiles &files) {
  Result<std::unique_ptr<Gathering>> ranks = Gathering::open(job, tasks.front().timeoutUs);
  if (!ranks)
    return fail(ranks.status(), job.rank);
  if (job.rank == 0)
    std::printf("%s\n", machineName().c_str());
  std::vector<Measured> all;
  bool isWrong = false;
  for (const ReshardTask &task : tasks) {
    Result<std::vector<Figure>> figures = measureTask(task, **ranks);
    if (!figures)
      return fail(figures.status(), job.rank);
    for (const Figure &figure : *figures)
      isWrong |= figure.wrong > 0;
    all.push_back({&task, figures.take()});
  }
  if (job.rank == 0)
    if (Status written = writeFiles(all, files); !written.ok())
      return fail(written);
  return isWrong ? fail(Status(kCollInternal, "results are wrong"), job.rank) : 0;
}

} // namespace coll::perf
