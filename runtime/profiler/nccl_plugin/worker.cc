#include "runtime/profiler/nccl_plugin/worker.h"

#include "runtime/base/log.h"
#include "runtime/base/thread.h"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <exception>

namespace coll::profiler::plugin {

namespace {

constexpr uint64_t kFlushNs = 250'000'000;
constexpr uint64_t kSnapshotNs = 10'000'000'000;
constexpr uint64_t kExportNs = 5'000'000'000;
constexpr std::chrono::milliseconds kShortNap{1}, kLongNap{20};

} // namespace

Worker::Worker(Rings &rings, Communicators &communicators, const Names &names, TickClock &clock,
               const Settings &settings)
    : rings_(rings), communicators_(communicators), clock_(clock), settings_(settings) {
  if (!settings_.tracePath.empty()) {
    rt::Result<perfetto::FileSink> file = perfetto::FileSink::create(settings_.tracePath);
    if (file.ok())
      file_.emplace(file.take());
    else
      rt::log(rt::LogLevel::Warn, "profiler: " + file.status().message() + "; continuing without");
  }
  writer_.emplace(file_ ? static_cast<perfetto::Sink &>(*file_) : none_, perfetto::WriterOptions());
  collector_.emplace(*writer_, summary_, names);
}

bool Worker::start() {
  isStopping_ = false;
  // The application handles signals.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  const rt::Status started = rt::startThread(thread_, "the trace", [this] { run(); });
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (!started.ok())
    rt::log(rt::LogLevel::Warn, "profiler: " + started.message());
  return started.ok();
}

void Worker::stop() {
  if (!thread_.joinable())
    return;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    isStopping_ = true;
  }
  wake_.notify_one();
  thread_.join();
}

void Worker::run() {
  try {
    std::chrono::milliseconds nap = kShortNap;
    for (bool isLast = false; !isLast;) {
      {
        std::unique_lock<std::mutex> lock(mutex_);
        isLast = wake_.wait_for(lock, nap, [this] { return isStopping_; });
      }
      nap = pass() > 0 ? kShortNap : std::min(2 * nap, kLongNap);
      if (isLast) { // a process may end without destroying its communicators
        tellOpenKernels(perfetto::monotonicNs(), true);
        collector_->finishAll(perfetto::monotonicNs());
      }
      writeOut(isLast);
    }
  } catch (const std::exception &error) { // out of memory
    rt::log(rt::LogLevel::Warn, std::string("profiler: the trace ends here: ") + error.what());
  }
}

// Reads the ended communicators first, then the time until which records are read, then the new
// communicators, because a communicator's records are between its beginning and its end.
size_t Worker::pass() {
  const std::vector<uint16_t> finished = communicators_.takeFinished();
  const uint64_t cutoffTicks = clock_.note(), cutoffNs = clock_.toNs(cutoffTicks);
  for (const Communicators::Change &change : communicators_.takeNew())
    collector_->begin(change.number, change.info);
  const size_t records = mergeRings(cutoffTicks);
  reportDrops(cutoffNs);
  if (!finished.empty())
    tellOpenKernels(cutoffNs, true);
  for (uint16_t number : finished) {
    collector_->finish(number, cutoffNs);
    communicators_.release(number);
  }
  collector_->sweep(cutoffNs);
  return records;
}

