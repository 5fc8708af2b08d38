//===- passes.td - the passes of coll ---------------------------*- tablegen -*-===//
//
// One stem everywhere: the flag coll-split-ranks is SplitRanksPass in
// split_ranks.cc, tested in test/passes/split-ranks/.
//
//===--------------------------------------------------------------------------===//

#ifndef COLL_PASSES_PASSES_TD
#define COLL_PASSES_PASSES_TD

include "mlir/Pass/PassBase.td"

//===----------------------------------------------------------------------===//
// import/: front ends (to L0)
//===----------------------------------------------------------------------===//

def ImportStablehloPass : Pass<"coll-import-stablehlo", "::mlir::ModuleOp"> {
  let summary = "StableHLO in generic form to linalg, tensor, arith, math, scf and coll";
  let description = [{
    Reads a training step as JAX prints it (`print_generic_op_form=True`), inlines
    its helper functions into `@step`, and marks each argument with its role and
    name. Operations that cannot be imported are listed once, each kind with its
    count and first source line.
  }];
  let options = [
    Option<"stateArgs", "state-args", "int64_t", "-1",
           "number of leading arguments that are state; -1: found from roles and names">,
    Option<"statePrefix", "state-prefix", "std::string", "\"\"",
           "arguments whose name starts with this are state">,
  ];
}

//===----------------------------------------------------------------------===//
// transform/: distribution (L0 to L6)
//===----------------------------------------------------------------------===//

def DropEmptyPass : Pass<"coll-drop-empty", "::mlir::ModuleOp"> {
  let summary = "drops the computation of tensors without elements";
  let description = [{
    A tensor without elements becomes tensor.empty, a loop nest without iterations its
    initial value, so that no other pass meets an extent of 0 in what it produces.
  }];
}

def InsertDataParallelPass : Pass<"coll-insert-data-parallel", "::mlir::ModuleOp"> {
  let summary = "annotates a step for data parallelism and makes its init function";
  let description = [{
    Adds a one-axis mesh, splits dimension 0 of every batch argument over it, keeps
    state replicated, and makes `@init`, which creates the communicator and
    broadcasts the initial state from rank 0.
  }];
  let options = [
    Option<"ranks", "ranks", "int64_t", "1", "number of ranks">,
    Option<"axis", "axis", "std::string", "\"dp\"", "name of the mesh axis">,
    Option<"mesh", "mesh", "std::string", "\"mesh\"", "name of the mesh">,
  ];
}

def InsertStrategyPass : Pass<"coll-insert-strategy", "::mlir::ModuleOp"> {
  let summary = "annotates a step by strategies and patterns over argument names";
  let description = [{
    Adds a mesh and writes a sharding on every argument of `@step`; later passes do the rest, so
    that the results are those of one device whatever is written here. Makes `@init`, too.

    Each strategy takes the mesh axis with its usual name, or the one after a colon
    (`tensor:model`): `data` splits the batch; `fsdp` also all state; `zero1` the batch and the
    optimizer's state; `tensor` the weights of products, by columns and rows in turn; `expert` the
    weights of which a product takes one matrix for each part of the tokens; `sequence` the second
    dimension of what the batch is split along; `spatial` the height of images, the first dimension
    that a convolution or a pooling slides over.

    A pattern `params/*/kernel: [-, tp]` decides arguments by name before any strategy does. Names
    are paths: `state['params']['w']` is `state/params/w`.
  }];
  let options = [
    Option<"mesh", "mesh", "std::string", "\"dp=1\"", "axes and sizes, such as dp=2,tp=4">,
    Option<"strategy", "strategy", "std::string", "\"\"", "strategies, such as fsdp,tensor:model">,
    ListOption<"shards", "shard", "std::string", "patterns, each with a sharding">,
  ];
}

