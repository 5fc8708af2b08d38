#include "test/profiler/host/plugins.h"

#include "runtime/dl/library.h"

#include <cstdlib>
#include <gtest/gtest.h>

namespace coll::profiler::test {

std::string pluginPath(int version) {
  return std::string(COLL_RECORDING_PLUGINS) + "/libnccl-profiler-recording-v" +
         std::to_string(version) + ".so";
}

Recording &recordingOf(int version) {
  rt::Result<rt::dl::Library> library = rt::dl::Library::open(pluginPath(version));
  auto *function = library ? library->symbol<RecordingFunction>("collRecording") : nullptr;
  if (!function) {
    ADD_FAILURE() << library.status().toString();
    std::abort();
  }
  return *function();
}

std::shared_ptr<Plugin> recordingPlugin(int version) {
  rt::Result<std::shared_ptr<Plugin>> plugin = loadPlugin(pluginPath(version));
  if (!plugin) {
    ADD_FAILURE() << plugin.status().toString();
    std::abort();
  }
  EXPECT_EQ((*plugin)->version(), version);
  return plugin.take();
}

} // namespace coll::profiler::test
