//===- attrs.td - attributes and types of the coll dialect ------*- tablegen -*-===//

#ifndef COLL_DIALECT_ATTRS_TD
#define COLL_DIALECT_ATTRS_TD

include "dialect/base.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"

class Coll_Attr<string name, string attrMnemonic> : AttrDef<Coll_Dialect, name> {
  let mnemonic = attrMnemonic;
}

//===----------------------------------------------------------------------===//
// Enumerations
//===----------------------------------------------------------------------===//

def Coll_ReductionKind : I32EnumAttr<"ReductionKind",
    "how the contributions of several ranks become one value", [
      I32EnumAttrCase<"Sum", 0, "sum">,
      I32EnumAttrCase<"Prod", 1, "prod">,
      I32EnumAttrCase<"Min", 2, "min">,
      I32EnumAttrCase<"Max", 3, "max">,
      I32EnumAttrCase<"UMin", 4, "umin">,
      I32EnumAttrCase<"UMax", 5, "umax">,
      I32EnumAttrCase<"Avg", 6, "avg">,
      I32EnumAttrCase<"And", 7, "and">,
      I32EnumAttrCase<"Or", 8, "or">,
      I32EnumAttrCase<"Xor", 9, "xor">,
    ]> {
  let cppNamespace = "::mlir::coll";
  let genSpecializedAttr = 0;
}
def Coll_ReductionKindAttr
    : EnumAttr<Coll_Dialect, Coll_ReductionKind, "reduction"> {
  let summary = "reduction kind";
  let description = [{
    `min` and `max` propagate NaN and read integers as signed; `umin` and `umax`
    read them as unsigned. `and`, `or`, `xor` are bitwise and take integers only.
    `avg` is the sum divided by the group's size, and takes floats only.
  }];
}

def Coll_Order : I32EnumAttr<"Order", "order in which contributions are combined", [
      I32EnumAttrCase<"Any", 0, "any">,
      I32EnumAttrCase<"Rank", 1, "rank">,
    ]> {
  let cppNamespace = "::mlir::coll";
  let genSpecializedAttr = 0;
}
def Coll_OrderAttr : EnumAttr<Coll_Dialect, Coll_Order, "order"> {
  let summary = "determinism order of a reduction";
  let description = [{
    `rank`: contributions are combined left to right in group order, so results
    are bit-identical from run to run. No pass may weaken `rank` to `any`.
  }];
}

def Coll_Root : I32EnumAttr<"Root", "how the root of a parameter is chosen", [
      I32EnumAttrCase<"Hash", 0, "hash">,
      I32EnumAttrCase<"Balanced", 1, "balanced">,
      I32EnumAttrCase<"Shard", 2, "shard">,
    ]> {
  let cppNamespace = "::mlir::coll";
  let genSpecializedAttr = 0;
}
def Coll_RootAttr : EnumAttr<Coll_Dialect, Coll_Root, "root"> {
  let summary = "choice of a parameter's root";
  let description = [{
    The root of a parameter is the rank that combines its gradient, updates it, and stores what
    the optimizer keeps for it. `hash`: by the parameter's name, so that it is the same in every
    run and on every machine; by its number where it has no name. `balanced`: the largest
    parameters first, each to the rank that has least. `shard`: parameters are cut, so that every
    rank is the root of equally many elements.
  }];
}

def Coll_Route : I32EnumAttr<"Route", "how gradients get to a root and parameters back", [
      I32EnumAttrCase<"Direct", 0, "direct">,
      I32EnumAttrCase<"Ring", 1, "ring">,
    ]> {
  let cppNamespace = "::mlir::coll";
  let genSpecializedAttr = 0;
}
def Coll_RouteAttr : EnumAttr<Coll_Dialect, Coll_Route, "route"> {
  let summary = "route of a root update";
  let description = [{
    `direct`: one reduction to the roots and one gather from them, as the backend does them.
    `ring`: partial sums pass from neighbour to neighbour until they reach the root, and the
    updated parameter goes on round the ring: 2(n - 1) sends for each parameter.
  }];
}

//===----------------------------------------------------------------------===//
// Shardings
//===----------------------------------------------------------------------===//