def FormRootUpdatePass : Pass<"coll-form-root-update", "::mlir::ModuleOp"> {
  let summary = "rewrites the optimizer's step of each parameter as coll.root_update";
  let description = [{
    Finds updates by dependence: they are state whose new value is computed element by element from
    itself, other state and a gradient. A state that only its own update reads becomes one that is
    stored at the root; the others are forwarded. Scalars that combine all elements of a gradient (a
    global norm, the norms of LAMB, a check for finite values) stay outside, and `coll-place-roots`
    distributes them.

    A parameter without optimizer state whose whole gradient is also needed elsewhere is left as it
    is; a remark at that operation says so.
  }];
  let options = [
    Option<"root", "root", "std::string", "\"\"",
           "how roots are chosen: hash, balanced or shard; empty: no roots">,
    Option<"route", "route", "std::string", "\"direct\"",
           "how gradients get to their root and parameters back: direct or ring">,
  ];
}

def DelayGradientsPass : Pass<"coll-delay-gradients", "::mlir::ModuleOp"> {
  let summary = "applies gradients some steps after they were merged";
  let description = [{
    After `coll-form-root-update`. In step t, updates take the gradients of step t - `steps`, which
    are kept as state (with empty `coll.parts`) beside the optimizer's state. In the first steps,
    when there are none yet, parameters and the optimizer's state stay as they are. Scalars that are
    computed from gradients for the update (a global norm) are computed from the older ones.

    State without a gradient of its own waits as well, as a count of steps does, unless gradients
    are computed from it (a key of random numbers) or it follows from the batch (statistics of
    batch norm). A parameter whose update `coll-form-root-update` does not find is an error.
  }];
  let options = [
    Option<"steps", "steps", "int64_t", "1", "how many steps late, 1 to 64">,
  ];
}

def PlaceRootsPass : Pass<"coll-place-roots", "::mlir::ModuleOp"> {
  let summary = "gives root updates their roots";
  let description = [{
    Updates with `root` and equal regions become one over a bucket: a tensor of rows in which each
    parameter has its own, split over the ranks along which the batch is. Updates of different
    stages (`coll.stage`) have buckets of their own. The state that only roots have becomes
    arguments of that form. Their `coll.parts` say where each original state is, so that the runtime
    accepts and returns the original state. The choice of roots is thus data: the program's text is
    the same for all ranks.
  }];
}

def PropagatePass : Pass<"coll-propagate", "::mlir::ModuleOp"> {
  let summary = "gives every tensor value a sharding";
  let description = [{
    Starts from the shardings on function arguments (and on operations that carry `coll.shardings`
    already), and propagates forward along indexing maps to a fixpoint, then backward to values
    whose sharding is still open. A reduction whose loop is split gives a partial value; a partial
    value stays partial through operations that are linear in it, and is combined where one that is
    not needs it.

    Sliding windows and the padding of their inputs become one `coll.window`, so that a split along
    their positions needs only a few elements of neighbours.
  }];
}

def InsertReshardsPass : Pass<"coll-insert-reshards", "::mlir::ModuleOp"> {
  let summary = "makes every change of sharding a coll.reshard";
  let description = [{
    Afterwards each operation's operands have exactly the shardings that its own results' shardings
    ask for. All targets of one value are planned together, so that it is reduced or gathered once.
    Each reshard says why it is there, and how many bytes its moves send beyond the lower bound. A
    gather that is needed because an operation cannot be partitioned is also reported as a remark
    with its bytes.
  }];
  let options = [
    Option<"topology", "topology", "std::string", "",
           "file of hosts and links whose times decide; without it the bytes that are sent do">,
    Option<"explain", "explain", "bool", "true",
           "note on each reshard why it is there; off where only the cost is of interest">,
  ];
}

def NarrowReshardsPass : Pass<"coll-narrow-reshards", "::mlir::ModuleOp"> {
  let summary = "sends values that are only read in a narrower type in that type";
  let description = [{
    A value whose every use rounds it to one narrower float type is rounded before its sharding
    changes. The result has the same bits, at half the bytes. With `sums`, partial sums are rounded
    before they are summed, too: each contribution is rounded once, the sum is formed in f32, and
    the result is rounded once more.
  }];
  let options = [
    Option<"sums", "sums", "bool", "false", "also round the contributions to sums over ranks">,
  ];
}

