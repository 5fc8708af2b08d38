/* mpi_peer - time of MPI_Allreduce, printed as bench-backend does. Built by the script. */

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static const long kSizes[] = {4, 1 << 10, 16 << 10, 256 << 10, 1 << 20, 16 << 20};

static int compareTimes(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

int main(int argc, char **argv) {
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (size_t s = 0; s < sizeof(kSizes) / sizeof(kSizes[0]); ++s) {
    long bytes = kSizes[s];
    int count = bytes <= 16 << 10 ? 2000 : bytes <= 1 << 20 ? 200 : 20;
    float *data = calloc(1, bytes), *sums = malloc(bytes);
    double *times = malloc(count * sizeof(double));
    for (int i = -count / 10 - 1; i < count; ++i) {
      double begin = MPI_Wtime();
      MPI_Allreduce(data, sums, bytes / sizeof(float), MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
      if (i >= 0)
        times[i] = (MPI_Wtime() - begin) * 1e6;
    }
    qsort(times, count, sizeof(double), compareTimes);
    if (rank == 0)
      printf("%ld %.2f\n", bytes, times[count / 2]);
    free(data);
    free(sums);
    free(times);
  }
  MPI_Finalize();
  return 0;
}
