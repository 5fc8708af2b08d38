/* coll.h - compile a training step, run it on N ranks, and read what the compiler decided.
 *
 *   coll_context context;     coll_context_create(NULL, &context);
 *   coll_executable step;     coll_compile(context, text, bytes, &options, &step);
 *   coll_instance training;   coll_instance_create(step, NULL, &training);
 *   coll_instance_set_state(training, state, num_state);
 *   coll_instance_step(training, batch, num_batch, results, num_results);
 *   coll_instance_state(training, 0, &weights);
 *
 * Two libraries export these functions: libcoll.so (compiler and runtime) and libcollrt.so (runtime
 * alone, where coll_compile() returns COLL_UNSUPPORTED).
 *
 * Errors. A call that can fail returns a coll_error. Its id is 0 if the call succeeded; else the
 * caller owns the error and frees it. A call that failed has changed nothing, unless it says so.
 *
 * Handles. Objects are named by handles, small structs that are copied freely. A handle that was
 * freed, never made, or is of another kind is refused with COLL_INVALID_HANDLE. Freeing an object
 * that other calls still use is safe: it lives until they return. Freeing a handle whose id is 0
 * does nothing. An executable outlives its context, an instance its executable.
 *
 * Threads. Any function may be called from any thread. Steps of one instance run one after
 * another, in the order of the calls; everything else runs at the same time.
 *
 * The libraries never end the process, install no signal handlers and need no environment
 * variables. Structs begin with their size, so that programs built against an older or newer header
 * keep working; COLL_INIT(struct) sets it and zeros the rest.
 */

#ifndef COLL_EMBED_C_COLL_H
#define COLL_EMBED_C_COLL_H

#include <stddef.h>
#include <stdint.h>

#define COLL_VERSION_MAJOR 0
#define COLL_VERSION_MINOR 1

#if defined(_WIN32)
#error "coll runs on Linux"
#endif
#define COLL_EXPORT __attribute__((visibility("default")))

