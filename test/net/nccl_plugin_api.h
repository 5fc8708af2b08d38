// nccl_plugin_api.h - the plugin's tables of all versions behind one interface, so that
// a test can drive each of them as the NCCL that uses it would.

#ifndef COLL_TEST_NET_NCCL_PLUGIN_API_H
#define COLL_TEST_NET_NCCL_PLUGIN_API_H

#include "runtime/dl/library.h"
#include "runtime/net/nccl_plugin/abi.h"

#include <memory>
#include <string>

namespace coll::net::nccl::test {

struct Properties {
  std::string name;
  int pointers = 0, speedMbps = 0, maxRecvs = 0, maxComms = 0, deviceType = -1, deviceVersion = -1;
  size_t maxP2pBytes = 0; // 0 before v9
};

// The table of one version. The calls are NCCL's, without the parameters that differ between
// versions.
class Api {
public:
  virtual ~Api() = default;
  int version = 0;
  bool hasProfiler() const { return version >= 10; }

  virtual NcclResult init(NcclLogger logger, NcclProfilerCallback profiler) = 0;
  virtual NcclResult finalize() = 0; // nothing before v11
  virtual NcclResult devices(int *count) = 0;
  virtual NcclResult properties(int device, Properties &to) = 0;
  virtual NcclResult listen(int device, void *handle, void **comm) = 0;
  virtual NcclResult connect(int device, void *handle, void **comm) = 0;
  virtual NcclResult accept(void *listenComm, void **comm, NcclDeviceHandle **handle) = 0;
  virtual NcclResult regMr(void *comm, void *data, size_t bytes, int type, void **memory) = 0;
  virtual NcclResult deregMr(void *comm, void *memory) = 0;
  virtual NcclResult isend(void *comm, void *data, size_t bytes, int tag, void *memory,
                           void *parent, void **request) = 0;
  virtual NcclResult irecv(void *comm, void *data, size_t bytes, int tag, void *memory,
                           void *parent, void **request) = 0;
  // A grouped receive, which the plugin does not support.
  virtual NcclResult irecvTwo(void *comm, void **request) = 0;
  virtual NcclResult iflush(void *comm, void *data, int bytes, void *memory, void **request) = 0;
  virtual NcclResult test(void *request, int *done, int *bytes) = 0;
  virtual NcclResult consumed(void *comm, void *request) = 0;
  virtual NcclResult closeSend(void *comm) = 0;
  virtual NcclResult closeRecv(void *comm) = 0;
  virtual NcclResult closeListen(void *comm) = 0;
};

// Null if the library lacks the version's symbol.
std::unique_ptr<Api> findApi(const rt::dl::Library &library, int version);

} // namespace coll::net::nccl::test

#endif // COLL_TEST_NET_NCCL_PLUGIN_API_H
