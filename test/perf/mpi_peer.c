/* mpi_peer [OP [BYTES...]] - time of an MPI operation, measured and printed as
 * bench-backend does. Built by the scripts. */

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const long kSizes[] = {4, 1 << 10, 16 << 10, 256 << 10, 1 << 20, 16 << 20};
enum { kNumSizes = sizeof(kSizes) / sizeof(kSizes[0]) };

static int gRank, gRanks;

static int compareTimes(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static void pingPong(const float *src, float *dst, int count) {
  if (gRank == 0)
    MPI_Send(src, count, MPI_FLOAT, 1, 0, MPI_COMM_WORLD);
  if (gRank <= 1)
    MPI_Recv(dst, count, MPI_FLOAT, 1 - gRank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  if (gRank == 1)
    MPI_Send(src, count, MPI_FLOAT, 0, 0, MPI_COMM_WORLD);
}

static void call(const char *op, float *src, float *dst, int count) {
  int share = count / gRanks > 0 ? count / gRanks : 1;
  if (!strcmp(op, "send_recv"))
    pingPong(src, dst, count);
  else if (!strcmp(op, "broadcast"))
    MPI_Bcast(src, count, MPI_FLOAT, 0, MPI_COMM_WORLD);
  else if (!strcmp(op, "all_gather"))
    MPI_Allgather(src, share, MPI_FLOAT, dst, share, MPI_FLOAT, MPI_COMM_WORLD);
  else if (!strcmp(op, "reduce_scatter"))
    MPI_Reduce_scatter_block(src, dst, share, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
  else if (!strcmp(op, "all_to_all"))
    MPI_Alltoall(src, share, MPI_FLOAT, dst, share, MPI_FLOAT, MPI_COMM_WORLD);
  else
    MPI_Allreduce(src, dst, count, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
}

static void measure(const char *op, long bytes) {
  int samples = bytes <= 16 << 10 ? 500 : bytes <= 1 << 20 ? 200 : 20;
  int batch = bytes <= 16 << 10 ? 16 : 1;
  int calls = strcmp(op, "send_recv") ? 1 : 2;
  size_t room = bytes + gRanks * sizeof(float);
  float *data = malloc(room), *sums = calloc(1, room);
  double *times = malloc(samples * sizeof(double));
  for (size_t i = 0; i < room / sizeof(float); ++i)
    data[i] = 1;
  for (int i = -samples / 10 - 1; i < samples; ++i) {
    double begin = MPI_Wtime();
    for (int j = 0; j < batch; ++j)
      call(op, data, sums, bytes / sizeof(float));
    if (i >= 0)
      times[i] = (MPI_Wtime() - begin) * 1e6 / batch;
  }
  qsort(times, samples, sizeof(double), compareTimes);
  if (gRank == 0)
    printf("%ld %.3f\n", bytes, times[samples / 2] / calls);
  fflush(stdout);
  free(data);
  free(sums);
  free(times);
}

int main(int argc, char **argv) {
  const char *op = argc > 1 ? argv[1] : "all_reduce";
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &gRank);
  MPI_Comm_size(MPI_COMM_WORLD, &gRanks);
  int sizes = argc > 2 ? argc - 2 : kNumSizes;
  for (int s = 0; s < sizes; ++s)
    measure(op, argc > 2 ? atol(argv[s + 2]) : kSizes[s]);
  MPI_Finalize();
  return 0;
}
