//===- base.td - the exec dialect -------------------------------*- tablegen -*-===//

#ifndef COLL_DIALECT_EXEC_BASE_TD
#define COLL_DIALECT_EXEC_BASE_TD

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/OpBase.td"

def Exec_Dialect : Dialect {
  let name = "exec";
  let cppNamespace = "::mlir::coll::exec";
  let summary = "A compiled step: buffers, and what happens to them in which order";
  let description = [{
    `exec` is the level between tensors and machine code. Every tensor of a step has become a
    *view*: a named part of an argument, of a result or of the arena. Operations read and
    write views; control flow is scf over scalars; scalar arithmetic is arith.

    A view is a name for one content, not only for its place. Several views may name the same bytes
    at different times, and a content is there from the write through its own view until something
    else is written over it. That is how coll-verify-exec detects a wrong plan of the memory.

    A module holds one rank class, with its kernels, and says which ranks these are:

    | attribute | on | meaning |
    |---|---|---|
    | `exec.ranks` | module | the ranks that run its functions |
    | `exec.gpu` | module | the GPU that its kernels are for, as `"sm_90"`; without it they are for CPUs |
  }];
  let useDefaultTypePrinterParser = 1;
  let hasOperationAttrVerify = 1;
  let dependentDialects = ["::mlir::coll::CollDialect"];
}

class Exec_Type<string name, string typeMnemonic> : TypeDef<Exec_Dialect, name> {
  let mnemonic = typeMnemonic;
}

def Exec_BufferType : Exec_Type<"Buffer", "buffer">,
    BuildableType<"$_builder.getType<::mlir::coll::exec::BufferType>()"> {
  let summary = "memory of a step";
  let description = [{
    An argument, a result, a constant, the arena, or a view of one of these. Its size is that
    of what defines it. All but views begin at a multiple of 64 bytes.
  }];
}

def Exec_RequestType : Exec_Type<"Request", "request">,
    BuildableType<"$_builder.getType<::mlir::coll::exec::RequestType>()"> {
  let summary = "a communication in flight";
  let description = [{
    Made by `exec.start`, ended by exactly one `exec.wait`.
  }];
}

def Exec_Access : I32EnumAttr<"Access", "what a kernel does with an operand", [
      I32EnumAttrCase<"Scalar", 0, "scalar">,
      I32EnumAttrCase<"Read", 1, "read">,
      I32EnumAttrCase<"Reuse", 2, "reuse">,
      I32EnumAttrCase<"Write", 3, "write">,
      I32EnumAttrCase<"Update", 4, "update">,
      I32EnumAttrCase<"Scratch", 5, "scratch">,
    ]> {
  let cppNamespace = "::mlir::coll::exec";
  let genSpecializedAttr = 0;
}

def Exec_Precision : I32EnumAttr<"Precision", "what f32 factors may be rounded to", [
      I32EnumAttrCase<"Highest", 0, "highest">,
      I32EnumAttrCase<"Tf32", 1, "tf32">,
      I32EnumAttrCase<"Bf16", 2, "bf16">,
    ]> {
  let cppNamespace = "::mlir::coll::exec";
  let genSpecializedAttr = 0;
}
#endif // COLL_DIALECT_EXEC_BASE_TD
