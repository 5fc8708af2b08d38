//===- ops.td - operations of the exec dialect ------------------*- tablegen -*-===//
//
// This file is the specification. The label `exec_copy_c1` names the verifier line and the
// negative test of constraint C1 of exec.copy. What depends on the order of operations is
// checked by coll-verify-exec.
//
//===--------------------------------------------------------------------------===//

#ifndef COLL_DIALECT_EXEC_OPS_TD
#define COLL_DIALECT_EXEC_OPS_TD

include "dialect/base.td"
include "dialect/exec/base.td"
include "mlir/IR/BuiltinAttributeInterfaces.td"
include "mlir/IR/OpAsmInterface.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

class Exec_Op<string mnemonic, list<Trait> traits = []>
    : Op<Exec_Dialect, mnemonic, traits>;

/// A GroupAttr of the coll dialect.
def Exec_Group : Attr<CPred<"::llvm::isa<::mlir::coll::GroupAttr>($_self)">, "a group"> {
  let storageType = "::mlir::coll::GroupAttr";
  let returnType = "::mlir::coll::GroupAttr";
  let convertFromStorage = "$_self";
}

def Exec_Scalar : AnyTypeOf<[AnyInteger, Index, AnyFloat], "a scalar">;

//===----------------------------------------------------------------------===//
// Functions and memory
//===----------------------------------------------------------------------===//

def Exec_FunctionOp : Exec_Op<"function",
    [Symbol, IsolatedFromAbove, SingleBlock,
     DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmBlockArgumentNames"]>]> {
  let summary = "the code of a step, on buffers";
  let description = [{
    `updates` has one entry per result: the argument in whose buffer the result is produced,
    or -1. The block's arguments are the buffers: one per argument, one per result that updates
    none, and the arena. Arguments that no result updates are read only. Arguments have their
    content when the function begins, and results must have theirs when it ends.

    ```mlir
    exec.function @step(tensor<8xf32> {coll.name = "w"}, tensor<8xf32>) -> (tensor<8xf32>, tensor<f32>)
        updates [0, -1] arena 64 {
    ^bb0(%w: !exec.buffer, %x: !exec.buffer, %loss: !exec.buffer, %arena: !exec.buffer):
      exec.fill %loss with 0.000000e+00 : f32
      exec.return
    }
    ```

    Constraints: (C1) arguments and results are tensors of static shape. (C2) `updates` has one
    entry per result; an argument that is updated has the result's type and is named once. (C3)
    the block has one buffer per argument, per result that updates none, and the arena, whose
    size is not negative. (C4) inside, only views and constants make buffers, only operations of
    this dialect take them, and control flow is scf.for, scf.while and scf.if.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name,
                       TypeAttrOf<FunctionType>:$signature,
                       OptionalAttr<DictArrayAttr>:$arg_attrs,
                       OptionalAttr<DictArrayAttr>:$res_attrs,
                       DenseI64ArrayAttr:$updates, I64Attr:$arena_bytes);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    $sym_name `` custom<Signature>($signature, $arg_attrs, $res_attrs)
    `updates` $updates `arena` custom<Int>($arena_bytes)
    attr-dict-with-keyword $body
  }];
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
  let extraClassDeclaration = [{
    unsigned getNumArguments() { return getSignature().getNumInputs(); }
    unsigned getNumResults() { return getSignature().getNumResults(); }
    /// Attributes of an argument or a result; null if it has none.
    ::mlir::DictionaryAttr getArgAttrDict(unsigned index);
    ::mlir::DictionaryAttr getResultAttrDict(unsigned index);
    /// The buffer of a result: its own, or that of the argument that it updates.
    ::mlir::BlockArgument getResultBuffer(unsigned index);
    ::mlir::BlockArgument getArena() { return getBody().front().getArguments().back(); }
    /// Size of a buffer of the entry block.
    int64_t getBufferBytes(::mlir::BlockArgument buffer);
    /// Whether it is an argument that no result updates.
    bool isReadOnly(::mlir::BlockArgument buffer);
  }];
}

