// Driver functions: products with epilogues.

#include "passes/export/emit_driver.h"

#include <cstddef>

using namespace mlir;
using namespace mlir::coll;

static_assert(static_cast<int>(Epilogue::Bias) == kCollEpilogueBias &&
              static_cast<int>(Epilogue::Relu) == kCollEpilogueRelu &&
              static_cast<int>(Epilogue::BiasRelu) == kCollEpilogueBiasRelu &&
              static_cast<int>(Epilogue::Gelu) == kCollEpilogueGelu &&
              static_cast<int>(Epilogue::BiasGelu) == kCollEpilogueBiasGelu &&
              static_cast<int>(Epilogue::GeluGradient) == kCollEpilogueGeluGradient);

/// The shape is a constant of the module. The call gets a copy, with the addresses that the
/// epilogue reads and writes.
void DriverEmitter::emitFusedGemm(exec::FusedGemmOp op) {
  const Epilogue epilogue = *symbolizeEpilogue(op.getEpilogue());
  CollContraction contraction = {};
  contraction.dtype_a = contraction.dtype_b = *getDtype(op.getElement());
  contraction.dtype_out = *getDtype(op.getResultElement());
  contraction.compute =
      getCompute(op.getElement(), *exec::symbolizePrecision(op.getPrecision().value_or("highest")));
  contraction.trans_a = op.getTransA(), contraction.trans_b = op.getTransB();
  contraction.epilogue = static_cast<int32_t>(epilogue);
  contraction.batch = 1;
  contraction.m = op.getMnk()[0], contraction.n = op.getMnk()[1], contraction.k = op.getMnk()[2];
  contraction.ld_a = op.getLds()[0], contraction.ld_b = op.getLds()[1];
  contraction.ld_out = op.getLds()[2];
  auto type = LLVM::LLVMArrayType::get(b_.getI64Type(), sizeof(contraction) / 8);
  Value copy = stackSlot(type);
  LLVM::StoreOp::create(
      b_, loc_, LLVM::LoadOp::create(b_, loc_, type, makeTable("contraction", contraction)), copy);
  auto set = [&](size_t offset, Value view) {
    if (view)
      LLVM::StoreOp::create(b_, loc_, address(view), gep(copy, static_cast<int64_t>(offset)));
  };
  const bool isGradient = epilogue == Epilogue::GeluGradient;
  set(isGradient ? offsetof(CollContraction, x) : offsetof(CollContraction, bias), op.getWith());
  set(offsetof(CollContraction, kept), op.getKept());
  callAbi(AbiFunction::contract, {ctx_, i32(computation("fused product")), copy, address(op.getA()),
                                  address(op.getB()), address(op.getResult())});
}
