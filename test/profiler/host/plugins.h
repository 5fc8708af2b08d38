// plugins.h - the recording plugins that the tests load, one for each version of the ABI.

#ifndef COLL_TEST_PROFILER_HOST_PLUGINS_H
#define COLL_TEST_PROFILER_HOST_PLUGINS_H

#include "runtime/profiler/host/plugin.h"
#include "test/profiler/host/recording.h"

namespace coll::profiler::test {

// Returns the file of the recording plugin of a version.
std::string pluginPath(int version);
// Returns what the plugin has recorded in this process; loads it if necessary. Ends the test if it
// cannot be loaded.
Recording &recordingOf(int version);
// Returns the plugin itself.
std::shared_ptr<Plugin> recordingPlugin(int version);

} // namespace coll::profiler::test

#endif // COLL_TEST_PROFILER_HOST_PLUGINS_H