def Coll_DimShardingAttr : Coll_Attr<"DimSharding", "dim"> {
  let summary = "how one dimension is split";
  let description = [{
    The dimension is split by `axes`, major to minor, into equal blocks whose
    extent is a multiple of `unit`: with extent E and n shards the block is
    `ceil(ceil(E / unit) / n) * unit`, and shard i holds the elements
    [i * block, min((i + 1) * block, E)). The last shards may be short or empty.
    Without axes the dimension is whole on every rank.

    Constraints: (C1) no axis occurs twice. (C2) 1 <= unit < 2^31.
  }];
  let parameters = (ins
    ArrayRefParameter<"::mlir::StringAttr">:$axes,
    DefaultValuedParameter<"int64_t", "1">:$unit);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

def Coll_ShardingAttr : Coll_Attr<"Sharding", "sharding"> {
  let summary = "where the elements of a tensor are";
  let description = [{
    One `dim` per tensor dimension, and the axes over which the value is
    *partial*: each rank holds a contribution, and combining the contributions
    along those axes with `partial_kind` gives the value.

    ```mlir
    #coll.sharding<@m, [["dp"], []]>                    // rows split by "dp"
    #coll.sharding<@m, [["dp", "tp"] unit 32, []]>      // blocks of whole 32s
    #coll.sharding<@m, [[], []], partial sum ["dp"]>    // to be summed over "dp"
    ```

    Constraints: (C1) no axis occurs twice, counting dimensions and partial axes.
    Where it is attached: the mesh exists and has the axes, and the number of
    dimensions is the tensor's rank.
  }];
  let parameters = (ins
    "::mlir::FlatSymbolRefAttr":$mesh,
    ArrayRefParameter<"::mlir::coll::DimShardingAttr">:$dims,
    OptionalArrayRefParameter<"::mlir::StringAttr">:$partialAxes,
    DefaultValuedParameter<"::mlir::coll::ReductionKind",
                           "::mlir::coll::ReductionKind::Sum">:$partialKind);
  // Where nothing is partial the kind is `sum`, so that equal shardings are one attribute.
  let skipDefaultBuilders = 1;
  let builders = [
    AttrBuilder<(ins "::mlir::FlatSymbolRefAttr":$mesh,
                     "::llvm::ArrayRef<::mlir::coll::DimShardingAttr>":$dims,
                     CArg<"::llvm::ArrayRef<::mlir::StringAttr>", "{}">:$partialAxes,
                     CArg<"::mlir::coll::ReductionKind",
                          "::mlir::coll::ReductionKind::Sum">:$partialKind), [{
      return $_get($_ctxt, mesh, dims, partialAxes,
                   partialAxes.empty() ? ::mlir::coll::ReductionKind::Sum : partialKind);
    }]>
  ];
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// The sharding that holds a whole copy of a rank-`rank` tensor everywhere.
    static ShardingAttr replicated(::mlir::FlatSymbolRefAttr mesh, int64_t rank);
    /// No dimension is split and nothing is partial.
    bool isReplicated() const;
    /// Some contribution is still to be combined.
    bool isPartial() const { return !getPartialAxes().empty(); }
    /// The same split, with nothing partial.
    ShardingAttr withoutPartial() const;
  }];
}

//===----------------------------------------------------------------------===//
// Device groups
//===----------------------------------------------------------------------===//

def Coll_GroupAttr : Coll_Attr<"Group", "group"> {
  let summary = "which ranks communicate with one another";
  let description = [{
    Either axes of a mesh: ranks whose other coordinates agree form a group,
    ordered by the named axes, major to minor. Or a list of disjoint rank lists.

    ```mlir
    #coll.group<@m["dp"]>
    #coll.group<[[0, 1], [2, 3]]>
    ```

    Constraints: (C1) no axis and no rank occurs twice. (C2) a rank is >= 0 and
    below 2^24. (C3) there is an axis or a list; lists are not empty and have one
    length. Where it is attached: the mesh
    exists and has the axes.
  }];
  let parameters = (ins
    OptionalParameter<"::mlir::FlatSymbolRefAttr">:$mesh,
    OptionalArrayRefParameter<"::mlir::StringAttr">:$axes,
    OptionalArrayRefParameter<"::mlir::DenseI64ArrayAttr">:$lists);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// The group is named by mesh axes, not by rank lists.
    bool isMesh() const { return static_cast<bool>(getMesh()); }
  }];
}

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

class Coll_Type<string name, string typeMnemonic> : TypeDef<Coll_Dialect, name> {
  let mnemonic = typeMnemonic;
}

def Coll_FutureType : Coll_Type<"Future", "future"> {
  let summary = "an operation in flight, and the types of what it will have received";
  let description = [{
    Made by `coll.start`, ended by exactly one `coll.await`. A future is a value: loops carry it
    from round to round. `!coll.future` receives nothing, `!coll.future<tensor<4xf32>>` a tensor.
  }];
  let parameters = (ins OptionalArrayRefParameter<"::mlir::Type">:$types);
  let assemblyFormat = "(`<` $types^ `>`)?";
}

def Coll_RouteType : Coll_Type<"Route", "route"> {
  let summary = "where the tokens of a dispatch went";
  let description = [{
    Only `coll.dispatch` makes one, so whatever a `coll.combine` takes belongs to a dispatch: of
    `tokens` tokens of this rank with `topk` experts each, received in `capacity` rows, over
    `group`: `!coll.route<16 topk 2 to 64 over @m["dp"]>`. A route lives as long as the step; it is
    no argument or result of @step.

    Constraints: (C1) 1 <= topk <= 32. (C2) 0 <= tokens, capacity < 2^30.
  }];
  let parameters = (ins "int64_t":$tokens, "int64_t":$topk, "int64_t":$capacity,
                        "::mlir::coll::GroupAttr":$group);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

#endif // COLL_DIALECT_ATTRS_TD
