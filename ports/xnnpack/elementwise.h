// add (and the add of conv2d_add) and mul, as XNNPACK's broadcasting operators.
#ifndef TAKT_PORTS_XNNPACK_ELEMENTWISE_H_
#define TAKT_PORTS_XNNPACK_ELEMENTWISE_H_

#include "ports/xnnpack/operators.h"
#include "ports/xnnpack/window.h"

namespace takt::xnnpack {

/// Dims as XNNPACK takes them.
struct Shape {
  size_t dims[XNN_MAX_TENSOR_DIMS];
  size_t rank;

  explicit Shape(const TensorRef& t) : rank(t.rank) {
    for (size_t i = 0; i < rank; ++i) dims[i] = static_cast<size_t>(t.dims[i]);
  }
};
static_assert(kMaxRank <= XNN_MAX_TENSOR_DIMS);

/// Operands a and b of the add in an Add or Conv2dAdd step.
struct AddOperands {
  const schema::AddParams* params;
  const TensorRef *a, *b;  ///< Shapes; in conv2d_add both are the output's.
  const void *a_data, *b_data;
};
template <Op kOp>
AddOperands AddOperandsOf(const KernelCall& call) {
  if constexpr (kOp == Op::kConv2dAdd) {
    const TensorRef& skip = call.inputs[4];
    return {&call.params<schema::Conv2dAddParams>().add(), &skip, &skip, skip.data, call.scratch.data()};
  } else {
    const TensorRef &a = call.inputs[0], &b = call.inputs[1];
    return {&call.params<schema::AddParams>(), &a, &b, a.data, b.data};
  }
}

/// xnn_setup of a broadcasting operator.
template <typename E, typename SetUp>
xnn_status SetUpPair(SetUp setup, xnn_operator_t op, const TensorRef& a, const TensorRef& b, const void* a_data,
                     const void* b_data, const TensorRef& y) {
  const Shape left(a), right(b);
  return setup(op, left.rank, left.dims, right.rank, right.dims, static_cast<const E*>(a_data),
               static_cast<const E*>(b_data), y.as<E>(), nullptr);
}

template <Op kOp>
struct AddInt8 {
  /// XNNPACK makes the multipliers from ratios of scales: of the larger one, 21 bits. Those must come out again.
  static const char* Refusal(const KernelCall& call) {
    const schema::AddParams& p = *AddOperandsOf<kOp>(call).params;
    const int32_t a = p.a_multiplier(), b = p.b_multiplier() < 0 ? -p.b_multiplier() : p.b_multiplier();
    const int32_t larger = std::max(a, b);
    if (a <= 0 || b == 0) return "an operand's multiplier is not positive";
    if (larger < 1 << 20 || larger >= 1 << 21) return "the larger multiplier has not 21 bits";
    if (Ratio(std::min(a, b), p) < 0x1p-10f || Ratio(larger, p) >= 256.0f)
      return "a ratio of scales is outside of [2^-10, 2^8)";
    return ClampFits(p.clamp()) ? nullptr : kClampReason;
  }
  static uint64_t Bytes(const KernelCall&) { return kOperatorBytes + kBlockAlignment; }

  static xnn_status Create(const KernelCall& call, xnn_operator_t* op) {
    const schema::AddParams& p = *AddOperandsOf<kOp>(call).params;
    const bool subtract = p.b_multiplier() < 0;
    const auto create = subtract ? &xnn_create_subtract_nd_qs8 : &xnn_create_add_nd_qs8;
    return create(static_cast<int8_t>(p.a_zero_point()), Ratio(p.a_multiplier(), p),
                  static_cast<int8_t>(p.b_zero_point()), Ratio(subtract ? -p.b_multiplier() : p.b_multiplier(), p),
                  static_cast<int8_t>(p.output_zero_point()), 1.0f, static_cast<int8_t>(p.clamp().min()),
                  static_cast<int8_t>(p.clamp().max()), 0, op);
  }
  static xnn_status Setup(xnn_operator_t op, const KernelCall& call) {
    const AddOperands o = AddOperandsOf<kOp>(call);
    const auto setup = o.params->b_multiplier() < 0 ? &xnn_setup_subtract_nd_qs8 : &xnn_setup_add_nd_qs8;
    return SetUpPair<int8_t>(setup, op, *o.a, *o.b, o.a_data, o.b_data, call.outputs[0]);
  }

 private:
  /// Exact: a multiplier has at most 21 bits.
  static float Ratio(int32_t multiplier, const schema::AddParams& p) {
    return static_cast<float>(multiplier) / static_cast<float>(1u << p.output_shift());
  }
};

struct AddFloat {
  static const char* Refusal(const KernelCall& call) {
    return ClampFits(call.params<schema::AddParams>().clamp()) ? nullptr : kClampReason;
  }
  static uint64_t Bytes(const KernelCall&) { return kOperatorBytes + kBlockAlignment; }
  static xnn_status Create(const KernelCall& call, xnn_operator_t* op) {
    const auto& p = call.params<schema::AddParams>();
    const bool add = p.function() == schema::AddFunction::add;
    return (add ? &xnn_create_add_nd_f32 : &xnn_create_subtract_nd_f32)(p.clamp().min(), p.clamp().max(), 0, op);
  }
  static xnn_status Setup(xnn_operator_t op, const KernelCall& call) {
    const TensorRef &a = call.inputs[0], &b = call.inputs[1];
    const bool add = call.params<schema::AddParams>().function() == schema::AddFunction::add;
    return SetUpPair<float>(add ? &xnn_setup_add_nd_f32 : &xnn_setup_subtract_nd_f32, op, a, b, a.data, b.data,
                            call.outputs[0]);
  }
};

template <typename E>
struct Multiply {
  static constexpr bool kIsFloat = std::is_same_v<E, float>;

  static const char* Refusal(const KernelCall& call) {
    const auto& p = call.params<schema::MulParams>();
    if (!ClampFits(p.clamp())) return kClampReason;
    if constexpr (!kIsFloat) {
#if !defined(__x86_64__)
      return "its product is rounded otherwise on this CPU";
#endif
      if (p.scale() < 0x1p-16f || p.scale() >= 256.0f) return "the scale is outside of [2^-16, 2^8)";
    }
    return nullptr;
  }
  static uint64_t Bytes(const KernelCall&) {
    return kOperatorBytes + kBlockAlignment;
  }
  static xnn_status Create(const KernelCall& call, xnn_operator_t* op) {
    const auto& p = call.params<schema::MulParams>();
    if constexpr (kIsFloat) {
      return xnn_create_multiply_nd_f32(p.clamp().min(), p.clamp().max(), 0, op);
    } else {
      return xnn_create_multiply_nd_qs8(
          static_cast<int8_t>(p.a_zero_point()), p.scale(), static_cast<int8_t>(p.b_zero_point()), 1.0f,
          static_cast<int8_t>(p.output_zero_point()), 1.0f, static_cast<int8_t>(p.clamp().min()),
          static_cast<int8_t>(p.clamp().max()), 0, op);
    }
  }
  static xnn_status Setup(xnn_operator_t op, const KernelCall& call) {
    const TensorRef &a = call.inputs[0], &b = call.inputs[1];
    if constexpr (kIsFloat) {
      return SetUpPair<E>(xnn_setup_multiply_nd_f32, op, a, b, a.data, b.data, call.outputs[0]);
    } else {
      return SetUpPair<E>(xnn_setup_multiply_nd_qs8, op, a, b, a.data, b.data, call.outputs[0]);
    }
  }
};

}  // namespace takt::xnnpack

#endif  // TAKT_PORTS_XNNPACK_ELEMENTWISE_H_
