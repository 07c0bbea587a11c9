// Hears words in a WAV file, frame by frame: 20 ms of samples in, one Invoke, the network's probabilities out.
#include <sndfile.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <exception>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "samples/network.h"

namespace {

constexpr int kRate = 16000;
constexpr size_t kSmoothed = 5;  ///< Frames.
constexpr size_t kPause = 20;    ///< Frames from one word to the next.
/// As train.py orders them; the first two are none.
constexpr std::array kLabels = {"nothing", "unknown", "yes", "no",  "up",   "down",
                                "left",    "right",   "on",  "off", "stop", "go"};
constexpr size_t kFirstWord = 2;

constexpr const char* kExamples = R"(
Examples:
  listen keyword.takt samples/keyword/sample.wav           # words with their times
  arecord -f S16_LE -r 16000 -t wav | listen keyword.takt /dev/stdin
  listen keyword.takt hall.wav --threshold 0.8             # fewer false alarms, more misses
  listen keyword.takt a.wav --outputs a.raw                # what the network says of each frame, as bytes
Exit codes: 0 done; 1 a file is at fault (message on stderr); 2 wrong usage.)";

struct Arguments {
  std::string plan, wav, outputs;
  float threshold = 0.6f;
};

struct CloseSound {
  void operator()(SNDFILE* file) const { sf_close(file); }
};
using Sound = std::unique_ptr<SNDFILE, CloseSound>;

/// The file, open at its first sample; null, and a message, if it is not what the network hears.
Sound Open(const std::string& path) {
  SF_INFO info = {};
  Sound file(sf_open(path.c_str(), SFM_READ, &info));
  if (file == nullptr) {
    std::fprintf(stderr, "%s: %s\n", path.c_str(), sf_strerror(nullptr));
  } else if (info.samplerate != kRate || info.channels != 1) {
    std::fprintf(stderr, "%s: has %d Hz and %d channels; the network hears %d Hz and one: sox %s -r %d -c 1 mono.wav\n",
                 path.c_str(), info.samplerate, info.channels, kRate, path.c_str(), kRate);
    file.reset();
  }
  return file;
}

/// Words from the probabilities of each frame: the mean of the last frames is above the threshold.
class Decision {
 public:
  explicit Decision(float threshold) : threshold_(threshold) {}

  /// The word that this frame completes, or 0; `probability()` is its mean.
  size_t Next(const takt::TensorInfo& output) {
    auto& newest = recent_[frame_++ % kSmoothed];
    for (size_t i = 0; i < newest.size(); ++i)
      newest[i] = static_cast<float>(output.as<int8_t>()[i] - output.zero_point) * output.scale;
    if (frame_ < next_) return 0;
    for (size_t word = kFirstWord; word < kLabels.size(); ++word) {
      float sum = 0;
      for (const auto& frame : recent_) sum += frame[word];
      probability_ = sum / kSmoothed;
      if (probability_ < threshold_) continue;
      next_ = frame_ + kPause;
      return word;
    }
    return 0;
  }
  float probability() const { return probability_; }

 private:
  float threshold_, probability_ = 0;
  std::array<std::array<float, kLabels.size()>, kSmoothed> recent_ = {};
  size_t frame_ = 0, next_ = 0;
};

/// Nanoseconds that frames took.
struct Times {
  uint64_t frames = 0, total = 0, worst = 0;
  void Add(uint64_t time) {
    ++frames;
    total += time;
    worst = std::max(worst, time);
  }
};

/// The next samples, whatever their format in the file, and zeros behind the last; how many were left. Those of 16 bits
/// come as they are.
size_t Read(SNDFILE* sound, std::span<int16_t> samples) {
  std::vector<float> block(samples.size());  // In [-1, 1), exactly.
  const auto count = static_cast<size_t>(sf_read_float(sound, block.data(), std::ssize(block)));
  std::ranges::transform(block, samples.begin(), [](float value) {
    return static_cast<int16_t>(std::fmax(-32768.0f, std::fmin(std::nearbyint(value * 32768.0f), 32767.0f)));
  });
  return count;
}

