// plugins.h - the recording plugins that the tests load, one for each version of the ABI.

#ifndef COLL_TEST_PROFILER_HOST_PLUGINS_H
#define COLL_TEST_PROFILER_HOST_PLUGINS_H

#include "runtime/profiler/host/plugin.h"
#include "test/profiler/host/recording.h"

namespace coll::profiler::test {

// The file of the recording plugin of a version.
std::string pluginPath(int version);
// What it has been told in this process; loads it. Never null: a test ends where it cannot be.
Recording &recordingOf(int version);
// The plugin itself.
std::shared_ptr<Plugin> recordingPlugin(int version);

} // namespace coll::profiler::test

#endif // COLL_TEST_PROFILER_HOST_PLUGINS_H
