//===- base.td - the coll dialect -------------------------------*- tablegen -*-===//

#ifndef COLL_DIALECT_BASE_TD
#define COLL_DIALECT_BASE_TD

include "mlir/IR/OpBase.td"

def Coll_Dialect : Dialect {
  let name = "coll";
  let cppNamespace = "::mlir::coll";
  let summary = "Collective communication of partitioned training steps";
  let description = [{
    `coll` represents how a training step that was written for one device runs
    on N: meshes and shardings, collectives and point-to-point transfers, the
    asynchronous form of each, and one program per class of ranks.

    The dialect owns these discardable attributes, and refuses others that begin
    with `coll.`:

    | attribute | on | meaning |
    |---|---|---|
    | `coll.role` | function argument | `"state"` (result k updates it) or `"batch"` |
    | `coll.name` | function argument or result | the name that the front end gave it |
    | `coll.parts` | function argument | the state that lies in it, where `coll-place-roots` has put several into one; empty for state that the compiler adds |
    | `coll.sharding` | function argument or result | the `#coll.sharding` of the value |
    | `coll.shardings` | operation | one `#coll.sharding` per result (`unit` where it is not a tensor), set by propagation |
    | `coll.global_type` | function argument or result of a partitioned function | its type before partitioning |
    | `coll.index` | function argument or result of a program | its number in the step, where programs have different ones |
    | `coll.access` | kernel argument | `"read"`, `"write"` (old content ignored) or `"readwrite"` |
    | `coll.may_alias` | kernel argument | results in whose buffer the argument may live |
    | `coll.kernel` | `scf.for` | marks a loop nest as one kernel |
    | `coll.pin` | `coll.reshard` from a sharding to the same | the user wrote the sharding; a dictionary of `open_dims`, which may be split further, and `replicated`, the axes that may not split them |
    | `coll.why` | `coll.reshard` and collectives | why the operation was inserted |
  }];
  let useDefaultTypePrinterParser = 1;
  let useDefaultAttributePrinterParser = 1;
  let hasOperationAttrVerify = 1;
  let hasRegionArgAttrVerify = 1;
  let hasRegionResultAttrVerify = 1;
  let hasConstantMaterializer = 1;
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

def Coll_Tensor : StaticShapeTensorOf<[AnyTypeOf<[AnyInteger, Index, AnyFloat]>]>;

class Coll_Op<string mnemonic, list<Trait> traits = []>
    : Op<Coll_Dialect, mnemonic, traits>;

// The attributes of an attention. `sizes` is [batch, heads, kv_heads, queries, keys, dim]: q, o and
// their gradients are [batch][heads][queries][dim], k, v and theirs [batch][kv_heads][keys][dim]. A
// list `*_at` says where a tensor's elements are in its operand, which is dense, whatever its
// shape: [first element, batch stride, head stride, row stride]; those of a row are neighbours.
class Coll_Attention {
  dag sizes = (ins DenseI64ArrayAttr:$sizes, F64Attr:$scale, UnitAttr:$causal,
                   OptionalAttr<StrAttr>:$precision);
  dag places = (ins DenseI64ArrayAttr:$q_at, DenseI64ArrayAttr:$k_at, DenseI64ArrayAttr:$v_at,
                    DenseI64ArrayAttr:$o_at);
  dag gradientPlaces = (ins DenseI64ArrayAttr:$d_o_at, DenseI64ArrayAttr:$d_q_at,
                            DenseI64ArrayAttr:$d_k_at, DenseI64ArrayAttr:$d_v_at);
}
def Coll_AttentionOf : Coll_Attention;

#endif // COLL_DIALECT_BASE_TD