def IsolateMicroBatchesPass : Pass<"coll-isolate-micro-batches", "::mlir::ModuleOp"> {
  let summary = "merges micro-batches first on each rank, then over ranks";
  let description = [{
    Cuts each change of sharding that merges micro-batches in two, so that each rank first merges
    its own micro-batches and ranks then exchange the result once.
  }];
}

def LoopMicroBatchesPass : Pass<"coll-loop-micro-batches", "::mlir::ModuleOp"> {
  let summary = "turns the mesh axis of micro-batches into a loop";
  let description = [{
    Operations that depend on a micro-batch move into an scf.for over the micro-batches. The loop
    carries partial sums over the axis and concatenates rows; operations that need the sums or all
    rows stand after the loop. The axis is removed from the mesh. An operation that needs, for each
    micro-batch, a value of the whole batch (batch norm, a loss over pairs of rows) is an error.
  }];
}

def PartitionPass : Pass<"coll-partition", "::mlir::ModuleOp"> {
  let summary = "global types to local types, reshards to collectives";
  let description = [{
    One program for all ranks: local shapes, explicit collectives over mesh axes, of which
    a planner (plan/reshard.h) chooses the cheapest for each change of sharding.
    Uneven dimensions are split into equal blocks with padding at the end; padding
    is masked where an operation would mix it with other elements.

    Sums of floats narrower than f32 over ranks, those of gradients among them, are
    formed in f32 unless `f32-sums` is off: what ranks contribute has been rounded
    once, and rounding partial sums as well would grow with the number of ranks.
  }];
  let options = [
    Option<"f32Sums", "f32-sums", "bool", "true",
           "form sums of narrower floats over ranks in f32; if false, the backend chooses the type">,
    Option<"topology", "topology", "std::string", "",
           "file of hosts and links whose times decide; without it the bytes that are sent do">,
  ];
}

def CombineCollectivesPass : Pass<"coll-combine-collectives", "::mlir::ModuleOp"> {
  let summary = "collectives of many tensors to few calls";
  let description = [{
    Reductions that differ in their tensors only, and of which none depends on another, become one
    `coll.start` of all of them (a bucket), awaited at once: a call costs its latency whatever its
    size, and a step reduces many small tensors. What uses a result moves behind the call, so the
    order of other communication stays. The sums are the same but for the order of summation, and
    with `order rank` they are the same bits.

    A bucket holds at most `bytes`; larger tensors stay alone. Each tensor begins at 64 bytes in
    the memory of the call.

    all_gathers, reduce_scatters and all_to_alls of tensors of at most 64 KiB become one of a tensor
    that has the blocks for each rank side by side. The tensors are copied into it and out of it,
    which for larger ones takes longer than a call.

    This is done in the body of @step, and of loops that all ranks go round equally often.
  }];
  let options = [
    Option<"bytes", "bytes", "int64_t", "4194304", "largest bucket in bytes; 0 combines nothing">,
  ];
}

def SplitRanksPass : Pass<"coll-split-ranks", "::mlir::ModuleOp"> {
  let summary = "makes one coll.program per class of ranks that run the same code";
  let description = [{
    Conditions that depend on the rank alone and guard communication are decided for every rank;
    ranks with the same decisions share a program.
  }];
  let options = [
    Option<"ranks", "ranks", "int64_t", "0",
           "number of ranks; 0: that of the mesh, or of the largest rank list">,
  ];
}

