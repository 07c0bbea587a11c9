#include "ports/npu_emu/model/access.h"

namespace takt::npu {
namespace {

// Dims are below 2^16 and strides below 2^31, so that no product here overflows 64 bits.

template <typename T>
void AddBox(const T& op, Type type, const Walker& walker, AccessList& list) {
  const uint64_t element = FeatureBytes(type);
  const uint64_t box = uint64_t{op.height - 1} * op.x_row + uint64_t{op.width - 1} * op.x_pixel + op.channels * element;
  list.Add(op.x, walker.Resolve(op.x), box, false, element);
}

template <typename T>
void AddContraction(const T& op, Type type, uint64_t weights, const Walker& walker, AccessList& list) {
  AddBox(op, type, walker, list);
  list.Add(op.w, walker.Resolve(op.w), weights, false);
  const uint64_t sum = SumBytes(type);
  list.Add(op.acc, walker.Resolve(op.acc), uint64_t{op.out_height} * op.out_width * op.out_channels * sum, true, sum);
  list.items[list.count - 1].read = op.accumulate != 0;
}

void AddCopy(const Copy& op, const Walker& walker, AccessList& list) {
  const uint64_t planes = op.planes - 1, rows = op.rows - 1;
  list.Add(op.from, walker.Resolve(op.from), planes * op.from_plane + rows * op.from_row + op.row_bytes, false);
  list.Add(op.to, walker.Resolve(op.to), planes * op.to_plane + rows * op.to_row + op.row_bytes, true);
}

void AddRequantize(const Requantize& op, Type type, const Walker& walker, AccessList& list) {
  const uint64_t elements = uint64_t{op.pixels} * op.channels;
  const auto stage = static_cast<Stage>(op.numerics);
  const uint64_t element = FeatureBytes(type), sum = SumBytes(type), bias = BiasBytes(type, stage);
  list.Add(op.acc, walker.Resolve(op.acc), elements * sum, false, sum);
  list.Add(op.bias, walker.Resolve(op.bias), uint64_t{op.channels} * bias, false, bias);
  list.Add(op.table, walker.Resolve(op.table), op.channels * TableEntryBytes(stage), false, 4);
  list.Add(op.y, walker.Resolve(op.y), elements * element, true, element);
}

}  // namespace

AccessList AccessesOf(const Command& command, const Walker& walker) {
  AccessList list;
  const Type type = command.type;
  const uint64_t element = FeatureBytes(type);
  switch (command.op) {
    case MicroOp::kCopy:
      AddCopy(command.as<Copy>(), walker, list);
      break;
    case MicroOp::kContract: {
      const auto op = command.as<Contract>();
      AddContraction(op, type, uint64_t{op.out_channels} * op.kernel_h * op.kernel_w * op.channels, walker, list);
      break;
    }
    case MicroOp::kDepthwise: {
      const auto op = command.as<Depthwise>();
      AddContraction(op, type, uint64_t{op.kernel_h} * op.kernel_w * op.channels, walker, list);
      break;
    }
    case MicroOp::kPool: {
      const auto op = command.as<Pool>();
      AddBox(op, type, walker, list);
      const uint64_t results = uint64_t{op.out_height} * op.out_width * op.channels;
      list.Add(op.y, walker.Resolve(op.y), results * element, true, element);
      break;
    }
    case MicroOp::kRequantize:
      AddRequantize(command.as<Requantize>(), type, walker, list);
      break;
    case MicroOp::kAdd: {
      const auto op = command.as<Add>();
      const uint64_t bytes = uint64_t{op.rows} * op.columns * element;
      list.Add(op.a, walker.Resolve(op.a), bytes, false, element);
      list.Add(op.b, walker.Resolve(op.b), bytes, false, element);
      list.Add(op.y, walker.Resolve(op.y), bytes, true, element);
      break;
    }
    default:
      break;
  }
  return list;
}

}  // namespace takt::npu
