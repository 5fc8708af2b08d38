//===- forecast.cc ----------------------------------------------------------------===//

#include "driver/forecast/forecast.h"

#include "driver/report/format.h"
#include "driver/tensors.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FileSystem.h"

#include <map>

namespace coll::run {

llvm::Expected<Forecast> makeForecast(const mlir::coll::ObjectCode &code,
                                      const Explanation &explanation) {
  Forecast forecast;
  forecast.explanation = explanation;
  for (const mlir::coll::ObjectCode::Class &rankClass : code.classes) {
    auto descriptor = toExpected(rt::Descriptor::parse(rankClass.descriptor));
    if (!descriptor)
      return descriptor.takeError();
    forecast.classes.push_back(std::move(*descriptor));
  }
  if (forecast.classes.empty())
    return makeError("the compiled step has no programs");
  return forecast;
}

std::vector<const rt::TensorInfo *> Forecast::args() const {
  std::map<int, const rt::TensorInfo *> byNumber;
  for (const rt::Descriptor &rankClass : classes)
    for (const rt::TensorInfo &info : rankClass.args)
      byNumber.try_emplace(info.index, &info);
  std::vector<const rt::TensorInfo *> args;
  for (auto [number, info] : byNumber)
    args.push_back(info);
  return args;
}

std::string describeSharding(const rt::TensorInfo &info) {
  std::string text;
  for (const rt::DimSharding &dim : info.sharding) {
    text += text.empty() ? "" : ", ";
    text += dim.axes.empty() ? "-" : llvm::join(dim.axes, "+");
  }
  return "[" + text + "]";
}

/// `temporaries`, or `state argument "w1" (f32[64, 10])`.
static std::string describe(const rt::RankBuffer &buffer) {
  if (!buffer.tensor)
    return rt::nameOf(buffer.kind);
  return (buffer.kind == rt::BufferKind::Output ? "" : std::string(rt::nameOf(buffer.kind)) + " ") +
         describe(*buffer.tensor) + " split " + describeSharding(*buffer.tensor);
}

llvm::Error checkMemoryLimit(const Forecast &forecast, int64_t limit) {
  constexpr size_t kMostNamed = 4;
  for (const rt::Descriptor &descriptor : forecast.classes) {
    const int64_t need = rt::memoryOf(descriptor).total();
    if (need >= 0 && need <= limit)
      continue;
    std::vector<rt::RankBuffer> buffers = rt::buffersOf(descriptor);
    llvm::stable_sort(buffers, [](const rt::RankBuffer &a, const rt::RankBuffer &b) {
      return uint64_t(a.bytes) > uint64_t(b.bytes); // one that overflowed comes first
    });
    std::string largest;
    for (const rt::RankBuffer &buffer : llvm::ArrayRef(buffers).take_front(kMostNamed))
      largest += (largest.empty() ? "" : "; ") + describe(buffer) + ": " +
                 formatCount(buffer.bytes) + " bytes";
    return makeError("a rank needs " + (need < 0 ? "more than can be counted" : formatCount(need)) +
                     " bytes, --memory-limit is " + formatCount(limit) +
                     ". The largest buffers are " + largest +
                     ". More ranks, --strategy=fsdp, or a smaller batch need less");
  }
  return llvm::Error::success();
}

llvm::Error writeForecast(const std::string &path, const Forecast &forecast) {
  std::error_code code;
  llvm::raw_fd_ostream os(path, code);
  if (!code) {
    os << llvm::formatv("{0:2}", toJSON(forecast)) << "\n";
    os.close();
    code = os.error();
    os.clear_error();
  }
  if (code)
    return makeError("cannot write '" + path + "': " + code.message());
  return llvm::Error::success();
}

} // namespace coll::run
