// open_mpi.h - the few calls of Open MPI that ranks started by mpirun need. Its library is found
// when the program runs; nothing of it is needed to build.

#ifndef COLL_TEST_GPU_OPEN_MPI_H
#define COLL_TEST_GPU_OPEN_MPI_H

#include "runtime/dl/library.h"

namespace coll {

// Belongs to the thread that made it.
class OpenMpi {
public:
  // kCollUnsupported if there is no Open MPI.
  static rt::Result<OpenMpi> start() {
    rt::Result<rt::dl::Library> library = rt::dl::Library::open("libmpi.so.40");
    if (!library)
      return library.status().annotate("there is no Open MPI here");
    OpenMpi mpi;
    auto *init = library->symbol<int(int *, char ***)>("MPI_Init");
    auto *rank = library->symbol<int(void *, int *)>("MPI_Comm_rank");
    auto *size = library->symbol<int(void *, int *)>("MPI_Comm_size");
    mpi.world_ = library->symbol<void>("ompi_mpi_comm_world");
    mpi.byte_ = library->symbol<void>("ompi_mpi_byte");
    mpi.broadcast_ = library->symbol<int(void *, int, void *, int, void *)>("MPI_Bcast");
    mpi.finalize_ = library->symbol<int()>("MPI_Finalize");
    if (!init || !rank || !size || !mpi.world_ || !mpi.byte_ || !mpi.broadcast_ || !mpi.finalize_)
      return rt::Status(kCollUnsupported, "libmpi.so.40 is no Open MPI");
    if (init(nullptr, nullptr) != 0 || rank(mpi.world_, &mpi.rank_) != 0 ||
        size(mpi.world_, &mpi.size_) != 0)
      return rt::Status(kCollPeer, "MPI_Init failed");
    return mpi;
  }

  int rank() const { return rank_; }
  int size() const { return size_; }
  // Copies rank 0's bytes at `data` to every rank.
  bool broadcast(void *data, int bytes) const {
    return broadcast_(data, bytes, byte_, 0, world_) == 0;
  }
  bool finish() const { return finalize_() == 0; }

private:
  void *world_ = nullptr, *byte_ = nullptr;
  int (*broadcast_)(void *, int, void *, int, void *) = nullptr;
  int (*finalize_)() = nullptr;
  int rank_ = 0, size_ = 1;
};

} // namespace coll

#endif // COLL_TEST_GPU_OPEN_MPI_H