def InsertMicroBatchesPass : Pass<"coll-insert-micro-batches", "::mlir::ModuleOp"> {
  let summary = "splits the batch over time, into micro-batches";
  let description = [{
    Adds the mesh axis "mb" and splits dimension 0 of every batch argument over it, after the axes
    that split it already. Propagation then finds what each micro-batch can compute alone. A
    reduction over "mb" is a sum over micro-batches; coll-split-stages refuses anything else that
    crosses the axis.
  }];
  let options = [
    Option<"count", "count", "int64_t", "1", "number of micro-batches">,
  ];
}

def MarkStagesPass : Pass<"coll-mark-stages", "::mlir::ModuleOp"> {
  let summary = "marks which stage operations and root updates belong to";
  let description = [{
    Cuts the forward pass as coll-split-stages will, and marks the chunk of its operations in their
    locations. Root updates get the stage of their parameter as `coll.stage`, so that
    coll-place-roots makes a bucket for each stage.
  }];
  let options = [
    Option<"stages", "stages", "int64_t", "2", "number of stages, as in coll-split-stages">,
    Option<"microBatches", "micro-batches", "int64_t", "1",
           "number of micro-batches, as in coll-insert-micro-batches">,
    Option<"schedule", "schedule", "std::string", "\"1f1b\"", "as in coll-split-stages">,
    ListOption<"stagePatterns", "stage", "std::string", "as in coll-split-stages">,
  ];
}

def InsertStageMeshesPass : Pass<"coll-insert-stage-meshes", "::mlir::ModuleOp"> {
  let summary = "lets stages split their rows over meshes of their own";
  let description = [{
    A stage's mesh joins neighbouring axes of the mesh: `1: dp=4` over the mesh dp=2,tp=2 says that
    stage 1 splits the batch over both. Cuts the forward pass as coll-split-stages will, and marks
    the chunk of each operation. Batch arguments are split as on the first stage that reads them.
    Rows that a stage with another mesh reads get a reshard, which propagation keeps.
  }];
  let options = [
    Option<"stages", "stages", "int64_t", "2", "number of stages, as in coll-split-stages">,
    Option<"microBatches", "micro-batches", "int64_t", "1",
           "number of micro-batches, as in coll-insert-micro-batches">,
    Option<"schedule", "schedule", "std::string", "\"1f1b\"", "as in coll-split-stages">,
    ListOption<"stagePatterns", "stage", "std::string", "as in coll-split-stages">,
    ListOption<"meshes", "stage-mesh", "std::string",
               "the mesh of a stage by its number: '1: dp=4'; without one, that of the step">,
  ];
}

def SplitStagesPass : Pass<"coll-split-stages", "::mlir::ModuleOp"> {
  let summary = "one coll.program per pipeline stage";
  let description = [{
    Takes a partitioned step whose batch is split over micro-batches. The forward pass of the loss
    is cut into stages by cost and by the bytes that cross; or by patterns over the names of
    parameters and scopes; or by marks in the step (`coll.stage = 1` on an operation, or a scope of
    JAX that is named `coll.stage:1`). Backward operations follow the activations and parameters
    that they read, updates the parameters that they make. Each stage does the entries of a schedule
    (plan/schedule), sends what later entries of other stages need, adds up gradients, and updates
    its own state. Values that all micro-batches share, such as a tied embedding, are sent once per
    step. The module's `coll.pipeline` says what the stages do and when.
  }];
  let options = [
    Option<"stages", "stages", "int64_t", "2", "number of stages that run at the same time">,
    Option<"microBatches", "micro-batches", "int64_t", "1",
           "number of micro-batches, as in coll-insert-micro-batches">,
    Option<"schedule", "schedule", "std::string", "\"1f1b\"",
           "name of a schedule, or path of a table (a name with a slash, or that ends in .txt)">,
    ListOption<"stagePatterns", "stage", "std::string",
               "patterns over names of parameters, each with a stage: 'layer_1*: 1'">,
    Option<"axis", "axis", "std::string", "\"pp\"", "name of the mesh axis of stages">,
    Option<"explain", "explain", "bool", "false",
           "a remark with the stages, the idle time, and the schedule as a picture">,
  ];
}