/// Runs the plan on each frame of the file, the last one filled up with zeros, and on `after` frames of silence;
/// `use(frame, output)` takes what it says.
template <typename Use>
takt::Status Listen(SNDFILE* sound, takt::Interpreter& net, size_t after, Times& times, Use use) {
  const takt::Clock clock = takt::posix::MonotonicClock();
  for (size_t frame = 0;; ++frame) {
    if (Read(sound, net.input(0).as<int16_t>()) == 0 && after-- == 0) return {};
    const uint64_t start = clock.Now();
    TAKT_TRY(net.Invoke());
    times.Add(clock.Now() - start);
    use(frame, net.output(0));
  }
}

int Run(const Arguments& arguments) {
  samples::Network network;
  takt::Interpreter& net = network.net;
  const bool words = arguments.outputs.empty();
  takt::Status status = network.Load(arguments.plan.c_str(), takt::posix::MonotonicClock());
  if (!status.ok()) {
    std::fprintf(stderr, "%s: %s\n", arguments.plan.c_str(), takt::SiteText(status.site()));
    return 1;
  }
  const std::span<const int16_t> hop = net.input(0).as<int16_t>();
  if (hop.empty() || (words && net.output(0).as<int8_t>().size() != kLabels.size())) {
    std::fprintf(stderr,
                 "%s: is not a plan of this sample; make one with: takt convert keyword.tflite -o keyword.takt\n",
                 arguments.plan.c_str());
    return 1;
  }
  const Sound sound = Open(arguments.wav);
  if (sound == nullptr) return 1;
  const double seconds = static_cast<double>(hop.size()) / kRate;
  Times times;
  if (words) {
    Decision decision(arguments.threshold);
    status = Listen(sound.get(), net, kPause, times, [&](size_t frame, const takt::TensorInfo& output) {
      if (const size_t word = decision.Next(output); word != 0) {
        std::printf("%8.2f s  %-5s  %3.0f %%\n", static_cast<double>(frame + 1) * seconds, kLabels[word],
                    100 * static_cast<double>(decision.probability()));
      }
    });
  } else {
    std::ofstream file(arguments.outputs, std::ios::binary);
    status = Listen(sound.get(), net, 0, times, [&](size_t, const takt::TensorInfo& output) {
      file.write(reinterpret_cast<const char*>(output.bytes.data()), std::ssize(output.bytes));
    });
    if (!file.flush()) {
      std::fprintf(stderr, "%s: can't be written\n", arguments.outputs.c_str());
      return 1;
    }
  }
  if (!status.ok()) {
    std::fprintf(stderr, "%s: %s\n", arguments.plan.c_str(), takt::SiteText(status.site()));
    return 1;
  }
  std::printf("%llu frames of %.0f ms: mean %.1f us, worst %.1f us here; at most %llu inner iterations each\n",
              static_cast<unsigned long long>(times.frames), 1e3 * seconds,
              times.frames == 0 ? 0 : 1e-3 * static_cast<double>(times.total) / static_cast<double>(times.frames),
              1e-3 * static_cast<double>(times.worst), static_cast<unsigned long long>(network.plan.limits().work));
  return 0;
}

int Main(int argc, char** argv) {
  Arguments arguments;
  CLI::App app("Hears yes, no, up, down, left, right, on, off, stop and go in a WAV file.", "listen");
  app.footer(kExamples);
  app.add_option("plan", arguments.plan, "keyword.tflite, converted")->required();
  app.add_option("wav", arguments.wav, "16 kHz, one channel; any format that libsndfile reads")->required();
  app.add_option("--threshold", arguments.threshold, "Mean probability of a word over 0.1 s")
      ->capture_default_str()
      ->check(CLI::Range(0.0, 1.0));
  app.add_option("--outputs", arguments.outputs, "File for the plan's output of each frame; no words are printed");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  return Run(arguments);
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return Main(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "listen: %s\n", error.what());
  }
  return 1;
}