def Exec_ReturnOp : Exec_Op<"return", [Terminator, HasParent<"FunctionOp">]> {
  let summary = "ends a function; its results are in their buffers";
  let description = [{
    ```mlir
    exec.function @step() -> () updates [] arena 0 {
    ^bb0(%arena: !exec.buffer):
      exec.return
    }
    ```
  }];
  let assemblyFormat = "attr-dict";
}

def Exec_ViewOp : Exec_Op<"view",
    [Pure, DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmResultNames"]>]> {
  let summary = "a content, and the bytes of a buffer that it has while it lives";
  let description = [{
    ```mlir
    exec.function @step() -> () updates [] arena 256 {
    ^bb0(%arena: !exec.buffer):
      %v = exec.view %arena[128 for 64]
      exec.undefined %v
      exec.return
    }
    ```

    Constraints: (C1) the base is a buffer of the function. (C2) the bytes are inside the base.
  }];
  let arguments = (ins Exec_BufferType:$base, I64Attr:$offset, I64Attr:$bytes);
  let results = (outs Exec_BufferType:$result);
  let assemblyFormat = [{
    $base `[` custom<Int>($offset) `for` custom<Int>($bytes) `]` attr-dict
  }];
  let hasVerifier = 1;
}

def Exec_ConstantOp : Exec_Op<"constant", [Pure]> {
  let summary = "read-only memory with a content";
  let description = [{
    ```mlir
    %c = exec.constant dense<[1, 2]> : tensor<2xi32>
    ```

    Constraints: (C1) the elements are of a type that has a form in memory.
  }];
  let arguments = (ins ElementsAttr:$value);
  let results = (outs Exec_BufferType:$result);
  let assemblyFormat = "attr-dict $value";
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Contents
//===----------------------------------------------------------------------===//

def Exec_UndefinedOp : Exec_Op<"undefined"> {
  let summary = "from here on whatever is in the memory counts as the content";
  let description = [{
    For memory that is written piece by piece. Nothing happens at run time.

    ```mlir
    exec.undefined %v
    ```

    Constraints: (C1) the memory is not read only.
  }];
  let arguments = (ins Arg<Exec_BufferType, "", [MemWrite]>:$target);
  let assemblyFormat = "$target attr-dict";
  let hasVerifier = 1;
}

def Exec_RenameOp : Exec_Op<"rename"> {
  let summary = "a content gets another name, where it is";
  let description = [{
    A copy that is not made, because source and target were given the same memory. From here on
    the content is read through `target`. Nothing happens at run time.

    ```mlir
    exec.rename %v to %v
    ```

    Constraints: (C1) source and target are the same memory.
  }];
  let arguments = (ins Arg<Exec_BufferType, "", [MemRead]>:$source,
                       Arg<Exec_BufferType, "", [MemWrite]>:$target);
  let assemblyFormat = "$source `to` $target attr-dict";
  let hasVerifier = 1;
}

def Exec_CopyOp : Exec_Op<"copy"> {
  let summary = "copies a content to other memory";
  let description = [{
    ```mlir
    exec.function @step(tensor<4xf32>) -> tensor<4xf32> updates [-1] arena 0 {
    ^bb0(%x: !exec.buffer, %r: !exec.buffer, %arena: !exec.buffer):
      exec.copy %x to %r
      exec.return
    }
    ```

    Constraints: (C1) source and target have the same size. (C2) they do not overlap. (C3) the
    target is not read only.
  }];
  let arguments = (ins Arg<Exec_BufferType, "", [MemRead]>:$source,
                       Arg<Exec_BufferType, "", [MemWrite]>:$target);
  let assemblyFormat = "$source `to` $target attr-dict";
  let hasVerifier = 1;
}

def Exec_FillOp : Exec_Op<"fill"> {
  let summary = "writes one element all over a view";
  let description = [{
    ```mlir
    exec.fill %v with 0.000000e+00 : f32
    ```

    Constraints: (C1) the size of the view is a multiple of the element's. (C2) the view is not
    read only.
  }];
  let arguments = (ins Arg<Exec_BufferType, "", [MemWrite]>:$target, TypedAttrInterface:$value);
  let assemblyFormat = "$target `with` $value attr-dict";
  let hasVerifier = 1;
}

def Exec_LoadOp : Exec_Op<"load"> {
  let summary = "reads one element, for the control flow";
  let description = [{
    The index counts elements.

    ```mlir
    %s = exec.load %v[%i] : f32
    ```

    Constraints: (C1) the view holds at least one element.
  }];
  let arguments = (ins Arg<Exec_BufferType, "", [MemRead]>:$source, Index:$index);
  let results = (outs Exec_Scalar:$result);
  let assemblyFormat = "$source `[` $index `]` attr-dict `:` type($result)";
  let hasVerifier = 1;
}

def Exec_StoreOp : Exec_Op<"store"> {
  let summary = "writes scalars, which are the whole content of a view";
  let description = [{
    ```mlir
    exec.function @step() -> () updates [] arena 64 {
    ^bb0(%arena: !exec.buffer):
      %one = arith.constant 1 : i32
      %v = exec.view %arena[0 for 8]
      exec.store %one, %one to %v : i32, i32
      exec.return
    }
    ```

    Constraints: (C1) the values are of one type and fill the view. (C2) the view is not read
    only.
  }];
  let arguments = (ins Variadic<Exec_Scalar>:$values,
                       Arg<Exec_BufferType, "", [MemWrite]>:$target);
  let assemblyFormat = "$values `to` $target attr-dict `:` type($values)";
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Computation
//===----------------------------------------------------------------------===//

def Exec_CallOp : Exec_Op<"call",
    [DeclareOpInterfaceMethods<SymbolUserOpInterface>,
     DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "runs a kernel";
  let description = [{
    Operands stand in the kernel's order. `read`: the kernel reads the content. `reuse`: the kernel
    reads it, and the memory is that of a `write` or `update` operand, whose content replaces it.
    `write`: the kernel writes all of it without reading it. `update`: the kernel reads and writes
    it. `scratch`: memory that the kernel may use. Operands without an access are scalars.

    ```mlir
    func.func private @kernel_0(memref<8xf32>, memref<8xf32>, index, memref<8xf32>)
    exec.function @step(tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32> updates [0] arena 0 {
    ^bb0(%w: !exec.buffer, %g: !exec.buffer, %arena: !exec.buffer):
      %i = arith.constant 0 : index
      %new_w = exec.view %w[0 for 32]
      exec.call @kernel_0(reuse %w, read %g, %i : index, write %new_w)
      exec.rename %new_w to %w
      exec.return
    }
    ```

    A kernel with the attribute `exec.members` works on the memory of all members of a group:
    `{group, size, sums, copies}` says that an element that it reads from its argument `sums` is the
    sum over the members, in their order, and that an element that it writes to its argument
    `copies` goes to all of them. After its own arguments it takes the addresses of `sums` on each
    member, then those of `copies`. It may be called only where `exec.reaches` says that these
    addresses exist. While it runs, its inputs must be complete on all members and in no other use
    there: it is called between barriers.

    Constraints: (C1) the kernel is a function with as many arguments, and those of the members that
    `exec.members` asks for. (C2) buffers have an access, and scalars have
    none. (C3) what is written is not read only. (C4) what is written
    overlaps nothing else of the call, `reuse` apart. (C5) a `reuse` operand is the memory of a
    `write` or an `update`.
  }];
  let arguments = (ins FlatSymbolRefAttr:$callee,
                       Variadic<AnyTypeOf<[Exec_BufferType, Exec_Scalar]>>:$operands,
                       DenseI32ArrayAttr:$accesses);
  let assemblyFormat = [{
    $callee `` custom<CallOperands>($operands, type($operands), $accesses) attr-dict
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    ::mlir::coll::exec::Access getAccess(unsigned operand) {
      return static_cast<::mlir::coll::exec::Access>(getAccesses()[operand]);
    }
    /// For each `reuse` operand: its number, and that of the operand whose memory it is.
    ::llvm::SmallVector<std::pair<unsigned, unsigned>> getReused();
  }];
}

def Exec_GemmOp : Exec_Op<"gemm"> {
  let summary = "matrix product by the runtime's BLAS";
  let description = [{
    As `coll.gemm`, on views: for each batch position `C = op(A) * op(B)`, plus the old C where
    `accumulate` is set. Sizes and strides are in elements. `precision` says what f32 factors may
    be rounded to where that is faster: `"tf32"` (11 significant bits) or `"bf16"` (8), or nothing
    (`"highest"`, the default). CPUs do not round them. Sums are in f32 or wider. `of` names the
    type of the factors, `to` that of C where it is another one.

    ```mlir
    exec.gemm %a, %b into %c of bf16 to f32 trans_a mnk [4, 5, 6] lds [4, 5, 5] batch_sizes [2] batch_strides_a [24] batch_strides_b [30] batch_strides_c [20]
    ```

    Constraints: (C1) factors and C are f32 or f64; or factors are bf16 or f16, and C is of that
    type or f32; and the precision is one of these. (C2) `mnk` and `lds` have three entries, and the
    batch lists have one length; none is negative. (C3) no matrix reaches outside its view. (C4)
    C is not read only, and overlaps neither A nor B.
  }];
  let arguments = (ins Arg<Exec_BufferType, "", [MemRead]>:$a,
                       Arg<Exec_BufferType, "", [MemRead]>:$b,
                       Arg<Exec_BufferType, "", [MemRead, MemWrite]>:$c,
                       TypeAttr:$element, OptionalAttr<TypeAttr>:$sum_element,
                       OptionalAttr<StrAttr>:$precision,
                       DenseI64ArrayAttr:$mnk, DenseI64ArrayAttr:$lds,
                       UnitAttr:$trans_a, UnitAttr:$trans_b, UnitAttr:$accumulate,
                       DenseI64ArrayAttr:$batch_sizes,
                       DenseI64ArrayAttr:$batch_strides_a,
                       DenseI64ArrayAttr:$batch_strides_b,
                       DenseI64ArrayAttr:$batch_strides_c);
  let assemblyFormat = [{
    $a `,` $b `into` $c `of` $element (`to` $sum_element^)? (`precision` $precision^)?
    (`trans_a` $trans_a^)? (`trans_b` $trans_b^)? (`accumulate` $accumulate^)? `mnk` $mnk `lds` $lds
    `` custom<DimList>("\"batch_sizes\"", $batch_sizes)
    `` custom<DimList>("\"batch_strides_a\"", $batch_strides_a)
    `` custom<DimList>("\"batch_strides_b\"", $batch_strides_b)
    `` custom<DimList>("\"batch_strides_c\"", $batch_strides_c)
    attr-dict
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// The type of C.
    ::mlir::Type getResultElement() { return getSumElement().value_or(getElement()); }
    ::mlir::coll::exec::Precision getProductPrecision() {
      return *symbolizePrecision(getPrecision().value_or("highest"));
    }
  }];
}

def Exec_AttentionOp : Exec_Op<"attention"> {
  let summary = "attention by the runtime";
  let description = [{
    As `coll.attention`, on views; `of` names the type of the elements, and `precision` says what
    f32 factors may be rounded to, as for `exec.gemm`, except that bf16 is not accepted.

    ```mlir
    exec.function @step(tensor<2x8x8xf32>) -> (tensor<2x8x8xf32>, tensor<2x8xf32>) updates [-1, -1] arena 0 {
    ^bb0(%x: !exec.buffer, %o: !exec.buffer, %lse: !exec.buffer, %arena: !exec.buffer):
      exec.attention %x at [0, 0, 64, 8], %x at [0, 0, 64, 8], %x at [0, 0, 64, 8]
        to %o at [0, 0, 64, 8], %lse of f32 sizes [1, 2, 2, 8, 8, 8] scale 1.000000e+00
      exec.return
    }
    ```

    Constraints: (C1) to (C5) as for `coll.attention`; the precision is highest or tf32. (C6) what
    is written is not read only, and overlaps nothing else of the operation.
  }];
  let arguments = !con((ins Arg<Exec_BufferType, "", [MemRead]>:$q,
                            Arg<Exec_BufferType, "", [MemRead]>:$k,
                            Arg<Exec_BufferType, "", [MemRead]>:$v,
                            Arg<Exec_BufferType, "", [MemWrite]>:$o,
                            Arg<Exec_BufferType, "", [MemWrite]>:$lse, TypeAttr:$element),
                       Coll_AttentionOf.sizes, Coll_AttentionOf.places);
  let assemblyFormat = [{
    $q `at` $q_at `,` $k `at` $k_at `,` $v `at` $v_at `to` $o `at` $o_at `,` $lse `of` $element
    `sizes` $sizes `scale` $scale (`causal` $causal^)? (`precision` $precision^)? attr-dict
  }];
  let hasVerifier = 1;
}

def Exec_AttentionGradientOp : Exec_Op<"attention_gradient"> {
  let summary = "the gradient of attention by the runtime";
  let description = [{
    As `coll.attention_gradient`, on views. `scratch` is memory that it may use, of 4 bytes for each
    batch entry, head and query.

    ```mlir
    exec.attention_gradient %q at [0, 0, 64, 8], %k at [0, 0, 64, 8], %v at [0, 0, 64, 8],
      %o at [0, 0, 64, 8], %lse, %do at [0, 0, 64, 8]
      to %dq at [0, 0, 64, 8], %dk at [0, 0, 64, 8], %dv at [0, 0, 64, 8] scratch %s
      of bf16 sizes [1, 2, 2, 8, 8, 8] scale 1.000000e+00 causal
    ```

    Constraints: (C1) to (C6) as for `exec.attention`. (C7) the scratch memory is large enough.
  }];
  let arguments = !con((ins Arg<Exec_BufferType, "", [MemRead]>:$q,
                            Arg<Exec_BufferType, "", [MemRead]>:$k,
                            Arg<Exec_BufferType, "", [MemRead]>:$v,
                            Arg<Exec_BufferType, "", [MemRead]>:$o,
                            Arg<Exec_BufferType, "", [MemRead]>:$lse,
                            Arg<Exec_BufferType, "", [MemRead]>:$d_o,
                            Arg<Exec_BufferType, "", [MemWrite]>:$d_q,
                            Arg<Exec_BufferType, "", [MemWrite]>:$d_k,
                            Arg<Exec_BufferType, "", [MemWrite]>:$d_v,
                            Arg<Exec_BufferType, "", [MemWrite]>:$scratch, TypeAttr:$element),
                       Coll_AttentionOf.sizes, Coll_AttentionOf.places,
                       Coll_AttentionOf.gradientPlaces);
  let assemblyFormat = [{
    $q `at` $q_at `,` $k `at` $k_at `,` $v `at` $v_at `,` $o `at` $o_at `,` $lse `,`
    $d_o `at` $d_o_at `to` $d_q `at` $d_q_at `,` $d_k `at` $d_k_at `,` $d_v `at` $d_v_at
    `scratch` $scratch `of` $element `sizes` $sizes `scale` $scale (`causal` $causal^)?
    (`precision` $precision^)? attr-dict
  }];
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Communication
//===----------------------------------------------------------------------===//

/// An operation that communicates between views. What is communicated is an operation of the
/// coll dialect in its region.
class Exec_CommunicationOp<string mnemonic>
    : Exec_Op<mnemonic, [AttrSizedOperandSegments, IsolatedFromAbove, SingleBlock,
                         DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let arguments = (ins Variadic<Exec_BufferType>:$reads, Variadic<Exec_BufferType>:$writes,
                       Variadic<Index>:$scalars);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    (`reads` `(` $reads^ `)`)? (`writes` `(` $writes^ `)`)? (`scalars` `(` $scalars^ `)`)?
    $body attr-dict
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// The communication operations of the region; several are one call.
    ::llvm::iterator_range<::mlir::Block::iterator> getCommunications() {
      return getBody().front().without_terminator();
    }
  }];
}

def Exec_CommunicateOp : Exec_CommunicationOp<"communicate"> {
  let summary = "a collective or a transfer between views";
  let description = [{
    The region holds a communication operation of coll on tensors. The block's arguments stand
    for what the views in `reads` hold and for `scalars`; what it yields is written to `writes`.

    ```mlir
    exec.function @step(tensor<4xf32>) -> tensor<4xf32> updates [-1] arena 0 {
    ^bb0(%x: !exec.buffer, %r: !exec.buffer, %arena: !exec.buffer):
      exec.communicate reads(%x) writes(%r) {
      ^bb0(%a: tensor<4xf32>):
        %s = coll.all_reduce sum %a over @m["dp"] : tensor<4xf32>
        coll.yield %s : tensor<4xf32>
      }
      exec.return
    }
    ```

    Several operations in the region, as `coll.start` takes them, are one call, which works in
    place: their tensors lie one behind the other.

    ```mlir
    exec.function @step() -> () updates [] arena 128 {
    ^bb0(%arena: !exec.buffer):
      %x = exec.view %arena[0 for 16]
      %y = exec.view %arena[64 for 24]
      exec.undefined %x
      exec.undefined %y
      exec.communicate reads(%x, %y) writes(%x, %y) {
      ^bb0(%a: tensor<4xf32>, %b: tensor<2x3xf32>):
        %s = coll.all_reduce sum %a over @m["dp"] : tensor<4xf32>
        %t = coll.all_reduce sum %b over @m["dp"] : tensor<2x3xf32>
        coll.yield %s, %t : tensor<4xf32>, tensor<2x3xf32>
      }
      exec.return
    }
    ```

    Constraints: (C1) the region holds communication operations and the yield of their results.
    (C2) the block's arguments are one tensor or route per `reads`, of the view's size, and the
    scalars. (C3) what is yielded has the sizes of `writes`. (C4) what is written is not read
    only, and overlaps nothing else, unless an operation that works in place reads and writes
    the same memory. (C5) several operations are alike, as those of a `coll.start`; they write
    what they read, and each tensor begins at the next multiple of 64 bytes behind the one before.
  }];
}

def Exec_StartOp : Exec_CommunicationOp<"start"> {
  let summary = "starts a collective or a transfer and does not wait for it";
  let description = [{
    As `exec.communicate`, but until the request was waited for, the views in `reads` must not be
    changed, and the views in `writes` must not be used.

    ```mlir
    exec.function @step(tensor<4xf32>) -> tensor<4xf32> updates [-1] arena 0 {
    ^bb0(%x: !exec.buffer, %r: !exec.buffer, %arena: !exec.buffer):
      %req = exec.start reads(%x) writes(%r) {
      ^bb0(%a: tensor<4xf32>):
        %s = coll.all_reduce sum %a over @m["dp"] : tensor<4xf32>
        coll.yield %s : tensor<4xf32>
      }
      exec.wait %req writes(%r)
      exec.return
    }
    ```

    Constraints: (C1) to (C5) as for `exec.communicate`; dispatch, combine and init cannot be
    started. (C6) the request is waited for exactly once: each value that holds it is used once,
    in its own block, by `exec.wait` or by an `scf.for` that carries it on.
  }];
  let results = (outs Exec_RequestType:$request);
}

def Exec_WaitOp : Exec_Op<"wait", [DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "waits for a communication in flight";
  let description = [{
    `writes` are views of the memory that the communication has written.

    Constraints: (C1) the request comes from an `exec.start`, directly or through the loops that
    carry it. (C2) `writes` are as many views as the start writes, of the same memory; all starts
    whose request may be waited for here read and write the same memory.
  }];
  let arguments = (ins Exec_RequestType:$request, Variadic<Exec_BufferType>:$writes);
  let assemblyFormat = "$request (`writes` `(` $writes^ `)`)? attr-dict";
  let hasVerifier = 1;
}

def Exec_ReachesOp : Exec_Op<"reaches",
    [Pure, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "whether kernels reach the memory of all members of a group";
  let description = [{
    The runtime knows the answer once the program's memory has been allocated. The answer is the
    same on all members, and in every step.

    ```mlir
    %reached = exec.reaches over @m["dp"]
    ```
  }];
  let arguments = (ins Exec_Group:$group);
  let results = (outs I1:$result);
  let assemblyFormat = "`over` custom<Group>($group) attr-dict";
}

#endif // COLL_DIALECT_EXEC_OPS_TD
