#include "ports/npu_emu/model/access.h"

namespace takt::npu {
namespace {

// Dims are below 2^16 and strides below 2^31, so that no product here overflows 64 bits.

template <typename T>
uint64_t BoxBytes(const T& op) {
  return uint64_t{op.height - 1} * op.x_row + uint64_t{op.width - 1} * op.x_pixel + op.channels;
}

template <typename T>
void AddContraction(const T& op, uint64_t weights, const Walker& walker, AccessList& list) {
  list.Add(op.x, walker.Resolve(op.x), BoxBytes(op), false);
  list.Add(op.w, walker.Resolve(op.w), weights, false);
  const uint64_t acc = uint64_t{op.out_height} * op.out_width * op.out_channels * 4;
  list.Add(op.acc, walker.Resolve(op.acc), acc, true, 4);
  list.items[list.count - 1].read = op.accumulate != 0;
}

void AddCopy(const Copy& op, const Walker& walker, AccessList& list) {
  const uint64_t planes = op.planes - 1, rows = op.rows - 1;
  list.Add(op.from, walker.Resolve(op.from), planes * op.from_plane + rows * op.from_row + op.row_bytes, false);
  list.Add(op.to, walker.Resolve(op.to), planes * op.to_plane + rows * op.to_row + op.row_bytes, true);
}

void AddRequantize(const Requantize& op, const Walker& walker, AccessList& list) {
  const uint64_t elements = uint64_t{op.pixels} * op.channels;
  list.Add(op.acc, walker.Resolve(op.acc), elements * 4, false, 4);
  list.Add(op.bias, walker.Resolve(op.bias), uint64_t{op.channels} * 4, false, 4);
  list.Add(op.table, walker.Resolve(op.table), op.channels * TableEntryBytes(op.numerics), false, 4);
  list.Add(op.y, walker.Resolve(op.y), elements, true);
}

}  // namespace

AccessList AccessesOf(const Command& command, const Walker& walker) {
  AccessList list;
  switch (command.op) {
    case MicroOp::kCopy:
      AddCopy(command.as<Copy>(), walker, list);
      break;
    case MicroOp::kContract: {
      const auto op = command.as<Contract>();
      AddContraction(op, uint64_t{op.out_channels} * op.kernel_h * op.kernel_w * op.channels, walker, list);
      break;
    }
    case MicroOp::kDepthwise: {
      const auto op = command.as<Depthwise>();
      AddContraction(op, uint64_t{op.kernel_h} * op.kernel_w * op.channels, walker, list);
      break;
    }
    case MicroOp::kPool: {
      const auto op = command.as<Pool>();
      list.Add(op.x, walker.Resolve(op.x), BoxBytes(op), false);
      list.Add(op.y, walker.Resolve(op.y), uint64_t{op.out_height} * op.out_width * op.channels, true);
      break;
    }
    case MicroOp::kRequantize:
      AddRequantize(command.as<Requantize>(), walker, list);
      break;
    case MicroOp::kAdd: {
      const auto op = command.as<Add>();
      const uint64_t bytes = uint64_t{op.rows} * op.row_bytes;
      list.Add(op.a, walker.Resolve(op.a), bytes, false);
      list.Add(op.b, walker.Resolve(op.b), bytes, false);
      list.Add(op.y, walker.Resolve(op.y), bytes, true);
      break;
    }
    default:
      break;
  }
  return list;
}

}  // namespace takt::npu
