//===- ops.td - operations of the coll dialect ------------------*- tablegen -*-===//
//
// This file is the specification. Constraints are labelled (C1), (C2), …; the
// label `all_gather_c1` names the verifier line and the negative test of
// constraint C1 of coll.all_gather.
//
// Unless an operation says otherwise:
//  - tensors are ranked and static, of integer, index or float elements;
//  - every member of the group executes the operation, in the same order
//    relative to the group's other operations (see coll-verify-ranks);
//  - `root` and `peer` are positions in the group, not global ranks;
//  - n is the size of the group.
//
//===--------------------------------------------------------------------------===//

#ifndef COLL_DIALECT_OPS_TD
#define COLL_DIALECT_OPS_TD

include "dialect/attrs.td"
include "dialect/interfaces.td"
include "mlir/IR/OpAsmInterface.td"
include "mlir/IR/RegionKindInterface.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"

//===----------------------------------------------------------------------===//
// Mesh
//===----------------------------------------------------------------------===//

def Coll_MeshOp : Coll_Op<"mesh", [Symbol]> {
  let summary = "names a grid of ranks";
  let description = [{
    Ranks 0 … product(sizes) - 1 are laid out row-major over the axes: the last
    axis varies fastest.

    ```mlir
    coll.mesh @m ["dp" = 4, "tp" = 2]
    ```

    Constraints: (C1) axis names are distinct and not empty, one per size. (C2)
    sizes are >= 1 and their product is at most 2^24.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, StrArrayAttr:$axis_names,
                       DenseI64ArrayAttr:$axis_sizes);
  let assemblyFormat = "$sym_name custom<MeshAxes>($axis_names, $axis_sizes) attr-dict";
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// Number of ranks in the mesh.
    int64_t getNumRanks();
    /// Size of the axis, or nullopt if the mesh has no such axis.
    std::optional<int64_t> getAxisSize(::llvm::StringRef axis);
    /// Coordinate of `rank` along `axis`; the axis must exist.
    int64_t getCoordinate(int64_t rank, ::llvm::StringRef axis);
  }];
}

//===----------------------------------------------------------------------===//
// Collectives
//===----------------------------------------------------------------------===//

class Coll_CollectiveOp<string mnemonic, list<Trait> traits = []>
    : Coll_Op<mnemonic, !listconcat([
        DeclareOpInterfaceMethods<SymbolUserOpInterface>,
        DeclareOpInterfaceMethods<CollectiveOpInterface>,
        DeclareOpInterfaceMethods<MemoryEffectsOpInterface>], traits)> {
  // What the methods of CollectiveOpInterface return, as C++ expressions.
  code commInput = "getInput()";
  code commResult = "getResult()";
  code commReduction = "::std::nullopt";
  code commOrder = "::mlir::coll::Order::Any";
  code commAccumulation = "::mlir::Type()";
  code commRoot = "::std::nullopt";
  let extraClassDeclaration = [{
    /// Checks the constraints that depend on the group's size.
    ::llvm::LogicalResult verifyGroupSize(int64_t n);
  }];
  let extraClassDefinition = [{
    ::mlir::coll::GroupAttr $cppClass::getCommGroup() { return getGroupAttr(); }
    ::mlir::Value $cppClass::getCommInput() { return }] # commInput # [{; }
    ::mlir::Value $cppClass::getCommResult() { return }] # commResult # [{; }
    ::std::optional<::mlir::coll::ReductionKind> $cppClass::getCommReduction() {
      return }] # commReduction # [{;
    }
    ::mlir::coll::Order $cppClass::getCommOrder() { return }] # commOrder # [{; }
    ::mlir::Type $cppClass::getCommAccumulation() { return }] # commAccumulation # [{; }
    ::std::optional<int64_t> $cppClass::getCommRoot() { return }] # commRoot # [{; }
    void $cppClass::getEffects(
        ::llvm::SmallVectorImpl<::mlir::MemoryEffects::EffectInstance> &effects) {
      ::mlir::coll::detail::addCommunicationEffects(effects);
    }
    ::llvm::LogicalResult $cppClass::verifySymbolUses(::mlir::SymbolTableCollection &) {
      ::std::optional<int64_t> n =
          ::mlir::coll::detail::verifyGroup(getOperation(), getGroupAttr());
      return n ? verifyGroupSize(*n) : ::mlir::failure();
    }
  }];
}

/// A collective whose result has the type of its operand.
class Coll_SameTypeCollectiveOp<string mnemonic, list<Trait> traits = []>
    : Coll_CollectiveOp<mnemonic, !listconcat([SameOperandsAndResultType], traits)> {
  let results = (outs Coll_Tensor:$result);
}

