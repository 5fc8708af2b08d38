/* A host in plain C: compiles a step for 2 ranks, trains three steps, and reads what the compiler
 * decided. Exits with 0 if all is as it should be.
 *
 *   cmake --install build --component embed --prefix /opt/coll
 *   cc examples/10_host.c \
 *     $(PKG_CONFIG_PATH=/opt/coll/lib/pkgconfig pkg-config --cflags --libs coll) -o host
 *   ./host
 */

#include <coll/coll.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* w += sum of the batch's rows; returns the sum of x as "loss". */
static const char kStep[] =
    "func.func @step(%w: tensor<4xf32> {coll.role = \"state\", coll.name = \"w\"},\n"
    "                %x: tensor<8x4xf32> {coll.role = \"batch\", coll.name = \"x\"})\n"
    "    -> (tensor<4xf32>, tensor<f32> {coll.name = \"loss\"}) {\n"
    "  %zero = arith.constant 0.0 : f32\n"
    "  %rows = linalg.fill ins(%zero : f32) outs(%w : tensor<4xf32>) -> tensor<4xf32>\n"
    "  %sum = linalg.reduce {arith.addf} ins(%x : tensor<8x4xf32>)\n"
    "      outs(%rows : tensor<4xf32>) dimensions = [0]\n"
    "  %new = arith.addf %w, %sum : tensor<4xf32>\n"
    "  %empty = tensor.empty() : tensor<f32>\n"
    "  %none = linalg.fill ins(%zero : f32) outs(%empty : tensor<f32>) -> tensor<f32>\n"
    "  %loss = linalg.reduce {arith.addf} ins(%sum : tensor<4xf32>)\n"
    "      outs(%none : tensor<f32>) dimensions = [0]\n"
    "  return %new, %loss : tensor<4xf32>, tensor<f32>\n"
    "}\n";

static void check(coll_error error, const char *what) {
  size_t i;
  if (error.id == 0)
    return;
  fprintf(stderr, "%s: %s (%s) at %s\n", what, coll_error_message(error),
          coll_code_name(coll_error_code(error)), coll_error_location(error));
  for (i = 0; i < coll_error_num_notes(error); ++i)
    fprintf(stderr, "  %s\n", coll_error_note(error, i));
  coll_error_free(error);
  exit(1);
}

static coll_tensor wrap(const float *data, int32_t num_dims, const int64_t *shape) {
  coll_tensor tensor;
  coll_tensor_view view;
  memset(&view, 0, sizeof(view));
  view.struct_size = sizeof(view);
  view.dtype = COLL_F32;
  view.num_dims = num_dims;
  view.shape = shape;
  view.data = data;
  check(coll_tensor_wrap(&view, NULL, NULL, &tensor), "wrap");
  return tensor;
}

static float first(coll_tensor tensor) {
  coll_tensor_view view;
  memset(&view, 0, sizeof(view));
  view.struct_size = sizeof(view);
  check(coll_tensor_describe(tensor, &view), "describe");
  return *(const float *)view.data;
}

static void explain(coll_executable step) {
  size_t i;
  coll_executable_info info;
  memset(&info, 0, sizeof(info));
  info.struct_size = sizeof(info);
  check(coll_executable_describe(step, &info), "describe");
  printf("mesh %s, %d ranks\n", info.mesh, info.num_ranks);
  for (i = 0; i < info.num_collectives; ++i) {
    coll_collective_info op;
    memset(&op, 0, sizeof(op));
    op.struct_size = sizeof(op);
    check(coll_executable_collective(step, i, &op), "collective");
    printf("%s of %ld bytes: %s\n", op.kind, (long)op.bytes, op.reason);
  }
}

int main(void) {
  const int64_t w_shape[] = {4}, x_shape[] = {8, 4};
  float w[4] = {1, 1, 1, 1}, x[32];
  coll_context context;
  coll_executable step;
  coll_instance training;
  coll_compile_options options;
  coll_tensor state, batch, loss;
  int i;
  for (i = 0; i < 32; ++i)
    x[i] = 0.5f;
  check(coll_context_create(NULL, &context), "context");
  check(coll_compile_options_init(&options, sizeof(options)), "options");
  options.ranks = 2;
  check(coll_compile(context, kStep, strlen(kStep), &options, &step), "compile");
  explain(step);
  check(coll_instance_create(step, NULL, &training), "instance");
  state = wrap(w, 1, w_shape);
  batch = wrap(x, 2, x_shape);
  check(coll_instance_set_state(training, &state, 1), "state");
  for (i = 0; i < 3; ++i) {
    check(coll_instance_step(training, &batch, 1, &loss, 1), "step");
    if (first(loss) != 16)
      return 2;
    check(coll_tensor_free(loss), "free");
  }
  check(coll_tensor_free(state), "free");
  check(coll_instance_state(training, 0, &state), "state");
  printf("w[0] = %g\n", first(state));
  if (first(state) != 13)
    return 3;
  check(coll_tensor_free(state), "free");
  check(coll_tensor_free(batch), "free");
  check(coll_instance_free(training), "free");
  check(coll_executable_free(step), "free");
  check(coll_context_free(context), "free");
  return 0;
}
