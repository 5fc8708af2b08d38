// writer.h - writes a trace in Perfetto's format, packet by packet.
//
//   Result<FileSink> sink = FileSink::create("run.pftrace");
//   Writer writer(*sink, {});
//   TrackId rank = writer.process("rank 0", 1);
//   TrackId calls = writer.track(rank, "calls");
//   writer.slice(calls, Level::Coll, "AllReduce", startNs, endNs,
//                {{Key::Seq, 7}, {Key::Bytes, 4096}});
//   Status status = writer.flush();
//
// Memory is bounded: one buffer of a megabyte, and at most 65,536 names that were used (later names
// are written out each time). The sink receives whole packets, so that a file that ends anywhere is
// readable up to its last packet. After the first error of the sink everything is dropped, and
// status() says why.
//
// Times are nanoseconds of CLOCK_MONOTONIC, or of the clock of WriterOptions. Slices may be written
// in any order of time; the slices of one track must be nested or follow each other. One thread at
// a time may call it.

#ifndef COLL_RUNTIME_PROFILER_PERFETTO_WRITER_H
#define COLL_RUNTIME_PROFILER_PERFETTO_WRITER_H

#include "runtime/base/status.h"
#include "runtime/profiler/perfetto/proto.h"
#include "runtime/profiler/perfetto/sink.h"
#include "runtime/profiler/perfetto/vocabulary.h"

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>
#include <type_traits>
#include <unordered_map>
#include <vector>

namespace coll::profiler::perfetto {

using TrackId = uint64_t; // 0: none

// Perfetto's numbers of clocks.
inline constexpr uint32_t kClockRealtime = 1, kClockMonotonic = 3, kClockBoottime = 6;

// Now, on CLOCK_MONOTONIC.
uint64_t monotonicNs();

// A key and its value. Texts must live until the call returns.
struct Annotation {
  enum class Kind : uint8_t { Int, Uint, Double, Bool, Text };

  template <typename T, std::enable_if_t<std::is_integral_v<T>, int> = 0>
  Annotation(Key key, T value)
      : key(key), kind(std::is_same_v<T, bool> ? Kind::Bool
                       : std::is_unsigned_v<T> ? Kind::Uint
                                               : Kind::Int),
        number(static_cast<uint64_t>(value)) {}
  Annotation(Key key, double value) : key(key), kind(Kind::Double), real(value) {}
  Annotation(Key key, std::string_view value) : key(key), kind(Kind::Text), text(value) {}
  Annotation(Key key, const char *value) : Annotation(key, std::string_view(value ? value : "")) {}
  Annotation(Key key, const std::string &value) : Annotation(key, std::string_view(value)) {}

  Key key;
  Kind kind;
  uint64_t number = 0;
  double real = 0;
  std::string_view text;
};

struct Annotations {
  Annotations() = default;
  // The list must live as long as the call that uses it.
  Annotations(std::initializer_list<Annotation> list) {
    begin = list.begin();
    count = list.size();
  }
  Annotations(const std::vector<Annotation> &list) : begin(list.data()), count(list.size()) {}
  const Annotation *begin = nullptr;
  size_t count = 0;
};

// Arrows between slices of any tracks: all events with the same id are joined in the order of time.
struct Flow {
  uint64_t id = 0; // 0: none
  bool ends = false;
};

struct WriterOptions {
  uint32_t clock = kClockMonotonic;
  // Distinguishes files that are merged later; 0: made of process, host and time.
  uint64_t seed = 0;
};

class Writer {
public:
  // `sink` must outlive the writer. Begins with a clock snapshot.
  Writer(Sink &sink, const WriterOptions &options);
  Writer(const Writer &) = delete;
  Writer &operator=(const Writer &) = delete;
  ~Writer(); // flushes

  // A group of tracks with a heading. `pid` is shown, and must differ between the processes of a
  // file; processes are sorted by `order`.
  TrackId process(std::string_view name, int32_t pid, int32_t order = 0);
  // `order` sorts the tracks of one parent.
  TrackId track(TrackId parent, std::string_view name, int32_t order = 0);
  TrackId counterTrack(TrackId parent, std::string_view name, std::string_view unit);

  void slice(TrackId track, Level level, std::string_view name, uint64_t startNs, uint64_t endNs,
             Annotations annotations = {}, Flow flow = {});
  void begin(TrackId track, Level level, std::string_view name, uint64_t ns,
             Annotations annotations = {}, Flow flow = {});
  void end(TrackId track, uint64_t ns, Annotations annotations = {});
  void instant(TrackId track, Level level, std::string_view name, uint64_t ns,
               Annotations annotations = {}, Flow flow = {});
  void counter(TrackId track, uint64_t ns, int64_t value);

  // Records the current realtime, monotonic and boot time, so that viewers and coll-trace can
  // relate files.
  void clockSnapshot();
  // `count` events of the track were lost before `ns`.
  void dropped(TrackId track, uint64_t ns, uint64_t count);

  // Passes all packets to the sink.
  rt::Status flush();
  const rt::Status &status() const { return status_; }
  uint64_t bytes() const { return bytes_; } // passed to the sink

private:
  struct Name {
    uint64_t iid;
    bool isNew;
  };
  struct EventHead {
    uint64_t type;
    TrackId track;
    uint64_t ns;
  };
  ProtoOut open();
  void close(ProtoOut &packet);
  Name intern(std::string_view text);
  void event(const EventHead &head, const Level *level, std::string_view name,
             Annotations annotations, Flow flow);
  void annotate(ProtoOut &out, const Annotation &annotation);
  void describe(TrackId uuid, TrackId parent, std::string_view name, int32_t order,
                const ProtoOut *extra);
  void writeVocabulary();

  Sink &sink_;
  WriterOptions options_;
  rt::Status status_;
  std::unique_ptr<uint8_t[]> buffer_;
  size_t used_ = 0;
  uint64_t bytes_ = 0, nextTrack_ = 0;
  uint32_t sequence_ = 0;
  std::vector<std::unique_ptr<std::string>> texts_;
  std::unordered_map<std::string_view, uint64_t> iids_;
};

} // namespace coll::profiler::perfetto

#endif // COLL_RUNTIME_PROFILER_PERFETTO_WRITER_H
