// XNNPACK operators for the layers of a model, with the same operands: what other engines are measured beside.
#ifndef TAKT_TESTS_BENCH_XNNPACK_LAYERS_H_
#define TAKT_TESTS_BENCH_XNNPACK_LAYERS_H_

#include <xnnpack.h>

#include <memory>
#include <vector>

#include "converter/ir/graph.h"
#include "tests/bench/bench_models.h"

namespace takt::bench {

/// One operator, set up on memory of its own.
class XnnpackLayer {
 public:
  /// `graph`: one node for which IsXnnpackLayer holds. What XNNPACK refuses throws std::runtime_error.
  explicit XnnpackLayer(const ir::Graph& graph);
  /// Of the first input.
  void SetInput(const test::Bytes& input);
  void Run();
  test::Bytes output() const { return {output_.begin(), output_.end()}; }
  uint64_t macs() const { return macs_; }

 private:
  struct Delete {
    void operator()(xnn_operator_t op) const { xnn_delete_operator(op); }
  };
  void MakeConvolution(const ir::Graph& graph);
  void MakeAdd(const ir::Graph& graph);

  std::vector<int8_t> input_, other_;  ///< With the slack that XNNPACK may over-read.
  std::vector<int8_t> output_;
  uint64_t macs_ = 0;
  std::unique_ptr<xnn_operator, Delete> op_;
};

/// int8: convolutions, depthwise ones and fully connected layers with constant weights.
bool IsContraction(const ir::Graph& graph, const ir::Node& node);
/// Those, and additions.
bool IsXnnpackLayer(const ir::Graph& graph, const ir::Node& node);

/// The operators of a model, as imported, each a graph of its own.
std::vector<ir::Graph> Operators(const BenchModel& model);

}  // namespace takt::bench

#endif  // TAKT_TESTS_BENCH_XNNPACK_LAYERS_H_
