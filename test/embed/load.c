/* load.c - a host that has no compiler: runs one step of a compiled one (w + w * x or the like)
 * whose state is f32[2] and whose batch is f32[2], and prints the state.
 *
 * usage: embed-load STEP.so */

#include "embed/c/coll.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void check(coll_error error) {
  if (error.id == 0)
    return;
  fprintf(stderr, "embed-load: %s\n", coll_error_message(error));
  exit(1);
}

static coll_tensor wrap(const float *data) {
  static const int64_t shape[] = {2};
  coll_tensor tensor;
  coll_tensor_view view;
  memset(&view, 0, sizeof(view));
  view.struct_size = sizeof(view);
  view.dtype = COLL_F32;
  view.num_dims = 1;
  view.shape = shape;
  view.data = data;
  check(coll_tensor_wrap(&view, NULL, NULL, &tensor));
  return tensor;
}

int main(int argc, char **argv) {
  const float w[] = {1, 2}, x[] = {3, 4};
  coll_context context;
  coll_executable step;
  coll_instance instance;
  coll_tensor state = wrap(w), batch = wrap(x), now;
  coll_executable_info info;
  coll_tensor_view view;
  if (argc != 2)
    return 2;
  check(coll_context_create(NULL, &context));
  check(coll_load(context, argv[1], &step));
  check(coll_instance_create(step, NULL, &instance));
  check(coll_instance_set_state(instance, &state, 1));
  check(coll_instance_step(instance, &batch, 1, NULL, 0));
  check(coll_instance_state(instance, 0, &now));
  memset(&info, 0, sizeof(info));
  info.struct_size = sizeof(info);
  check(coll_executable_describe(step, &info));
  memset(&view, 0, sizeof(view));
  view.struct_size = sizeof(view);
  check(coll_tensor_describe(now, &view));
  printf("%d compilers, %d rank, state %g %g\n", (int)coll_has_compiler(), (int)info.num_ranks,
         ((const float *)view.data)[0], ((const float *)view.data)[1]);
  check(coll_instance_free(instance));
  return 0;
}