def Coll_AllReduceOp : Coll_SameTypeCollectiveOp<"all_reduce"> {
  let commReduction = "getReduction()";
  let commOrder = "getOrder()";
  let commAccumulation = "getAccumulation().value_or(::mlir::Type())";
  let summary = "combines every rank's input; every rank gets the result";
  let description = [{
    `result = input_0 (reduction) … (reduction) input_{n-1}`, elementwise.

    `in f32` says what floats narrower than f32 are combined in: every contribution is
    widened, and the result is rounded once. Without it the backend may also round
    partial results of f16 and bf16 to the elements' type; those of eight-bit floats
    are never rounded.

    ```mlir
    %r = coll.all_reduce sum %x over @m["dp"] : tensor<4xf32>
    %s = coll.all_reduce max %x over [[0, 1], [2, 3]] order rank : tensor<4xf32>
    %t = coll.all_reduce sum in f32 %g over @m["dp"] : tensor<4xbf16>
    ```

    Constraints: (C1) `and`, `or`, `xor`, `umin`, `umax` need integer elements;
    `avg` needs float elements. (C2) `in` names f32, and the elements are floats
    narrower than it.
  }];
  let arguments = (ins Coll_ReductionKindAttr:$reduction, Coll_Tensor:$input,
                       Coll_GroupAttr:$group,
                       DefaultValuedAttr<Coll_OrderAttr, "::mlir::coll::Order::Any">:$order,
                       OptionalAttr<TypeAttr>:$accumulation);
  let assemblyFormat = [{
    custom<Reduction>($reduction) (`in` $accumulation^)? $input `over` custom<Group>($group)
    `` custom<OptionalOrder>($order) attr-dict `:` type($input)
  }];
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Coll_ReduceOp : Coll_SameTypeCollectiveOp<"reduce"> {
  let commReduction = "getReduction()";
  let commOrder = "getOrder()";
  let commAccumulation = "getAccumulation().value_or(::mlir::Type())";
  let commRoot = "getRootAttr().getInt()";
  let summary = "combines every rank's input; the root gets the result";
  let description = [{
    As `coll.all_reduce`, but only the root's result is the combination; on the
    other ranks the result is their own input.

    ```mlir
    %r = coll.reduce sum %x to 0 over @m["dp"] : tensor<4xf32>
    ```

    Constraints: (C1) as all_reduce_c1. (C2) 0 <= root < n. (C3) as all_reduce_c2.
  }];
  let arguments = (ins Coll_ReductionKindAttr:$reduction, Coll_Tensor:$input,
                       I64Attr:$root, Coll_GroupAttr:$group,
                       DefaultValuedAttr<Coll_OrderAttr, "::mlir::coll::Order::Any">:$order,
                       OptionalAttr<TypeAttr>:$accumulation);
  let assemblyFormat = [{
    custom<Reduction>($reduction) (`in` $accumulation^)? $input `to` custom<Int>($root) `over` custom<Group>($group)
    `` custom<OptionalOrder>($order) attr-dict `:` type($input)
  }];
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Coll_BroadcastOp : Coll_SameTypeCollectiveOp<"broadcast"> {
  let commRoot = "getRootAttr().getInt()";
  let summary = "every rank gets the root's input";
  let description = [{
    `result = input_root`. The other ranks' inputs are ignored.

    ```mlir
    %r = coll.broadcast %x from 0 over @m["dp"] : tensor<4xf32>
    ```

    Constraints: (C1) 0 <= root < n.
  }];
  let arguments = (ins Coll_Tensor:$input, I64Attr:$root, Coll_GroupAttr:$group);
  let assemblyFormat = [{
    $input `from` custom<Int>($root) `over` custom<Group>($group) attr-dict `:` type($input)
  }];
  let hasFolder = 1;
}

def Coll_AllGatherOp : Coll_CollectiveOp<"all_gather"> {
  let summary = "concatenates every rank's input; every rank gets the result";
  let description = [{
    `result = concat(input_0, …, input_{n-1})` along `dim`.

    ```mlir
    %r = coll.all_gather %x dim 0 over [[0, 1, 2, 3]] : tensor<4xf32> -> tensor<16xf32>
    ```

    Constraints: (C1) 0 <= dim < rank(input). (C2) the result is the input's
    type with `dim` n times as long.
  }];
  let arguments = (ins Coll_Tensor:$input, I64Attr:$dim, Coll_GroupAttr:$group);
  let results = (outs Coll_Tensor:$result);
  let assemblyFormat = [{
    $input `dim` custom<Int>($dim) `over` custom<Group>($group) attr-dict
    `:` type($input) `->` type($result)
  }];
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Coll_GatherOp : Coll_CollectiveOp<"gather"> {
  let commRoot = "getRootAttr().getInt()";
  let summary = "concatenates every rank's input; the root gets the result";
  let description = [{
    As `coll.all_gather`, but only the root's result is defined; on the other
    ranks the result is zero.

    ```mlir
    %r = coll.gather %x dim 0 to 0 over [[0, 1]] : tensor<4xf32> -> tensor<8xf32>
    ```

    Constraints: (C1) 0 <= dim < rank(input). (C2) the result is the input's
    type with `dim` n times as long. (C3) 0 <= root < n.
  }];
  let arguments = (ins Coll_Tensor:$input, I64Attr:$dim, I64Attr:$root, Coll_GroupAttr:$group);
  let results = (outs Coll_Tensor:$result);
  let assemblyFormat = [{
    $input `dim` custom<Int>($dim) `to` custom<Int>($root) `over` custom<Group>($group) attr-dict
    `:` type($input) `->` type($result)
  }];
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Coll_ScatterOp : Coll_CollectiveOp<"scatter"> {
  let commRoot = "getRootAttr().getInt()";
  let summary = "every rank gets its block of the root's input";
  let description = [{
    The root's input is cut along `dim` into n equal blocks; rank i gets block i.
    The other ranks' inputs are ignored.

    ```mlir
    %r = coll.scatter %x dim 0 from 0 over [[0, 1]] : tensor<8xf32> -> tensor<4xf32>
    ```

    Constraints: (C1) 0 <= dim < rank(input). (C2) n divides `dim`, and the
    result is the input's type with `dim` divided by n. (C3) 0 <= root < n.
  }];
  let arguments = (ins Coll_Tensor:$input, I64Attr:$dim, I64Attr:$root, Coll_GroupAttr:$group);
  let results = (outs Coll_Tensor:$result);
  let assemblyFormat = [{
    $input `dim` custom<Int>($dim) `from` custom<Int>($root) `over` custom<Group>($group) attr-dict
    `:` type($input) `->` type($result)
  }];
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Coll_ReduceScatterOp : Coll_CollectiveOp<"reduce_scatter"> {
  let commReduction = "getReduction()";
  let commOrder = "getOrder()";
  let commAccumulation = "getAccumulation().value_or(::mlir::Type())";
  let summary = "combines every rank's input; every rank gets its block of the result";
  let description = [{
    Equals `coll.all_reduce` followed by taking block i of n along `dim` on rank i.

    ```mlir
    %r = coll.reduce_scatter sum %x dim 0 over [[0, 1]] : tensor<8xf32> -> tensor<4xf32>
    ```

    Constraints: (C1) as all_reduce_c1. (C2) 0 <= dim < rank(input). (C3) n
    divides `dim`, and the result is the input's type with `dim` divided by n. (C4) as
    all_reduce_c2.
  }];
  let arguments = (ins Coll_ReductionKindAttr:$reduction, Coll_Tensor:$input, I64Attr:$dim,
                       Coll_GroupAttr:$group,
                       DefaultValuedAttr<Coll_OrderAttr, "::mlir::coll::Order::Any">:$order,
                       OptionalAttr<TypeAttr>:$accumulation);
  let results = (outs Coll_Tensor:$result);
  let assemblyFormat = [{
    custom<Reduction>($reduction) (`in` $accumulation^)? $input `dim` custom<Int>($dim) `over` custom<Group>($group)
    `` custom<OptionalOrder>($order) attr-dict `:` type($input) `->` type($result)
  }];
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Coll_AllToAllOp : Coll_CollectiveOp<"all_to_all"> {
  let summary = "rank i sends its block j to rank j";
  let description = [{
    The input is cut along `split_dim` into n equal blocks; block j goes to rank
    j; what arrives is concatenated along `concat_dim` in rank order.

    ```mlir
    %r = coll.all_to_all %x split 0 concat 1 over [[0, 1]]
       : tensor<4x6xf32> -> tensor<2x12xf32>
    ```

    Constraints: (C1) 0 <= split_dim, concat_dim < rank(input). (C2) n divides
    `split_dim`. (C3) the result is the input's type with `split_dim` divided by
    n, then `concat_dim` multiplied by n.
  }];
  let arguments = (ins Coll_Tensor:$input, I64Attr:$split_dim, I64Attr:$concat_dim,
                       Coll_GroupAttr:$group);
  let results = (outs Coll_Tensor:$result);
  let assemblyFormat = [{
    $input `split` custom<Int>($split_dim) `concat` custom<Int>($concat_dim)
    `over` custom<Group>($group) attr-dict `:` type($input) `->` type($result)
  }];
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Coll_PermuteOp : Coll_SameTypeCollectiveOp<"permute"> {
  let summary = "each source rank sends its input to its target rank";
  let description = [{
    `pairs` lists source and target positions in the group, flattened. `shift` says the
    same in a group of any size: position p sends to position p + shift, modulo the size
    of the group with `wraps`, and else only where that is a position. A rank that is no
    target gets zero.

    ```mlir
    %r = coll.permute %x pairs [[0, 1], [1, 0]] over [[0, 1]] : tensor<4xf32>
    %s = coll.permute %x shift -1 over @m["dp"] : tensor<4xf32>
    %t = coll.permute %x shift 1 wraps over @m["dp"] : tensor<4xf32>
    ```

    Constraints: (C1) 0 <= source, target < n. (C2) no source and no target
    occurs twice. (C3) a shift has no pairs, and only a shift wraps. (C4) -n < shift < n.
  }];
  let arguments = (ins Coll_Tensor:$input, DenseI64ArrayAttr:$pairs, Coll_GroupAttr:$group,
                       DefaultValuedAttr<I64Attr, "0">:$shift, UnitAttr:$wraps);
  let assemblyFormat = [{
    $input custom<Permutation>($pairs, $shift, $wraps) `over` custom<Group>($group) attr-dict
    `:` type($input)
  }];
  let hasVerifier = 1;
  let hasFolder = 1;
  let extraClassDeclaration = [{
    /// Checks the constraints that depend on the group's size.
    ::llvm::LogicalResult verifyGroupSize(int64_t n);
    /// The pairs, listed also where they are a shift.
    ::llvm::SmallVector<int64_t> listPairs(int64_t groupSize);
    /// The shift that the permutation is, however it is written; one that wraps is positive.
    std::optional<PermuteShift> getAsShift(int64_t groupSize);
    /// A permutation that is a shift is written as one, whatever the size of the group.
    static PermuteOp createShortest(::mlir::OpBuilder &builder, ::mlir::Location loc,
                                    ::mlir::Value input, ::llvm::ArrayRef<int64_t> pairs,
                                    GroupAttr group, int64_t groupSize);
  }];
}

def Coll_BarrierOp : Coll_CollectiveOp<"barrier"> {
  let commInput = "::mlir::Value()";
  let commResult = "::mlir::Value()";
  let summary = "returns when every rank of the group has arrived";
  let description = [{
    ```mlir
    coll.barrier over @m["dp"]
    ```
  }];
  let arguments = (ins Coll_GroupAttr:$group);
  let assemblyFormat = "`over` custom<Group>($group) attr-dict";
}

//===----------------------------------------------------------------------===//
// Point to point
//===----------------------------------------------------------------------===//

def Coll_SendOp : Coll_CollectiveOp<"send"> {
  let commResult = "::mlir::Value()";
  let summary = "sends a tensor to a peer";
  let description = [{
    A rendezvous: complete when the peer's matching `coll.recv` has the data.
    Sends and receives between two ranks match in program order per group and tag.

    ```mlir
    coll.send %x to %peer tag 3 over @m["dp"] : tensor<4xf32>
    ```

    Constraints: (C1) tag >= 0.
  }];
  let arguments = (ins Coll_Tensor:$input, Index:$peer,
                       DefaultValuedAttr<I64Attr, "0">:$tag, Coll_GroupAttr:$group);
  let assemblyFormat = [{
    $input `to` $peer (`tag` custom<Int>($tag)^)? `over` custom<Group>($group) attr-dict
    `:` type($input)
  }];
  let hasVerifier = 1;
}

def Coll_RecvOp : Coll_CollectiveOp<"recv"> {
  let commInput = "::mlir::Value()";
  let summary = "receives a tensor from a peer";
  let description = [{
    ```mlir
    %r = coll.recv from %peer tag 3 over @m["dp"] : tensor<4xf32>
    ```

    Constraints: (C1) tag >= 0.
  }];
  let arguments = (ins Index:$peer, DefaultValuedAttr<I64Attr, "0">:$tag, Coll_GroupAttr:$group);
  let results = (outs Coll_Tensor:$result);
  let assemblyFormat = [{
    `from` $peer (`tag` custom<Int>($tag)^)? `over` custom<Group>($group) attr-dict
    `:` type($result)
  }];
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Mixture of experts
//===----------------------------------------------------------------------===//

/// An exchange of tokens between the members of a group, by the experts of each token.
class Coll_TokenOp<string mnemonic, list<Trait> traits = []>
    : Coll_CollectiveOp<mnemonic, !listconcat([
        DeclareOpInterfaceMethods<InferTypeOpInterface>,
        DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmResultNames"]>], traits)>;

def Coll_DispatchOp : Coll_TokenOp<"dispatch"> {
  let commResult = "getRows()";
  let summary = "brings each token to the ranks of its experts";
  let description = [{
    Position p of the group has experts p * local_experts … (p + 1) * local_experts - 1. Row t of
    `experts` names the experts of token t, which is row t of `input`; the token goes once to
    every position that has one of them. An index of -1 is no expert; a token without experts
    goes nowhere. An index outside [-1, n * local_experts), or twice in a token, is an error at run
    time.

    `rows` are what this rank receives, sorted by source position, then by token. Beside each
    row, `row_experts` has the token's experts as numbers in [0, local_experts), or -1 for those
    elsewhere, in the order of `experts`; `row_weights` has their weights, or 0; `row_scales` has the
    token's scales. Behind the rows received, rows, weights and scales are 0, and experts -1.
    `counts` says how many rows name each of this rank's experts.

    More than `capacity` rows are an error at run time: no row is ever dropped. A capacity of n
    times the tokens of a rank is always enough. Each rank has its own number of tokens and its own
    capacity.

    A route may be combined any number of times, or not at all.

    ```mlir
    %rows, %row_experts, %row_weights, %counts, %route =
        coll.dispatch %x to %experts weights %w local_experts 2 capacity 64 over @m["dp"]
      : tensor<16x32xf32>, tensor<16x2xi32>, tensor<16x2xf32>
    ```

    With scales, as narrow floats have them:

    ```mlir
    %rows, %row_experts, %row_weights, %counts, %route, %row_scales =
        coll.dispatch %x to %experts weights %w scales %s local_experts 2 capacity 64 over @m["dp"]
      : tensor<16x256xf8E4M3FN>, tensor<16x2xi32>, tensor<16x2xf32>, tensor<16x2xf32>
    ```

    Constraints: (C1) the input is [tokens, hidden]; experts are [tokens, topk] of i32 or i64, and
    weights [tokens, topk] of f32. (C2) scales are [tokens, number of scales] of f32. (C3)
    local_experts >= 1, and n * local_experts < 2^31. (C4) tokens, topk and capacity are those of a
    route (route_c1, route_c2). (C5) the results are as described.
  }];
  let arguments = (ins Coll_Tensor:$input, Coll_Tensor:$experts, Coll_Tensor:$weights,
                       Optional<Coll_Tensor>:$scales, I64Attr:$local_experts, I64Attr:$capacity,
                       Coll_GroupAttr:$group);
  let results = (outs Coll_Tensor:$rows, Coll_Tensor:$row_experts, Coll_Tensor:$row_weights,
                      Coll_Tensor:$counts, Coll_RouteType:$route, Optional<Coll_Tensor>:$row_scales);
  let assemblyFormat = [{
    $input `to` $experts `weights` $weights (`scales` $scales^)?
    `local_experts` custom<Int>($local_experts) `capacity` custom<Int>($capacity)
    `over` custom<Group>($group) attr-dict
    `:` type($input) `,` type($experts) `,` type($weights) (`,` type($scales)^)?
  }];
  let extraClassDeclaration = [{
    /// Checks the constraints that depend on the group's size.
    ::llvm::LogicalResult verifyGroupSize(int64_t n);
    /// Checks what the results' types follow from; reports at `loc`, if given.
    static ::llvm::LogicalResult verifyOperands(::std::optional<::mlir::Location> loc,
                                                Adaptor adaptor);
  }];
}

def Coll_CombineOp : Coll_TokenOp<"combine"> {
  let summary = "adds up the rows that a dispatch brought to experts";
  let description = [{
    The inverse of `coll.dispatch`: each row goes back to the token that it came from, and `result`
    row t is the sum of token t's rows from all positions, 0 where there are none. Rows behind those
    that the dispatch received are ignored. The program multiplies the rows with their weights
    itself.

    The gradient of a dispatch is a combine, and the gradient of a combine is a dispatch of the same
    experts, whose rows arrive at the same places. Gradients of weights are combined as rows of
    length topk.

    Sums are formed in the order of the group's positions; floats narrower than f32 are added up
    in f32, and the sum is rounded once.

    ```mlir
    %y = coll.combine %rows along %route
       : tensor<64x32xf32>, !coll.route<16 topk 2 to 64 over @m["dp"]>
    ```

    Constraints: (C1) the input is [capacity, hidden] of floats, with the route's capacity. (C2)
    the result is [tokens, hidden], with the route's tokens.
  }];
  let arguments = (ins Coll_Tensor:$input, Coll_RouteType:$route);
  let results = (outs Coll_Tensor:$result);
  let assemblyFormat = [{
    $input `along` $route attr-dict `:` type($input) `,` qualified(type($route))
  }];
  let extraClassDeclaration = [{
    /// Checks the constraints that depend on the group's size.
    ::llvm::LogicalResult verifyGroupSize(int64_t n);
    /// Checks what the result's type follows from; reports at `loc`, if given.
    static ::llvm::LogicalResult verifyOperands(::std::optional<::mlir::Location> loc,
                                                Adaptor adaptor);
    /// The group of the dispatch.
    ::mlir::coll::GroupAttr getGroupAttr() { return getRoute().getType().getGroup(); }
  }];
}

//===----------------------------------------------------------------------===//
// Asynchronous form
//===----------------------------------------------------------------------===//

def Coll_StartOp : Coll_Op<"start",
    [IsolatedFromAbove, SingleBlock, DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "starts a collective or a transfer and does not wait for it";
  let description = [{
    The region holds a communication operation. `ins` are the values that it reads; they become
    the block's arguments. The value that it receives exists after `coll.await`.

    ```mlir
    %f = coll.start ins(%x : tensor<4xf32>) {
    ^bb0(%a: tensor<4xf32>):
      %s = coll.all_reduce sum %a over @m["dp"] : tensor<4xf32>
      coll.yield %s : tensor<4xf32>
    } : !coll.future<tensor<4xf32>>
    %r = coll.await %f : !coll.future<tensor<4xf32>>
    ```

    Several operations of one kind in the region are one call over many tensors, a bucket, which
    costs the latency of one:

    ```mlir
    %f = coll.start ins(%x, %y : tensor<4xf32>, tensor<2x3xf32>) {
    ^bb0(%a: tensor<4xf32>, %b: tensor<2x3xf32>):
      %s = coll.all_reduce sum %a over @m["dp"] : tensor<4xf32>
      %t = coll.all_reduce sum %b over @m["dp"] : tensor<2x3xf32>
      coll.yield %s, %t : tensor<4xf32>, tensor<2x3xf32>
    } : !coll.future<tensor<4xf32>, tensor<2x3xf32>>
    %r:2 = coll.await %f : !coll.future<tensor<4xf32>, tensor<2x3xf32>>
    ```

    A loop may carry the future, so that the round after it waits:

    ```mlir
    %last = scf.for %i = %zero to %n step %one iter_args(%sent = %first) -> (!coll.future) {
      coll.await %sent : !coll.future
      %next = coll.start ins(%x, %peer : tensor<4xf32>, index) {
      ^bb0(%a: tensor<4xf32>, %p: index):
        coll.send %a to %p over @m["pp"] : tensor<4xf32>
        coll.yield
      } : !coll.future
      scf.yield %next : !coll.future
    }
    coll.await %last : !coll.future
    ```

    Constraints: (C1) the region holds communication operations other than `coll.init`,
    `coll.dispatch` and `coll.combine`, and the terminator, which yields their results in order.
    (C2) the block's arguments have the types of `ins`. (C3) the future has the types of what is
    yielded. (C4) the future is awaited exactly once on every path: each value that holds it is used
    once, in its own block, by `coll.await` or by an `scf.for` that carries it on. (C5) several
    operations are all `coll.all_reduce`, all `coll.reduce` or all `coll.broadcast`, with the same
    attributes and types of elements; the block's arguments are their inputs, in order, and the
    future is awaited in its own block.
  }];
  let arguments = (ins Variadic<AnyTypeOf<[Coll_Tensor, Index]>>:$sources,
                       DefaultValuedAttr<I64Attr, "0">:$stream);
  let regions = (region SizedRegion<1>:$body);
  let results = (outs Coll_FutureType:$future);
  let assemblyFormat = [{
    (`stream` custom<Int>($stream)^)?
    (`ins` `(` $sources^ `:` type($sources) `)`)?
    $body attr-dict `:` qualified(type($future))
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// The communication operations of the region; several are one call.
    ::llvm::iterator_range<::mlir::Block::iterator> getCommunications() {
      return getBody().front().without_terminator();
    }
    /// The first of them: what the call is but for its size.
    ::mlir::Operation *getCommunication() { return &getBody().front().front(); }
    bool isBucket() { return !::llvm::hasSingleElement(getCommunications()); }
  }];
}

def Coll_AwaitOp : Coll_Op<"await",
    [DeclareOpInterfaceMethods<InferTypeOpInterface>,
     DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "waits for an operation in flight";
  let description = [{
    The results are the values that the operation has received.

    Constraints: (C1) the future comes from a `coll.start`, directly or through the loops that
    carry it. (C2) results have the types of the future.
  }];
  let arguments = (ins Coll_FutureType:$future);
  let results = (outs Variadic<Coll_Tensor>:$results);
  let assemblyFormat = "$future attr-dict `:` qualified(type($future))";
  let hasVerifier = 1;
}

def Coll_YieldOp : Coll_Op<"yield", [Pure, ReturnLike, Terminator]> {
  let summary = "ends a region and names its results";
  let description = [{
    Terminates the regions of `coll.start`, `coll.accumulate`, `coll.sort`, `coll.window` and
    `coll.root_update`.
  }];
  let arguments = (ins Variadic<AnyType>:$operands);
  let builders = [OpBuilder<(ins), [{ build($_builder, $_state, ::mlir::ValueRange()); }]>];
  let assemblyFormat = "attr-dict ($operands^ `:` type($operands))?";
}

//===----------------------------------------------------------------------===//
// Root updates
//===----------------------------------------------------------------------===//

def Coll_RootUpdateOp : Coll_Op<"root_update",
    [AttrSizedOperandSegments, Pure, SingleBlock, IsolatedFromAbove,
     DeclareOpInterfaceMethods<InferTypeOpInterface>]> {
  let summary = "an optimizer's step for one parameter, done once at its root";
  let description = [{
    The region is the optimizer, for one element: it takes an element of each gradient, of each
    state and of each factor, and yields the new elements of the states. The results are the new
    states, in order. The first `forward` states are parameters, which every rank gets; the
    others are the optimizer's own and are stored only at the root.

    Gradients may be partial sums; this operation combines them. A factor (a learning rate, a global
    norm) has the leading dimensions of the gradient, mostly none, and holds for all elements below
    them.

    ```mlir
    %w1 = coll.root_update grad(%g : tensor<4x8xf32>) state(%w : tensor<4x8xf32>) factor(%rate : tensor<f32>) forward 1 root hash route direct {
    ^bb0(%ge: f32, %we: f32, %r: f32):
      %step = arith.mulf %ge, %r : f32
      %next = arith.subf %we, %step : f32
      coll.yield %next : f32
    }
    ```

    `root` says how the parameter's root is chosen (see #coll.root), until `coll-place-roots` has
    chosen it. From then on one tensor, split over the ranks, holds the states of one rank after the
    other, and the attribute is absent. `route` says how gradients get to the root, and parameters
    back from it (see #coll.route).

    Constraints: (C1) there is a gradient and a state. (C2) gradients and states have one shape.
    (C3) a factor's shape is the beginning of the gradient's. (C4) 0 <= forward <= the number of
    states. (C5) the region takes one scalar for each operand, of its element type, is free of
    side effects, and yields one scalar for each state, of its element type.
  }];
  let arguments = (ins Variadic<Coll_Tensor>:$gradients, Variadic<Coll_Tensor>:$states,
                       Variadic<Coll_Tensor>:$factors, I64Attr:$forward,
                       OptionalAttr<Coll_RootAttr>:$root, OptionalAttr<Coll_RouteAttr>:$route);
  let results = (outs Variadic<Coll_Tensor>:$results);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    (`grad` `(` $gradients^ `:` type($gradients) `)`)?
    (`state` `(` $states^ `:` type($states) `)`)?
    (`factor` `(` $factors^ `:` type($factors) `)`)?
    `forward` custom<Int>($forward) (`root` `` $root^)? (`route` `` $route^)? $body attr-dict
  }];
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Identity
//===----------------------------------------------------------------------===//

def Coll_RankOp : Coll_Op<"rank", [Pure]> {
  let summary = "this rank's number in the job";
  let description = [{
    ```mlir
    %r = coll.rank
    ```
  }];
  let results = (outs Index:$result);
  let assemblyFormat = "attr-dict";
}

def Coll_AxisIndexOp : Coll_Op<"axis_index",
    [Pure, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "this rank's coordinate along mesh axes";
  let description = [{
    With several axes the coordinates are combined row-major, in the order named.

    ```mlir
    %i = coll.axis_index @m["dp"]
    ```

    Constraints: (C1) at least one axis is named.
  }];
  let arguments = (ins FlatSymbolRefAttr:$mesh, StrArrayAttr:$axes);
  let results = (outs Index:$result);
  let assemblyFormat = "$mesh `` $axes attr-dict";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Coll_GroupOp : Coll_Op<"group",
    [Pure, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "this rank's position in a group, and the group's size";
  let description = [{
    ```mlir
    %i, %n = coll.group over @m["dp"]
    ```
  }];
  let arguments = (ins Coll_GroupAttr:$group);
  let results = (outs Index:$position, Index:$size);
  let assemblyFormat = "`over` custom<Group>($group) attr-dict";
  let hasFolder = 1;
}

def Coll_InitOp : Coll_CollectiveOp<"init"> {
  let commInput = "::mlir::Value()";
  let commResult = "::mlir::Value()";
  let summary = "creates the communicator of a group";
  let description = [{
    It is a collective of the group, so that its cost and its order are visible and verified. A
    group without `coll.init` gets its communicator at its first use.

    ```mlir
    coll.init over @m["dp"]
    ```
  }];
  let arguments = (ins Coll_GroupAttr:$group);
  let assemblyFormat = "`over` custom<Group>($group) attr-dict";
}

//===----------------------------------------------------------------------===//
// Sharding changes
//===----------------------------------------------------------------------===//

def Coll_ReshardOp : Coll_Op<"reshard",
    [Pure, SameOperandsAndResultType, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "the same value under another sharding";
  let description = [{
    Before partitioning, it marks a place where producer and consumer need different shardings.
    Types are global types.

    ```mlir
    %r = coll.reshard %x from <@m, [["dp"], []]> to <@m, [[], []]> : tensor<8x4xf32>
    ```

    Constraints: (C1) both shardings have one entry per dimension. (C2) both
    name one mesh. (C3) where both are partial, they have one reduction kind.
    (C4) `coll.shardings`, where given, is the target.
  }];
  let arguments = (ins Coll_Tensor:$input, Coll_ShardingAttr:$source, Coll_ShardingAttr:$target);
  let results = (outs Coll_Tensor:$result);
  let assemblyFormat = [{
    $input `from` $source `to` $target attr-dict `:` type($input)
  }];
  let hasVerifier = 1;
  let hasFolder = 1;
  let hasCanonicalizer = 1;
}

//===----------------------------------------------------------------------===//
// Indexed access
//===----------------------------------------------------------------------===//

def Coll_TakeOp : Coll_Op<"take", [Pure]> {
  let summary = "reads windows of a tensor at computed positions";
  let description = [{
    `indices` has shape [b_0, …, b_{k-1}, m]: for each of the b_0 × … × b_{k-1}
    positions, one vector of m starting coordinates, of any integer type (read
    as signed). Component j is the start along operand dimension `index_map[j]`.
    Starts are clamped to [0, size - slice_size].

    The result's dimensions are, in order: those in `offset_dims` walk through
    the window (operand dimensions not in `collapsed_dims` or
    `operand_batch_dims`, in order); the others are b_0 … b_{k-1}. Operand
    dimension `operand_batch_dims[j]` is read at the position's coordinate
    along indices dimension `indices_batch_dims[j]`.

    ```mlir
    // rows of an embedding table
    %r = coll.take %table[%ids] offset_dims [2] collapsed_dims [0] index_map [0]
         slice_sizes [1, 64] : tensor<128x64xf32>, tensor<8x32x1xi32> -> tensor<8x32x64xf32>
    ```

    Constraints: (C1) indices have rank >= 1, integer elements, and their last
    dimension is the length of `index_map`. (C2) `slice_sizes` has one entry per
    operand dimension, 0 <= slice_size <= size, and is 1 (or 0) for collapsed and batch
    dimensions. (C3) `collapsed_dims`, `operand_batch_dims`, `index_map` are
    within the operand's rank, each without repetition, the first two sorted
    and disjoint, the last two disjoint. (C4) `operand_batch_dims` and
    `indices_batch_dims` have one length and the sizes along them agree. (C5)
    `offset_dims` is sorted, without repetition, within the result's rank, and has one entry per
    window dimension. (C6) the result's shape is as described and its element
    type is the operand's.
  }];
  let arguments = (ins Coll_Tensor:$operand, Coll_Tensor:$indices,
                       DenseI64ArrayAttr:$offset_dims, DenseI64ArrayAttr:$collapsed_dims,
                       DenseI64ArrayAttr:$operand_batch_dims,
                       DenseI64ArrayAttr:$indices_batch_dims,
                       DenseI64ArrayAttr:$index_map, DenseI64ArrayAttr:$slice_sizes);
  let results = (outs Coll_Tensor:$result);
  let assemblyFormat = [{
    $operand `[` $indices `]`
    `` custom<DimList>("\"offset_dims\"", $offset_dims)
    `` custom<DimList>("\"collapsed_dims\"", $collapsed_dims)
    `` custom<DimList>("\"operand_batch_dims\"", $operand_batch_dims)
    `` custom<DimList>("\"indices_batch_dims\"", $indices_batch_dims)
    `` custom<DimList>("\"index_map\"", $index_map)
    `` custom<DimList>("\"slice_sizes\"", $slice_sizes)
    attr-dict `:` type($operand) `,` type($indices) `->` type($result)
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// Operand dimensions that the window walks through, in order: entry i is
    /// walked by result dimension getOffsetDims()[i].
    ::llvm::SmallVector<int64_t> getWindowDims();
    /// Result dimensions that run over the positions, in order: entry i is
    /// indices dimension i.
    ::llvm::SmallVector<int64_t> getBatchDims();
  }];
}

def Coll_AccumulateOp : Coll_Op<"accumulate",
    [Pure, SingleBlock, IsolatedFromAbove, AllTypesMatch<["operand", "result"]>]> {
  let summary = "combines updates into a tensor at computed positions";
  let description = [{
    The counterpart of `coll.take`: update element u at position p is combined
    into the operand element at start(p) plus the window offset by the region
    `(current, update) -> new`; an element that falls outside the operand is
    dropped. Updates are applied in row-major order of `updates`.

    `updates` dimensions in `window_dims` walk through the operand dimensions
    not in `inserted_dims` or `operand_batch_dims`; the others are the positions.

    ```mlir
    %r = coll.accumulate %u into %zero[%ids] window_dims [2] inserted_dims [0] index_map [0] {
    ^bb0(%current: f32, %update: f32):
      %s = arith.addf %current, %update : f32
      coll.yield %s : f32
    } : tensor<8x32x64xf32>, tensor<128x64xf32>, tensor<8x32x1xi32>
    ```

    Constraints: (C1) indices have rank >= 1, integer elements, and their last
    dimension is the length of `index_map`. (C2) the region takes two scalars of
    the operand's element type, is side-effect free, and yields one. (C3)
    `inserted_dims`, `operand_batch_dims`, `index_map` are within the operand's rank, each without
    repetition, the first two sorted and disjoint, the last two disjoint. (C4)
    `operand_batch_dims` and `indices_batch_dims` have one length and the sizes
    along them agree. (C5) `window_dims` is sorted, without repetition, within the updates' rank,
    and has one entry per window dimension, none longer than the operand's.
    (C6) the positions' dimensions are those of `indices`, and `updates` has
    the operand's element type.
  }];
  let arguments = (ins Coll_Tensor:$operand, Coll_Tensor:$indices, Coll_Tensor:$updates,
                       DenseI64ArrayAttr:$window_dims, DenseI64ArrayAttr:$inserted_dims,
                       DenseI64ArrayAttr:$operand_batch_dims,
                       DenseI64ArrayAttr:$indices_batch_dims,
                       DenseI64ArrayAttr:$index_map, UnitAttr:$unique_indices);
  let results = (outs Coll_Tensor:$result);
  let regions = (region SizedRegion<1>:$combiner);
  let assemblyFormat = [{
    $updates `into` $operand `[` $indices `]`
    `` custom<DimList>("\"window_dims\"", $window_dims)
    `` custom<DimList>("\"inserted_dims\"", $inserted_dims)
    `` custom<DimList>("\"operand_batch_dims\"", $operand_batch_dims)
    `` custom<DimList>("\"indices_batch_dims\"", $indices_batch_dims)
    `` custom<DimList>("\"index_map\"", $index_map)
    (`unique` $unique_indices^)? $combiner attr-dict
    `:` type($updates) `,` type($operand) `,` type($indices)
  }];
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
  let extraClassDeclaration = [{
    /// Operand dimensions that the window walks through, in order: entry i is
    /// walked by updates dimension getWindowDims()[i].
    ::llvm::SmallVector<int64_t> getOperandWindowDims();
    /// Updates dimensions that run over the positions, in order: entry i is
    /// indices dimension i.
    ::llvm::SmallVector<int64_t> getBatchDims();
  }];
}

def Coll_SortOp : Coll_Op<"sort",
    [Pure, SingleBlock, IsolatedFromAbove, DeclareOpInterfaceMethods<InferTypeOpInterface>]> {
  let summary = "sorts tensors together along one dimension";
  let description = [{
    Along `dim`, the elements of all inputs at one position move together. The
    region `(a_0, b_0, a_1, b_1, …) -> i1` says whether position a comes before
    position b, in elements of input 0, input 1, …; positions of which neither
    comes before the other keep their order.

    ```mlir
    %r = coll.sort %keys dim 1 {
    ^bb0(%a: f32, %b: f32):
      %less = arith.cmpf olt, %a, %b : f32
      coll.yield %less : i1
    } : tensor<8x32xf32>
    ```

    Constraints: (C1) there is an input, all have one shape, and `dim` is within its rank. (C2)
    the region takes two scalars per input, of its element type, is side-effect free, and
    yields one i1.
  }];
  let arguments = (ins Variadic<Coll_Tensor>:$inputs, I64Attr:$dim);
  let results = (outs Variadic<Coll_Tensor>:$results);
  let regions = (region SizedRegion<1>:$comparator);
  let assemblyFormat = "$inputs `dim` $dim $comparator attr-dict `:` type($inputs)";
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
}

def Coll_WindowOp : Coll_Op<"window", [Pure, SingleBlock, IsolatedFromAbove]> {
  let summary = "a sliding window, with the padding of what it reads";
  let description = [{
    The results are those of the region. Its last operation, a linalg operation or a concatenation,
    reads inputs that other operations of the region pad, spread out or cut. As long as they are one
    operation, a rank that has a part of a split dimension needs only a few elements of its
    neighbours, not the padded tensor. `coll-propagate` forms the operation, and `coll-partition`
    resolves it.

    ```mlir
    // weighted sums of three neighbours
    %r = coll.window %x, %kernel, %zero {
    ^bb0(%input: tensor<8xf32>, %weights: tensor<3xf32>, %init: tensor<8xf32>):
      %c = arith.constant 0.000000e+00 : f32
      %p = tensor.pad %input low[1] high[1] {
      ^bb0(%i: index):
        tensor.yield %c : f32
      } : tensor<8xf32> to tensor<10xf32>
      %s = linalg.conv_1d ins(%p, %weights : tensor<10xf32>, tensor<3xf32>) outs(%init : tensor<8xf32>) -> tensor<8xf32>
      coll.yield %s : tensor<8xf32>
    } : (tensor<8xf32>, tensor<3xf32>, tensor<8xf32>) -> tensor<8xf32>
    ```

    Constraints: (C1) the region takes the inputs. (C2) it yields the results, which are those of
    its last operation. (C3) it is side-effect free.
  }];
  let arguments = (ins Variadic<Coll_Tensor>:$inputs);
  let results = (outs Variadic<Coll_Tensor>:$results);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$inputs $body attr-dict `:` functional-type($inputs, $results)";
  let hasRegionVerifier = 1;
  let extraClassDeclaration = [{
    /// The operation whose results the region yields.
    ::mlir::Operation *getCore() { return getBody().front().getTerminator()->getPrevNode(); }
  }];
}

//===----------------------------------------------------------------------===//
// Compute that the runtime provides
//===----------------------------------------------------------------------===//

def Coll_GemmOp : Coll_Op<"gemm", [Pure, AllTypesMatch<["c", "result"]>]> {
  let summary = "matrix product by the runtime's BLAS";
  let description = [{
    For each batch position, `C = op(A) * op(B)`, plus the old C where
    `accumulate` is set. Operands are dense and row-major whatever their shape:
    `lds` are the row strides of A, B, C and `batch_strides_*` the distances
    between matrices, in elements, one per entry of `batch_sizes`. `op`
    transposes where `trans_a` / `trans_b` is set; m, n, k are the sizes after that. Products of
    16-bit floats are exact, and summed in f32. `precision` is what the step asks for: `"highest"`
    forbids to round f32 factors, `"high"` to less than 11 significant bits.

    ```mlir
    %r = coll.gemm %a, %b into %c mnk [4, 5, 6] lds [6, 5, 5]
       : tensor<4x6xf32>, tensor<6x5xf32>, tensor<4x5xf32>
    ```

    Constraints: (C1) elements are all f32 or all f64; or those of A and B are of one type, bf16 or
    f16, and those of C of that type or f32. (C2) `mnk` and `lds` have three
    entries, none negative. (C3) the batch lists have one length
    and no negative entry. (C4) no matrix reaches outside its operand. (C5) `precision` is highest
    or high.
  }];
  let arguments = (ins Coll_Tensor:$a, Coll_Tensor:$b, Coll_Tensor:$c,
                       OptionalAttr<StrAttr>:$precision,
                       DenseI64ArrayAttr:$mnk, DenseI64ArrayAttr:$lds,
                       UnitAttr:$trans_a, UnitAttr:$trans_b, UnitAttr:$accumulate,
                       DenseI64ArrayAttr:$batch_sizes,
                       DenseI64ArrayAttr:$batch_strides_a,
                       DenseI64ArrayAttr:$batch_strides_b,
                       DenseI64ArrayAttr:$batch_strides_c);
  let results = (outs Coll_Tensor:$result);
  let assemblyFormat = [{
    $a `,` $b `into` $c (`precision` $precision^)? (`trans_a` $trans_a^)? (`trans_b` $trans_b^)?
    (`accumulate` $accumulate^)? `mnk` $mnk `lds` $lds
    `` custom<DimList>("\"batch_sizes\"", $batch_sizes)
    `` custom<DimList>("\"batch_strides_a\"", $batch_strides_a)
    `` custom<DimList>("\"batch_strides_b\"", $batch_strides_b)
    `` custom<DimList>("\"batch_strides_c\"", $batch_strides_c)
    attr-dict `:` type($a) `,` type($b) `,` type($c)
  }];
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Rank programs
//===----------------------------------------------------------------------===//

def Coll_ProgramOp : Coll_Op<"program",
    [Symbol, SymbolTable, IsolatedFromAbove, NoTerminator, SingleBlock,
     NoRegionArguments]> {
  let summary = "the code of one class of ranks";
  let description = [{
    All ranks listed run the functions inside: `@init` once, `@step` per step.

    ```mlir
    coll.program @class0 ranks [0, 2 to 7] {
      func.func @step(%x: tensor<4xf32>) -> tensor<4xf32> { return %x : tensor<4xf32> }
    }
    ```

    Constraints: (C1) ranks are >= 0, ascending, at least one; at most 2^24. (C2) the body
    holds functions only.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, DenseI64ArrayAttr:$ranks);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$sym_name `ranks` custom<RankRanges>($ranks) $body attr-dict";
  let hasVerifier = 1;
}

#endif // COLL_DIALECT_OPS_TD
