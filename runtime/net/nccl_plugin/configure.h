// configure.h - the variables of NCCL that the plugin sets.
//
// Stock NCCL does not check that device type UNPACK can work: with another protocol it hangs, with
// other algorithms or registered buffers it gives wrong data. So the plugin sets the variables that
// NCCL reads later (after the net plugin's init), and refuses to start if the user has set
// conflicting values. Variables of NCCL are set only here.
//
// NCCL sizes its pipeline for one socket per channel: with two channels and small chunks several
// sockets are idle. Over tcp the plugin asks for more if the user has set nothing. One of these
// settings comes too late for NCCL 2.28 and later: they read NCCL_NCHANNELS_PER_NET_PEER with the
// communicator's configuration, before they load a plugin, so only the user's export has an effect.

#ifndef COLL_RUNTIME_NET_NCCL_PLUGIN_CONFIGURE_H
#define COLL_RUNTIME_NET_NCCL_PLUGIN_CONFIGURE_H

#include "runtime/base/status.h"

#include <string_view>
#include <vector>

namespace coll::net::nccl {

struct NcclVariable {
  const char *name;
  const char *value; // set if the user has set nothing
  const char *why;
  bool (*accepts)(std::string_view text); // values that the user may have set instead
};

// The variables that UNPACK needs, for documentation, tests and configureForUnpack().
const std::vector<NcclVariable> &unpackVariables();

// Sets the variables. If a setting of the user conflicts: kCollInvalidCall, with one line that
// names variable, value and reason; nothing is set then. NCCL calls init before its other threads
// run; the application must not change its environment meanwhile.
rt::Status configureForUnpack();

// Asks for at least `channels` channels (or NCCL_NCHANNELS_PER_NET_PEER) and for chunks that
// several sockets can share, unless the user has chosen number, chunks or buffers. Does nothing for
// 0. Called at the same time as configureForUnpack(). True if NCCL_NCHANNELS_PER_NET_PEER was not
// set before.
bool configureChannels(int64_t channels);

} // namespace coll::net::nccl

#endif // COLL_RUNTIME_NET_NCCL_PLUGIN_CONFIGURE_H
