// The passes, one a file.
#ifndef TAKT_CONVERTER_PASSES_PASSES_H_
#define TAKT_CONVERTER_PASSES_PASSES_H_

#include "converter/passes/pass.h"

namespace takt::passes {

/// An `if` on a constant becomes its body; a loop whose trips can be counted becomes them, one after another, or keeps
/// that number as its bound. Other loops get context.max_trips, or are errors.
void FoldControl(ir::Graph& graph, PassContext& context);

/// Transposes move past the ops that allow it, until they cancel: graphs of other layouts compute in NHWC throughout.
void SinkTransposes(ir::Graph& graph, PassContext& context);
/// Arithmetic that is a function of the unary op becomes that: gelu, hard_swish, mish (float32).
void FuseFunctions(ir::Graph& graph, PassContext& context);
/// Multiplication and addition of a constant for each channel become part of the contraction before them (float32).
void FoldAffine(ir::Graph& graph, PassContext& context);
/// Float ops between dequantizations and a quantization become integer ops; those that stay float are named.
void FuseQuantization(ir::Graph& graph, PassContext& context);
/// Names each transpose that is left, with its cost.
void ReportTransposes(ir::Graph& graph, PassContext& context);

/// A pool whose input and output differ in quantization, and an operand of an add whose scale is too far from the
/// output's, get a requantize of their own, named in a note.
void InsertRequantizes(ir::Graph& graph, PassContext& context);

/// Nodes that read only constants become constants, evaluated by the reference port in the conversion's numerics.
void FoldConstants(ir::Graph& graph, PassContext& context);

/// A clamp joins the activation of the node that feeds it, where both have one quantization.
void FuseActivations(ir::Graph& graph, PassContext& context);

/// Requantizes to the same quantization go; a pair of requantize, dequantize and quantize on an 8-bit value becomes one
/// step where that gives the same bytes for all 256 values.
void MergeRequantizes(ir::Graph& graph, PassContext& context);

/// The add of a residual joins the convolution that feeds it, whose result then needs no memory of its own.
void FuseResiduals(ir::Graph& graph, PassContext& context);

/// Padding of height and width becomes the pads of the convolution or maximum that reads it, perhaps past a transpose.
void FoldPads(ir::Graph& graph, PassContext& context);

/// Reshapes become dense views, or copies where the memory can't be shared; concatenations become copies into strided
/// views.
void EliminateViews(ir::Graph& graph, PassContext& context);

/// Removes nodes whose outputs nothing reads, then tensors that nothing names; the rest are numbered anew.
void EliminateDeadCode(ir::Graph& graph, PassContext& context);

}  // namespace takt::passes

#endif  // TAKT_CONVERTER_PASSES_PASSES_H_
