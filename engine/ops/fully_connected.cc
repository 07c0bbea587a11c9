// fully_connected
#include "engine/ops/check.h"
#include "engine/ops/checks.h"

namespace takt {
using namespace ops;

Status CheckFullyConnected(const KernelCall& call, Numerics numerics, uint64_t& work) {
  TAKT_TRY(CheckContraction(call, numerics));
  const auto& p = call.params<schema::FullyConnectedParams>();
  const TensorRef &x = call.inputs[0], &w = call.inputs[1], &y = call.outputs[0];
  if (w.rank != 2) return BadOperand(1);
  // Rows are x's elements by I, however x and y are shaped: a reshape needs no step.
  const auto outputs = static_cast<uint32_t>(w.dims[0]), depth = static_cast<uint32_t>(w.dims[1]);
  if (x.size() % depth != 0) return BadOperand(0);
  if (y.size() != uint64_t{x.size() / depth} * outputs) return BadOperand(static_cast<uint32_t>(call.inputs.size()));
  TAKT_TRY(CheckContractionParams(call, w.dims[0], numerics, p));
  AddWork(work, y.size(), depth);
  return {};
}

}  // namespace takt
