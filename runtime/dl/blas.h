// blas.h - the matrix library, found when the program runs.

#ifndef COLL_RUNTIME_DL_BLAS_H
#define COLL_RUNTIME_DL_BLAS_H

namespace coll::rt::dl {

// The functions that are used, as cblas.h declares them with 32-bit integers. The enums are
// plain integers: the values are part of the CBLAS standard.
struct Blas {
  static constexpr int kRowMajor = 101;
  static constexpr int kNoTrans = 111;
  static constexpr int kTrans = 112;

  void (*sgemm)(int layout, int transA, int transB, int m, int n, int k, float alpha,
                const float *a, int lda, const float *b, int ldb, float beta, float *c,
                int ldc) = nullptr;
  void (*dgemm)(int layout, int transA, int transB, int m, int n, int k, double alpha,
                const double *a, int lda, const double *b, int ldb, double beta, double *c,
                int ldc) = nullptr;
  // Several threads may be in these functions at once. False for OpenBLAS built without
  // threads: its work buffers are then shared, and concurrent calls give wrong results.
  bool concurrent = true;
  // It has kernels for small matrices, which use no buffer and take no lock: OpenBLAS for AVX-512.
  bool hasSmallKernels = false;
};

// Loads the library that COLL_BLAS names, at the first call, and sets it to one thread. Null, with
// one warning in the log, if there is none. Changes the environment while it loads: make the first
// call while no other thread reads the environment.
const Blas *blas();

} // namespace coll::rt::dl

#endif // COLL_RUNTIME_DL_BLAS_H
