//===- epilogue.td - products with epilogues on buffers ---------*- tablegen -*-===//
//
// Part of the specification, as ops.td; in a file of its own because few passes see it.
//
//===--------------------------------------------------------------------------===//

#ifndef COLL_DIALECT_EXEC_EPILOGUE_TD
#define COLL_DIALECT_EXEC_EPILOGUE_TD

include "dialect/exec/base.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

class Exec_ProductOp<string mnemonic, list<Trait> traits> : Op<Exec_Dialect, mnemonic, traits>;

def Exec_FusedGemmOp : Exec_ProductOp<"fused_gemm", [AttrSizedOperandSegments]> {
  let summary = "a matrix product and what follows it, by the runtime";
  let description = [{
    As `coll.fused_gemm`, on views: `into` names the result, and `keeps` the second one. `of` is the
    type of the factors, `to` that of everything else where it is another one, and `precision` says
    what f32 factors may be rounded to, as for `exec.gemm`.

    ```mlir
    exec.fused_gemm "bias_gelu" %a, %b with %bias into %h keeps %x of bf16 mnk [4, 5, 6] lds [6, 5, 5]
    ```

    Constraints: (C1) to (C6) as for `coll.fused_gemm`, except that the precision is highest, tf32 or
    bf16. (C7) what is written is not read only, and overlaps nothing else of the operation.
  }];
  let arguments = (ins StrAttr:$epilogue,
                       Arg<Exec_BufferType, "", [MemRead]>:$a,
                       Arg<Exec_BufferType, "", [MemRead]>:$b,
                       Arg<Optional<Exec_BufferType>, "", [MemRead]>:$with,
                       Arg<Exec_BufferType, "", [MemWrite]>:$result,
                       Arg<Optional<Exec_BufferType>, "", [MemWrite]>:$kept,
                       TypeAttr:$element, OptionalAttr<TypeAttr>:$sum_element,
                       OptionalAttr<StrAttr>:$precision, UnitAttr:$trans_a, UnitAttr:$trans_b,
                       DenseI64ArrayAttr:$mnk, DenseI64ArrayAttr:$lds);
  let assemblyFormat = [{
    $epilogue $a `,` $b (`with` $with^)? `into` $result (`keeps` $kept^)?
    `of` $element (`to` $sum_element^)? (`precision` $precision^)? (`trans_a` $trans_a^)?
    (`trans_b` $trans_b^)? `mnk` $mnk `lds` $lds attr-dict
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// The type of the results, and of what the epilogue reads.
    ::mlir::Type getResultElement() { return getSumElement().value_or(getElement()); }
    /// The operands that are read.
    ::llvm::SmallVector<::mlir::Value> getReads();
    /// The operands that are written.
    ::llvm::SmallVector<::mlir::Value> getWrites();
  }];
}

#endif // COLL_DIALECT_EXEC_EPILOGUE_TD
