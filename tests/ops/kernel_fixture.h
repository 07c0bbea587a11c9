// A kernel call on buffers with red zones.
#ifndef TAKT_TESTS_OPS_KERNEL_FIXTURE_H_
#define TAKT_TESTS_OPS_KERNEL_FIXTURE_H_

#include <cstring>
#include <memory>
#include <vector>

#include <gtest/gtest.h>

#include "engine/core/kernel.h"

namespace takt::test {

class KernelFixture {
 public:
  template <typename T>
  uint32_t Input(DataType type, std::vector<int32_t> dims, const std::vector<T>& values, bool constant = false) {
    Buffer& b = *inputs_.emplace_back(Make(type, std::move(dims), values.size() * sizeof(T)));
    std::memcpy(b.data(), values.data(), values.size() * sizeof(T));
    refs_.push_back(b.Ref(constant));
    return static_cast<uint32_t>(refs_.size() - 1);
  }
  void Output(DataType type, std::vector<int32_t> dims) {
    size_t bytes = BitWidth(type) / 8;
    for (const int32_t d : dims) bytes *= static_cast<size_t>(d);
    output_ = Make(type, std::move(dims), bytes);
    output_ref_ = output_->Ref(false);
  }
  TensorRef& input(uint32_t i) { return refs_[i]; }

  template <typename P>
  Status Check(const Kernel& kernel, const P& params) {
    uint64_t work = 0;
    return kernel.check(Call(&params), work);
  }

  /// Checks, runs twice, compares the runs and the red zones.
  template <typename T, typename P>
  std::vector<T> Run(const Kernel& kernel, const P& params) {
    EXPECT_TRUE(Check(kernel, params).ok());
    std::vector<T> results[2];
    for (auto& result : results) {
      std::memset(output_->data(), 0x5A, output_->bytes);
      kernel.run(Call(&params));
      const T* from = reinterpret_cast<const T*>(output_->data());
      result.assign(from, from + output_->bytes / sizeof(T));
      EXPECT_TRUE(output_->Intact());
      for (const auto& b : inputs_) EXPECT_TRUE(b->Intact());
    }
    EXPECT_EQ(results[0], results[1]);
    return results[0];
  }

 private:
  static constexpr size_t kZone = 64;
  struct Buffer {
    DataType type;
    std::vector<int32_t> dims;
    size_t bytes;
    std::vector<uint8_t> store;
    uint8_t* data() { return store.data() + kZone; }
    TensorRef Ref(bool constant) {
      return {data(), dims.data(), nullptr, type, static_cast<uint8_t>(dims.size()), constant};
    }
    bool Intact() const {
      for (size_t i = 0; i < kZone; ++i)
        if (store[i] != 0xA5 || store[kZone + bytes + i] != 0xA5) return false;
      return true;
    }
  };
  static std::unique_ptr<Buffer> Make(DataType type, std::vector<int32_t> dims, size_t bytes) {
    return std::make_unique<Buffer>(Buffer{type, std::move(dims), bytes, std::vector<uint8_t>(bytes + 2 * kZone, 0xA5)});
  }
  KernelCall Call(const void* params) { return {params, refs_, {&output_ref_, 1}, {}, {}}; }

  std::vector<std::unique_ptr<Buffer>> inputs_;
  std::vector<TensorRef> refs_;
  std::unique_ptr<Buffer> output_;
  TensorRef output_ref_;
};

}  // namespace takt::test

#endif  // TAKT_TESTS_OPS_KERNEL_FIXTURE_H_
