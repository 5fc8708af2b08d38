//===- progress.cc - what the user sees while steps run -------------------------===//

#include "tools/coll-run/progress.h"

#include "compiler/error.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Format.h"

#include <algorithm>
#include <clocale>
#include <cmath>
#include <cstring>
#include <langinfo.h>
#include <string>
#include <unistd.h>

namespace coll::run {
namespace {

constexpr int kBarColumns = 24;
constexpr size_t kCurveColumns = 60;
constexpr int kCurveLines = 8;
constexpr auto kRedrawInterval = std::chrono::milliseconds(50);

std::string formatBytes(double bytes) {
  const char *units[] = {"B", "KB", "MB", "GB"};
  int unit = 0;
  for (; bytes >= 1000 && unit < 3; ++unit)
    bytes /= 1000;
  char text[32];
  std::snprintf(text, sizeof(text), unit == 0 ? "%.0f %s" : "%.3g %s", bytes, units[unit]);
  return text;
}

/// Three digits, but no exponent.
std::string formatRate(double perSecond) {
  char text[40];
  std::snprintf(text, sizeof(text), perSecond < 100 ? "%.3g steps/s" : "%.0f steps/s", perSecond);
  return text;
}

std::string formatLoss(std::optional<double> loss) {
  if (!loss)
    return "";
  char text[48];
  std::snprintf(text, sizeof(text), "  loss %.6g", *loss);
  return text;
}

/// Means of equal stretches of the finite losses, at most one per column.
std::vector<double> resample(const std::vector<double> &losses) {
  std::vector<double> finite;
  llvm::copy_if(losses, std::back_inserter(finite), [](double x) { return std::isfinite(x); });
  size_t columns = std::min(finite.size(), kCurveColumns);
  std::vector<double> means;
  for (size_t c = 0; c < columns; ++c) {
    size_t begin = c * finite.size() / columns, end = (c + 1) * finite.size() / columns;
    double sum = 0;
    for (size_t i = begin; i < end; ++i)
      sum += finite[i];
    means.push_back(sum / (end - begin));
  }
  return means;
}

} // namespace

Progress::Progress(int64_t total, bool isQuiet)
    : total_(total), isQuiet_(isQuiet), isTerminal_(isatty(STDERR_FILENO) == 1),
      start_(Clock::now()), lastDrawn_(start_ - kRedrawInterval) {}

bool Progress::isDue(int64_t done) {
  if (done == 1 || done == total_)
    return true;
  if (isTerminal_)
    return Clock::now() - lastDrawn_ >= kRedrawInterval;
  return done * 10 / total_ != (done - 1) * 10 / total_;
}

void Progress::update(int64_t done, std::optional<double> loss, int64_t bytesPerStep) {
  if (isQuiet_ || !isDue(done))
    return;
  lastDrawn_ = Clock::now();
  if (isTerminal_)
    return drawBar(done, loss, bytesPerStep);
  llvm::errs() << "step " << done << "/" << total_ << formatLoss(loss) << '\n';
}

void Progress::drawBar(int64_t done, std::optional<double> loss, int64_t bytesPerStep) {
  static const bool isUnicode = isUnicodeLocale();
  std::string bar;
  int filled = static_cast<int>(done * kBarColumns / total_);
  for (int i = 0; i < kBarColumns; ++i)
    bar += i < filled ? (isUnicode ? "█" : "#") : (isUnicode ? "░" : "-");
  std::chrono::duration<double> elapsed = lastDrawn_ - start_;
  // Return, then erase to the end of the line.
  llvm::errs() << "\r\x1b[K" << bar << "  " << done << "/" << total_ << formatLoss(loss) << "  "
               << formatRate(done / std::max(elapsed.count(), 1e-9)) << "  "
               << formatBytes(bytesPerStep) << "/step";
  llvm::errs().flush();
  isLineOpen_ = true;
}

void Progress::finish() {
  if (std::exchange(isLineOpen_, false))
    llvm::errs() << '\n';
}

bool isUnicodeLocale() {
  locale_t locale = newlocale(LC_CTYPE_MASK, "", nullptr);
  if (!locale)
    return false;
  bool isUnicode = std::strcmp(nl_langinfo_l(CODESET, locale), "UTF-8") == 0;
  freelocale(locale);
  return isUnicode;
}

void printLossCurve(llvm::raw_ostream &os, const std::vector<double> &losses, bool isUnicode) {
  std::vector<double> means = resample(losses);
  if (means.size() < 2)
    return;
  auto [least, most] = std::minmax_element(means.begin(), means.end());
  double low = *least, high = *most;
  double span = std::max(high - low, 1e-12);
  static const char *const kEighths[] = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  os << "loss\n";
  for (int line = kCurveLines - 1; line >= 0; --line) {
    // The columns' heights are read against the first and the last line.
    if (line == kCurveLines - 1 || line == 0)
      os << llvm::format("%9.4g ", line ? high : low);
    else
      os << std::string(10, ' ');
    os << (isUnicode ? "│" : "|");
    for (double mean : means) {
      // The lowest column still shows one eighth.
      int height = std::max(1, static_cast<int>((mean - low) / span * 8 * kCurveLines + 0.5));
      int eighths = std::clamp(height - 8 * line, 0, 8);
      os << (isUnicode ? kEighths[eighths] : eighths >= 4 || (line == 0 && eighths) ? "#" : " ");
    }
    os << '\n';
  }
  os << "          " << (isUnicode ? "└" : "+");
  for (size_t c = 0; c < means.size(); ++c)
    os << (isUnicode ? "─" : "-");
  os << " step " << losses.size() << '\n';
}

void printSummary(llvm::raw_ostream &os, int ranks, int64_t steps, double seconds,
                  const rt::Executor::Stats &stats) {
  double perStep = std::max(seconds / steps, 1e-9);
  os << counted(ranks, "rank") << ", " << counted(steps, "step") << ": " << formatRate(1 / perStep)
     << llvm::format(", %.3g ms/step", perStep * 1e3);
  if (ranks > 1) {
    double calls = double(stats.collectivesPerStep) / ranks;
    os << llvm::format("; per step and rank: %.4g call", calls) << (calls == 1 ? ", " : "s, ")
       << formatBytes(double(stats.bytesPerStep) / ranks) << " of payload";
  }
  os << '\n';
}

} // namespace coll::run