// A child starts later than its parent, on any thread, so records are processed in the order of
// their times. All records until `cutoffTicks` are in their rings.
size_t Worker::mergeRings(uint64_t cutoffTicks) {
  const size_t rings = rings_.size();
  cursors_.resize(std::max(cursors_.size(), rings));
  using Head = std::pair<uint64_t, size_t>; // time and ring
  std::vector<Head> heap;
  for (size_t ring = 0; ring < rings; ++ring)
    if (cursors_[ring].has || advance(ring))
      heap.emplace_back(cursors_[ring].next.ns, ring);
  std::make_heap(heap.begin(), heap.end(), std::greater<Head>());
  size_t count = 0;
  while (!heap.empty() && heap.front().first <= cutoffTicks) {
    std::pop_heap(heap.begin(), heap.end(), std::greater<Head>());
    const size_t ring = heap.back().second;
    heap.pop_back();
    Record &record = cursors_[ring].next;
    record.ns = clock_.toNs(record.ns);
    collector_->add(record);
    ++count;
    if (!advance(ring))
      continue;
    heap.emplace_back(cursors_[ring].next.ns, ring);
    std::push_heap(heap.begin(), heap.end(), std::greater<Head>());
  }
  return count;
}

// Reports the starts of channels that have been running since the last call, or of all running
// channels. Otherwise a collective whose kernel hangs would count as ended.
void Worker::tellOpenKernels(uint64_t ns, bool areAll) {
  const size_t rings = rings_.size();
  openKernels_.resize(std::max(openKernels_.size(), rings * OpenKernels::kPlaces));
  for (size_t i = 0; i < rings * OpenKernels::kPlaces; ++i) {
    OpenKernel &last = openKernels_[i];
    Record start;
    if (!rings_[i / OpenKernels::kPlaces].kernels->read(i % OpenKernels::kPlaces, start))
      continue;
    const bool wasThere = last.id == start.id;
    if (!wasThere)
      last = {start.id, false};
    if (last.isTold || !(areAll || wasThere))
      continue;
    last.isTold = true;
    start.ns = ns;
    collector_->add(start);
  }
}

bool Worker::advance(size_t ring) {
  Cursor &cursor = cursors_[ring];
  cursor.has = rings_[ring].ring->pop(cursor.next, dropped_);
  return cursor.has;
}

void Worker::reportDrops(uint64_t ns) {
  const uint64_t dropped = std::exchange(dropped_, 0) + rings_.takeLost();
  if (!dropped)
    return;
  collector_->dropped(dropped, ns);
  if (!hasWarned_)
    rt::log(rt::LogLevel::Warn,
            "profiler: events come faster than they can be written, so the oldest are dropped; the "
            "trace says how many (COLL_PROFILER_RING makes room for more)");
  hasWarned_ = true;
}

void Worker::writeOut(bool isLast) {
  const uint64_t now = perfetto::monotonicNs();
  if (now - snapshotNs_ > kSnapshotNs) {
    snapshotNs_ = now;
    writer_->clockSnapshot();
  }
  if (isLast || now - flushedNs_ > kFlushNs) {
    flushedNs_ = now;
    tellOpenKernels(now, false);
    const bool wasOk = writer_->status().ok();
    if (rt::Status status = writer_->flush(); wasOk && !status.ok())
      rt::log(rt::LogLevel::Warn, "profiler: " + status.message() + "; the trace ends there");
  }
  if (isLast || now - exportedNs_ > kExportNs) {
    exportedNs_ = now;
    if (!settings_.prometheusPath.empty())
      writeText(settings_.prometheusPath, summary_.prometheus());
  }
  if (isLast && settings_.summaryPath == "-")
    std::fputs(summary_.text().c_str(), stderr);
  else if (isLast && !settings_.summaryPath.empty())
    writeText(settings_.summaryPath, summary_.text());
}

// The file is replaced as a whole, so that a reader never sees a part of it.
void Worker::writeText(const std::string &path, const std::string &text) {
  const std::string part = path + ".part";
  std::FILE *file = std::fopen(part.c_str(), "we");
  bool isWritten = file && std::fwrite(text.data(), 1, text.size(), file) == text.size();
  isWritten &= file && std::fclose(file) == 0;
  if (isWritten && std::rename(part.c_str(), path.c_str()) == 0)
    return;
  std::remove(part.c_str());
  rt::log(rt::LogLevel::Warn, "profiler: cannot write \"" + path + "\"");
}

} // namespace coll::profiler::plugin
