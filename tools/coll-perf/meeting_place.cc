#include "tools/coll-perf/meeting_place.h"

#include "runtime/base/env.h"
#include "runtime/net/auth.h"

namespace coll::perf {

using rt::Result;

Result<rt::JobOptions> meetingPlace(int ranks, net::Fd &listener) {
  rt::JobOptions job;
  job.worldSize = ranks;
  job.iface = rt::envString(rt::EnvVar::NetIface);
  if (job.iface.empty())
    job.iface = "lo"; // all are on this machine
  Result<std::vector<net::Interface>> interfaces = net::findInterfaces(job.iface);
  if (!interfaces)
    return interfaces.status();
  Result<net::Fd> listening = net::listenOn(interfaces->front().address);
  if (!listening)
    return listening.status();
  Result<net::Address> address = net::localAddress(*listening);
  if (!address)
    return address.status();
  job.bootstrap = address->toString();
  listener = listening.take();
  uint8_t secret[32];
  COLL_RETURN_IF_ERROR(net::fillRandom(secret, sizeof(secret)));
  job.secret.assign(reinterpret_cast<const char *>(secret), sizeof(secret));
  return job;
}

} // namespace coll::perf
