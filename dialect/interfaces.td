//===- interfaces.td - interfaces of the coll dialect -----------*- tablegen -*-===//

#ifndef COLL_DIALECT_INTERFACES_TD
#define COLL_DIALECT_INTERFACES_TD

include "mlir/IR/OpBase.td"

def CollectiveOpInterface : OpInterface<"CollectiveOpInterface"> {
  let cppNamespace = "::mlir::coll";
  let description = [{
    An operation in which ranks of a group take part: the collectives, send,
    recv, init. What must agree between the members is what these methods return.
  }];
  let methods = [
    InterfaceMethod<"Group whose members take part.",
      "::mlir::coll::GroupAttr", "getCommGroup", (ins)>,
    InterfaceMethod<"Tensor that this rank contributes; null for recv, barrier, init.",
      "::mlir::Value", "getCommInput", (ins)>,
    InterfaceMethod<"Tensor that this rank receives; null for send, barrier, init.",
      "::mlir::Value", "getCommResult", (ins)>,
    InterfaceMethod<"Reduction kind, or nullopt if nothing is reduced.",
      "std::optional<::mlir::coll::ReductionKind>", "getCommReduction", (ins)>,
    InterfaceMethod<"Order in which contributions are combined.",
      "::mlir::coll::Order", "getCommOrder", (ins)>,
    InterfaceMethod<"Type that contributions are combined in; null if the backend may choose.",
      "::mlir::Type", "getCommAccumulation", (ins)>,
    InterfaceMethod<"Root's position in the group, or nullopt.",
      "std::optional<int64_t>", "getCommRoot", (ins)>,
  ];
}

#endif // COLL_DIALECT_INTERFACES_TD