#ifdef __cplusplus
/* Compilers would warn of members that a C++ initializer leaves out. */
namespace coll_detail {
template <typename T>
T initialized() {
  T value{};
  value.struct_size = sizeof(T);
  return value;
}
} // namespace coll_detail
#define COLL_INIT(type) (::coll_detail::initialized<type>())
extern "C" {
#else
#define COLL_INIT(type)                                                                            \
  (type) { sizeof(type) }
#endif

/* DLPack's structs, whose header the caller includes if it uses them. */
struct DLManagedTensor;
struct DLManagedTensorVersioned;

/* ---------------------------------------------------------------- codes and handles */

typedef enum coll_code {
  COLL_OK = 0,
  COLL_INVALID_ARGUMENT = 1, /* the arguments are wrong */
  COLL_UNSUPPORTED = 2,      /* this library or backend cannot do it */
  COLL_LINK = 3,             /* a connection failed */
  COLL_PEER = 4,             /* a rank died or gave up */
  COLL_TIMEOUT = 5,          /* a deadline passed */
  COLL_MISMATCH = 6,         /* ranks disagree on an operation */
  COLL_ABORTED = 7,          /* ended because another rank failed */
  COLL_DEVICE = 8,           /* a device failed, or there is too little memory */
  COLL_INTERNAL = 9,
  COLL_INVALID_HANDLE = 10, /* freed, never made, or of another kind */
  COLL_COMPILE = 11,        /* the step was refused; location and notes say where and why */
  COLL_CANCELLED = 12       /* by coll_instance_cancel() or coll_instance_free() */
} coll_code;

/* Element types. An unsigned integer has the code of its signed form, except as COLL_U8. */
typedef enum coll_dtype {
  COLL_F32 = 0,
  COLL_F64 = 1,
  COLL_F16 = 2,
  COLL_BF16 = 3,
  COLL_I8 = 4,
  COLL_I16 = 5,
  COLL_I32 = 6,
  COLL_I64 = 7,
  COLL_BOOL = 8, /* one byte, 0 or 1 */
  COLL_F8E4M3FN = 9,
  COLL_F8E5M2 = 10,
  COLL_U8 = 11
} coll_dtype;

/* clang-format off */
typedef struct coll_error      { uint64_t id; } coll_error;
typedef struct coll_context    { uint64_t id; } coll_context;
typedef struct coll_executable { uint64_t id; } coll_executable;
typedef struct coll_instance   { uint64_t id; } coll_instance;
typedef struct coll_tensor     { uint64_t id; } coll_tensor;
typedef struct coll_request    { uint64_t id; } coll_request;
/* clang-format on */

/* ---------------------------------------------------------------- library */

/* Major version in the upper 16 bits, minor version in the lower. */
COLL_EXPORT uint32_t coll_version(void);
/* Whether coll_compile() compiles. */
COLL_EXPORT int32_t coll_has_compiler(void);
/* The name of a code: "invalid argument", "timeout", …; static text. */
COLL_EXPORT const char *coll_code_name(int32_t code);
/* Bytes of one element; 0 if `dtype` is not an element type. */
COLL_EXPORT size_t coll_dtype_size(int32_t dtype);

/* ---------------------------------------------------------------- errors */

/* COLL_OK if the id is 0. */
COLL_EXPORT int32_t coll_error_code(coll_error error);
/* Texts of an error are never null; they live until the error is freed. */
COLL_EXPORT const char *coll_error_message(coll_error error);
/* The place in the step's text or its Python line, such as "train.py:12:3"; may be empty. */
COLL_EXPORT const char *coll_error_location(coll_error error);
COLL_EXPORT size_t coll_error_num_notes(coll_error error);
COLL_EXPORT const char *coll_error_note(coll_error error, size_t index);
COLL_EXPORT void coll_error_free(coll_error error);

/* ---------------------------------------------------------------- contexts */

typedef enum coll_severity {
  COLL_NOTE = 0,
  COLL_WARNING = 1,
  COLL_ERROR = 2,
  COLL_REMARK = 3 /* what the compiler decided, and what would be faster */
} coll_severity;

/* Receives the compiler's messages while it works, and the runtime's warnings. Called from the
 * thread on which they arise; must not call into the library. */
typedef void (*coll_log_callback)(void *user, int32_t severity, const char *text);

typedef struct coll_context_options {
  size_t struct_size;
  coll_log_callback log; /* null: nothing is written anywhere */
  void *log_user;
  const char *cache_folder; /* of compiled steps; null: every step is compiled */
  uint64_t cache_bytes;     /* 0: 1 GiB */
} coll_context_options;

/* `options` may be null. */
COLL_EXPORT coll_error coll_context_create(const coll_context_options *options,
                                           coll_context *context);
COLL_EXPORT coll_error coll_context_free(coll_context context);

/* ---------------------------------------------------------------- compiling */

typedef struct coll_compile_options {
  size_t struct_size;
  const char *name;     /* of the step in messages; null: "step" */
  int32_t ranks;        /* 0: as the step says, else 1 */
  int32_t state_args;   /* the first K arguments are state; -1: by roles or by their types */
  const char *mesh;     /* "dp=4", "dp=2,tp=2"; null: as the step says */
  const char *strategy; /* as of coll-run --strategy, "fsdp,tensor"; null: by the number of ranks */
  int32_t skip_proof;   /* 1: do not prove that the ranks cannot deadlock */
  int32_t keep_stages;  /* 1: keep the IR after each pass (coll_executable_stage) */
  const char *const *shards; /* shardings of arguments by name, "params*kernel: [-, tp]" */
  size_t num_shards;
  const char
      *root; /* each parameter is updated at its root: "hash", "balanced", "shard"; or null */
  const char
      *route; /* of gradients to roots and of parameters back: "direct", "ring"; null: direct */
  int32_t accumulate; /* micro-batches that each rank's batch is cut into; 0 or 1: none */
  /* 1: the text is not trusted. It is parsed and imported by a process of its own, which can crash
   * or be ended without harm; the call then fails with COLL_COMPILE or COLL_TIMEOUT. The stages
   * (keep_stages) begin with the imported step. */
  int32_t parse_apart;
  const char *parser;        /* the program; null: coll-parser in the library's folder */
  int64_t parser_timeout_us; /* 0: one minute */
  uint64_t parser_memory;    /* bytes that the parser may use; 0: 4 GiB */
  int32_t stages; /* of a pipeline, the first axis "pp" of the mesh, if there is one; 0: none */
  int32_t micro_batches;             /* that a pipeline cuts the batch into; 0: 1 */
  const char *schedule;              /* of a pipeline, as of coll-run --schedule; null: "1f1b" */
  const char *const *stage_patterns; /* stages of parameters or scopes, "layer_1*: 1" */
  size_t num_stage_patterns;
  const char *device;              /* "cpu", "gpu", or a kind of GPU, "gpu:sm_90"; null: "cpu" */
  const char *matmul_precision;    /* what products on GPUs may round f32 factors to: "highest",
                                      "tf32", "bf16"; null: "highest" */
  int32_t staleness;               /* steps that gradients are applied late, 0 to 64 */
  const char *const *stage_meshes; /* of single stages of a pipeline, "0: dp=4" */
  size_t num_stage_meshes;
} coll_compile_options;

/* Fills in the defaults; `size` is sizeof(coll_compile_options). */
COLL_EXPORT coll_error coll_compile_options_init(coll_compile_options *options, size_t size);

/* `text`: StableHLO in generic form, MLIR of any level, or MLIR's bytecode. It is not needed any
 * more when the call returns. Bytecode, and a text whose last byte is zero, are read where they
 * are; others are copied first. */
COLL_EXPORT coll_error coll_compile(coll_context context, const void *text, size_t bytes,
                                    const coll_compile_options *options,
                                    coll_executable *executable);
/* The work of the program coll_compile_options.parser: serves one text that comes over its standard
 * input, and returns the exit code. coll-parser is a main() that calls it. */
COLL_EXPORT int32_t coll_parser_main(void);
/* Loads a step that coll-compile wrote: a shared object, which becomes code of this process and
 * stays loaded. Load only files that you trust as much as a program. */
COLL_EXPORT coll_error coll_load(coll_context context, const char *path,
                                 coll_executable *executable);
COLL_EXPORT coll_error coll_executable_free(coll_executable executable);

/* ---------------------------------------------------------------- introspection
 *
 * The caller sets struct_size. Texts and arrays live until the executable is freed. */

typedef struct coll_executable_info {
  size_t struct_size;
  const char *mesh; /* "dp=4,tp=2"; empty: one device */
  int32_t num_ranks;
  int32_t num_classes; /* groups of ranks that run the same program */
  int32_t is_proved;   /* 1: the ranks cannot mismatch or deadlock; 0: unknown */
  int32_t is_from_cache;
  size_t num_args;
  size_t num_results;
  size_t num_state;   /* arguments that are state */
  size_t num_batch;   /* the others */
  size_t num_outputs; /* results that update no state: what a step returns */
  size_t num_collectives;
  size_t num_stages;
  size_t num_messages;
  int32_t is_on_gpu; /* 1: its ranks keep their buffers on GPUs, and share those that are there */
} coll_executable_info;
COLL_EXPORT coll_error coll_executable_describe(coll_executable executable,
                                                coll_executable_info *info);

typedef struct coll_value_info {
  size_t struct_size;
  const char *name;     /* may be empty */
  const char *role;     /* "state", "batch", "output" */
  const char *sharding; /* "[{\"dp\"}, {}]" */
  int32_t dtype;
  int32_t num_dims;
  const int64_t *shape;       /* of the whole tensor */
  const int64_t *local_shape; /* of each rank's block */
  int32_t updates;            /* results: the argument that it replaces, or -1 */
} coll_value_info;
COLL_EXPORT coll_error coll_executable_arg(coll_executable executable, size_t index,
                                           coll_value_info *info);
COLL_EXPORT coll_error coll_executable_result(coll_executable executable, size_t index,
                                              coll_value_info *info);

typedef struct coll_collective_info {
  size_t struct_size;
  const char *kind; /* "all_reduce" */
  const char *name; /* of the tensor that it serves; may be empty */
  const char *location;
  const char *reason;
  const char *reduction; /* "sum"; empty if it reduces nothing */
  int32_t dtype;         /* -1: the operation has no elements */
  int32_t is_init;       /* 1: in the initialisation, not in each step */
  int32_t rank_class;
  int32_t group_size; /* ranks of one group */
  int64_t bytes;      /* of each rank's larger side */
} coll_collective_info;
COLL_EXPORT coll_error coll_executable_collective(coll_executable executable, size_t index,
                                                  coll_collective_info *info);

/* Memory of one rank, in bytes. */
typedef struct coll_memory_info {
  size_t struct_size;
  int64_t state; /* both copies of what the step does not update in place */
  int64_t batch; /* on GPUs twice: the batch of a queued step is copied ahead of time */
  int64_t outputs;
  int64_t temporaries; /* at their peak */
} coll_memory_info;
COLL_EXPORT coll_error coll_executable_memory(coll_executable executable, int32_t rank,
                                              coll_memory_info *info);

/* The IR after a pass, for executables compiled with keep_stages. */
typedef struct coll_stage_info {
  size_t struct_size;
  const char *name; /* "input", "propagate", … */
  const char *text;
  size_t bytes;
} coll_stage_info;
COLL_EXPORT coll_error coll_executable_stage(coll_executable executable, size_t index,
                                             coll_stage_info *info);

/* A message of the compiler about the step. */
typedef struct coll_message_info {
  size_t struct_size;
  int32_t severity;
  const char *location; /* may be empty */
  const char *text;
} coll_message_info;
COLL_EXPORT coll_error coll_executable_message(coll_executable executable, size_t index,
                                               coll_message_info *info);

/* ---------------------------------------------------------------- tensors
 *
 * A tensor is memory of the host with a type. The library reads tensors given to a call until the
 * call returns (an asynchronous one: until its request is complete). A dense tensor at an address
 * that is a multiple of 64 is read where it is; another is copied. */

/* Called once, from any thread, when the library no longer needs the memory. */
typedef void (*coll_deleter)(void *user);

typedef struct coll_tensor_view {
  size_t struct_size;
  int32_t dtype;
  int32_t num_dims;
  const int64_t *shape;
  const int64_t *strides; /* in elements; null: dense, row-major */
  const void *data;
} coll_tensor_view;

/* Borrows the memory until the tensor is freed and no call uses it. If `deleter` is not null the
 * memory is donated: the library calls deleter(user) then. If the call fails the memory stays
 * the caller's. */
COLL_EXPORT coll_error coll_tensor_wrap(const coll_tensor_view *view, coll_deleter deleter,
                                        void *user, coll_tensor *tensor);
/* Takes a tensor of DLPack, and calls its deleter as coll_tensor_wrap() does. Only memory of the
 * host is taken. If the call fails the tensor stays the caller's. */
COLL_EXPORT coll_error coll_tensor_from_dlpack(struct DLManagedTensorVersioned *managed,
                                               coll_tensor *tensor);
COLL_EXPORT coll_error coll_tensor_from_dlpack_unversioned(struct DLManagedTensor *managed,
                                                           coll_tensor *tensor);
/* The tensor as DLPack, without a copy; it keeps the memory alive by itself. */
COLL_EXPORT coll_error coll_tensor_to_dlpack(coll_tensor tensor,
                                             struct DLManagedTensorVersioned **managed);
COLL_EXPORT coll_error coll_tensor_to_dlpack_unversioned(coll_tensor tensor,
                                                         struct DLManagedTensor **managed);
/* Shape, strides and data live until the tensor is freed. */
COLL_EXPORT coll_error coll_tensor_describe(coll_tensor tensor, coll_tensor_view *view);
COLL_EXPORT coll_error coll_tensor_free(coll_tensor tensor);

/* ---------------------------------------------------------------- running */

typedef struct coll_instance_options {
  size_t struct_size;
  const char *backend;  /* "threads" (or null: all ranks in this process), "net", "plugin:PATH" */
  const char *affinity; /* processors of the ranks' threads; null: any */
  int64_t timeout_us;   /* longest wait for the peers of one operation; 0: one minute */
  /* A job of several processes, one rank each. world_size 0: all ranks are in this process. */
  int32_t rank;
  int32_t world_size;
  const char *bootstrap; /* host:port of rank 0 */
  const char *secret;    /* of at least 16 characters, the same in all processes */
  const char *interface; /* network interface; null: any */
} coll_instance_options;

/* Starts the ranks of a compiled step. `options` may be null. */
COLL_EXPORT coll_error coll_instance_create(coll_executable executable,
                                            const coll_instance_options *options,
                                            coll_instance *instance);
/* Ends the ranks. Running and queued steps are cancelled; blocks until the queued ones have ended,
 * unless it is called from a step's callback. */
COLL_EXPORT coll_error coll_instance_free(coll_instance instance);

/* Sets all state arguments, in order. May be called again, to start over. */
COLL_EXPORT coll_error coll_instance_set_state(coll_instance instance, const coll_tensor *state,
                                               size_t num_state);
/* The state argument's current value, by its index among the state arguments. In a job of several
 * processes all call it; only rank 0 gets a tensor, the others a handle whose id is 0. */
COLL_EXPORT coll_error coll_instance_state(coll_instance instance, size_t index,
                                           coll_tensor *tensor);
/* The index of the state argument that has this name. */
COLL_EXPORT coll_error coll_instance_find_state(coll_instance instance, const char *name,
                                                size_t *index);

/* Runs one step. `batch`: the arguments that are not state, in order. `results` gets the results
 * that update no state; num_results is their number, or 0: they are dropped. After an error in
 * a step the state is undefined, and later steps fail with the first cause. */
COLL_EXPORT coll_error coll_instance_step(coll_instance instance, const coll_tensor *batch,
                                          size_t num_batch, coll_tensor *results,
                                          size_t num_results);

/* Called on a thread of the library when a step is complete and the request has its outcome. May
 * call into the library, but not wait for another step of the same instance. */
typedef void (*coll_step_callback)(void *user, coll_request request);

/* Queues a step and returns. `callback` may be null. The caller frees the request; that does not
 * cancel the step. On GPUs the batch of a step that waits is copied while the one before it
 * computes: borrowed tensors of a batch must not change from this call until the step is complete.
 */
COLL_EXPORT coll_error coll_instance_start(coll_instance instance, const coll_tensor *batch,
                                           size_t num_batch, coll_step_callback callback,
                                           void *user, coll_request *request);
/* Blocks until the step is complete or timeout_us have passed (-1: for ever), and returns the
 * step's error, or COLL_TIMEOUT: the step goes on then. Each result can be taken once. */
COLL_EXPORT coll_error coll_request_wait(coll_request request, int64_t timeout_us,
                                         coll_tensor *results, size_t num_results);
COLL_EXPORT coll_error coll_request_free(coll_request request);

/* Ends the running step at its next communication, and those that wait, with COLL_CANCELLED. The
 * instance runs no more steps. */
COLL_EXPORT coll_error coll_instance_cancel(coll_instance instance);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* COLL_EMBED_C_COLL_H */