//===----------------------------------------------------------------------===//
// analysis/: checks that change nothing
//===----------------------------------------------------------------------===//

def VerifyRanksPass : Pass<"coll-verify-ranks", "::mlir::ModuleOp"> {
  let summary = "proves that the rank programs cannot mismatch or deadlock";
  let description = [{
    Proves for all ranks: the members of each group run matching collectives in one order (kind,
    type, reduction, root, order), sends match receives, and no ranks wait for one another in a
    cycle. Futures are followed through the loops that carry them. A failure prints the cycle, rank
    by rank.
  }];
  let options = [
    Option<"ranks", "ranks", "int64_t", "0",
           "number of ranks; 0: that of the mesh, or of the largest rank list">,
  ];
}

//===----------------------------------------------------------------------===//
// export/: to code (L6 to L7)
//===----------------------------------------------------------------------===//

def UnrollFuturesPass : Pass<"coll-unroll-futures", "::mlir::ModuleOp"> {
  let summary = "gives each operation in flight that a loop carries a place of its own";
  let description = [{
    The buffers of an operation in flight stay in one place, so each future that a loop carries
    needs memory that is free again when the next iteration starts its own operation. If an
    iteration passes futures from one position to another, or starts the next operation before it
    awaits the carried one, the loop is unrolled until that holds: two operations in flight take
    turns in two buffers. Such a loop needs constant bounds; a remainder is unrolled behind it.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect"];
}

def LowerIndexedPass : Pass<"coll-lower-indexed", "::mlir::ModuleOp"> {
  let summary = "take, accumulate, pad, concat and elementwise tensors to loop nests";
  let options = [
    Option<"gpu", "gpu", "bool", /*default=*/"false",
           "forms for GPUs: an update of one element in each row of a constant is computed element "
           "by element, so that it can be part of the kernel that reads it; a sort is a nest of "
           "independent iterations for each level of a merge sort">,
  ];
}

def FuseAttentionPass : Pass<"coll-fuse-attention", "::mlir::ModuleOp"> {
  let summary = "softmax(scale * Q K^T) V and its gradient to coll.attention";
  let description = [{
    Finds the softmax of a product's rows that is multiplied by a third matrix, and the gradient
    with respect to all three, by what the operations compute: values of the shape of the scores are
    read as sums of products of exponentials, their row sums and the gradient of the probabilities,
    so that the order in which a front end writes them does not matter. A causal mask is recognised
    where it is computed from positions. Attention whose scores are read by anything else stays as
    it is. A remark says of each whether it was fused, and if not, why.
  }];
}
def LowerContractionsPass : Pass<"coll-lower-contractions", "::mlir::ModuleOp"> {
  let summary = "contractions and convolutions to coll.gemm";
  let options = [
    Option<"narrow", "narrow", "bool", /*default=*/"false",
           "products read bf16 and f16 directly and round their sums; otherwise they compute in f32">,
  ];
}

def FuseKernelsPass : Pass<"coll-fuse-kernels", "::mlir::ModuleOp"> {
  let summary = "merges loop nests that share data";
  let options = [
    Option<"recompute", "recompute", "bool", /*default=*/"false",
           "compute a value again at each use if it is computed from one value that takes no more "
           "memory; for GPUs, whose memory is slower than their arithmetic">,
  ];
}

def OutlineKernelsPass : Pass<"coll-outline-kernels", "::mlir::ModuleOp"> {
  let summary = "each loop nest to a kernel function, equal kernels once";
}

def CountLoopsPass : Pass<"coll-count-loops", "::mlir::ModuleOp"> {
  let summary = "while loops that count to a known number become scf.for";
  let description = [{
    The counter of a scan is a tensor in the memory of the device. If the number of iterations is
    known, the host counts instead: it reads nothing back, and a GPU's graph holds all iterations.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect"];
}

def FuseRowsPass : Pass<"coll-fuse-rows", "::mlir::ModuleOp"> {
  let summary = "fuses kernels that reduce rows, and those that use the rows, into one kernel for a GPU";
  let description = [{
    Softmax, layer norm, cross-entropy and their gradients are chains of kernels that all see the
    same rows and columns: values of rows, and elements. Such calls become one call. Its kernel does
    not store the values that nothing else reads, so that one launch reads and writes each row once.
    Calls of other kernels that stood between them move after it; communication never moves.
  }];
}

def FuseRootUpdatesPass : Pass<"coll-fuse-root-updates", "::mlir::ModuleOp"> {
  let summary = "fuses the sum of gradients, the update and the gather of the parameters into one kernel";
  let description = [{
    A reduce_scatter of gradients, the elementwise kernel that alone reads it, and the all_gather of
    the parameters that the kernel makes become an scf.if: where the runtime says that GPUs reach
    the memory of all members (exec.reaches), one kernel loads each gradient as the sum over the
    members, in their order, and stores each new parameter to all of them, between two barriers;
    otherwise the three operations run. Any elementwise optimizer has this form. Groups have up to
    eight members, all of one rank class. If the reduce_scatter adds up in the members' order, both
    forms give the same bits.
  }];
}

def FuseUpdatesPass : Pass<"coll-fuse-updates", "::mlir::ModuleOp"> {
  let summary = "updates of small parameters become a few kernels for a GPU";
  let description = [{
    Calls of elementwise kernels whose results are only returned by the function, such as an
    optimizer's updates of biases and scales, become calls of kernels that do up to 16 of them side
    by side.
  }];
}

def KernelsToGpuPass : Pass<"coll-kernels-to-gpu", "::mlir::ModuleOp"> {
  let summary = "kernel functions to launches of gpu.func, and to PTX";
  let options = [
    Option<"ptx", "ptx", "std::string", /*default=*/"",
           "also write the PTX, to the files PREFIX0.ptx and so on">,
    Option<"chip", "chip", "std::string", /*default=*/"\"sm_90\"", "GPU that the PTX is for">,
    Option<"libdevice", "libdevice", "std::string", /*default=*/"\"default\"",
           "bitcode of the CUDA toolkit's math functions; none if empty">,
  ];
}

def ToExecPass : Pass<"coll-to-exec", "::mlir::ModuleOp"> {
  let summary = "kernel form to the exec level, with planned memory";
  let description = [{
    Makes a module of each rank class: its kernels as loops on buffers, and an exec.function for
    @step and @init. Tensors become views: state is updated in place, values that a loop carries or
    an operation may overwrite share memory, and the others get places in one arena, by liveness. A
    copy that sharing made unnecessary stays as an exec.rename. For a GPU, kernels become launches
    of its functions instead of loops.
  }];
  let options = [
    Option<"gpu", "gpu", "std::string", "", "the GPU that kernels are for, as sm_90; empty: CPUs">,
    Option<"precision", "precision", "std::string", "\"highest\"",
           "what products may round f32 factors to: highest, tf32 or bf16; CPUs do not round">,
  ];
}

def VerifyExecPass : Pass<"coll-verify-exec", "::mlir::ModuleOp"> {
  let summary = "checks that no content is read before it is written or after it is overwritten";
  let description = [{
    Walks through every exec.function, and through its loops until nothing changes. It shares no
    code with the planner of the memory, whose plan it checks. Errors are: contents that overlap and
    are alive at the same time, reads of memory that was not written, accesses to memory that a
    communication in flight uses, and results that are not in their buffers. Views outside of
    buffers and writes to read-only memory are errors of the operations' own verifiers.
  }];
}

def EmitExecutablePass : Pass<"coll-emit-executable", "::mlir::ModuleOp"> {
  let summary = "the exec level to LLVM, operation by operation; calls through the C ABI";
  let description = [{
    A module for a GPU (`exec.gpu`) becomes host code that launches kernels, and their PTX.
  }];
}

#endif // COLL_PASSES_PASSES_TD
