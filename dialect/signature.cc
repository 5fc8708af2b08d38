//===- signature.cc - attributes of a function's arguments and results -----------===//

#include "dialect/signature.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;

/// `dict` with `name` set to `value`; unchanged if that is null.
static DictionaryAttr withAttr(DictionaryAttr dict, StringAttr name, Attribute value) {
  if (!value)
    return dict;
  NamedAttrList attrs(dict);
  attrs.set(name, value);
  return attrs.getDictionary(name.getContext());
}

static DictionaryAttr withoutAttr(DictionaryAttr dict, StringRef name) {
  if (!dict || !dict.contains(name))
    return dict;
  NamedAttrList attrs(dict);
  attrs.erase(name);
  return attrs.getDictionary(dict.getContext());
}

void mlir::coll::setArgumentAttrs(FunctionOpInterface function, StringRef name,
                                  ArrayRef<Attribute> values) {
  auto key = StringAttr::get(function->getContext(), name);
  SmallVector<DictionaryAttr> dicts;
  for (auto [index, value] : llvm::enumerate(values))
    dicts.push_back(withAttr(function.getArgAttrDict(index), key, value));
  function.setAllArgAttrs(dicts);
}

void mlir::coll::setResultAttrs(FunctionOpInterface function, StringRef name,
                                ArrayRef<Attribute> values) {
  auto key = StringAttr::get(function->getContext(), name);
  SmallVector<DictionaryAttr> dicts;
  for (auto [index, value] : llvm::enumerate(values))
    dicts.push_back(withAttr(function.getResultAttrDict(index), key, value));
  function.setAllResultAttrs(dicts);
}

void mlir::coll::removeSignatureAttrs(FunctionOpInterface function, StringRef name) {
  SmallVector<DictionaryAttr> arguments, results;
  for (unsigned i = 0; i < function.getNumArguments(); ++i)
    arguments.push_back(withoutAttr(function.getArgAttrDict(i), name));
  for (unsigned i = 0; i < function.getNumResults(); ++i)
    results.push_back(withoutAttr(function.getResultAttrDict(i), name));
  function.setAllArgAttrs(arguments);
  function.setAllResultAttrs(results);
}
