"""The streaming network, its quantization, and the model file.

Three SVDF layers (Nakkiran et al., "Compressing deep neural networks using a rank-constrained topology", 2015): each unit
sees a weighted sum of one frame, remembers the last sums, and weighs these; then a fully connected layer and softmax. One
frame in, one out; all that it knows of the past are the sums.
"""
import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

import front_end
from tflite_file import File

UNITS, MEMORY = 128, 14  # Of each layer: filters; frames that they remember.
LAYERS = 3
CONTEXT = LAYERS * (MEMORY - 1)  # Frames before the present one that matter.


class Svdf(nn.Module):
    """[batch, inputs, frames] to [batch, UNITS, frames - MEMORY + 1]."""

    def __init__(self, inputs):
        super().__init__()
        self.feature = nn.Conv1d(inputs, UNITS, 1, bias=False)
        self.time = nn.Conv1d(UNITS, UNITS, MEMORY, groups=UNITS, bias=False)
        self.norm = nn.BatchNorm1d(UNITS)

    def forward(self, x):
        return F.relu(self.norm(self.time(self.feature(x))))


class Net(nn.Module):
    def __init__(self, labels):
        super().__init__()
        self.layers = nn.ModuleList(Svdf(front_end.CHANNELS if i == 0 else UNITS) for i in range(LAYERS))
        self.classify = nn.Conv1d(UNITS, labels, 1)

    def forward(self, x):
        """Features [batch, channels, frames] to logits [batch, labels, frames - CONTEXT]."""
        for layer in self.layers:
            x = layer(x)
        return self.classify(x)


def to_float(features):
    """What int8 features [batch, frames, channels] stand for, as [batch, channels, frames]."""
    return torch.from_numpy((features.astype(np.float32) - front_end.ZERO) * np.float32(front_end.SCALE)).transpose(1, 2)


def symmetric(values, most):
    scale = np.float32(np.abs(values).max() / most)
    return scale, np.rint(values / scale)


def add_svdf(file, name, layer, x, source):
    """The layer in integers, `x` being its input on calibration data; returns its output there, and (scale, zero point)."""
    gain = (layer.norm.weight / torch.sqrt(layer.norm.running_var + layer.norm.eps)).numpy()
    bias = layer.norm.bias.numpy() - layer.norm.running_mean.numpy() * gain
    feature, time = layer.feature.weight.numpy()[:, :, 0], layer.time.weight.numpy()[:, 0] * gain[:, None]
    # Sums are linear: what makes all filters' largest weights equal, so that one scale suits them, is undone in time.
    size = np.abs(feature).max(1, keepdims=True)
    feature, time = feature / size, time * size
    feature_scale, feature_q = symmetric(feature, 127)
    sums = layer.feature(x).numpy() / size[None]
    state_scale = np.float32(1.5 * np.abs(sums).max() / 32767)
    # int32 holds the sum of any state's products: sum |time| < 2^16.
    time_scale = np.float32(max(np.abs(time).sum(1).max() / 65000, np.abs(time).max() / 32767))
    y = layer(x)
    scale, zero = np.float32(np.quantile(y.numpy()[:, :, ::7], 0.9999) / 255), -128
    file.tensor(name + "/feature", feature.shape, (feature_scale, 0), feature_q.astype(np.int8))
    file.tensor(name + "/time", time.shape, (time_scale, 0), np.rint(time / time_scale).astype(np.int16))
    bias_scale = state_scale * time_scale
    file.tensor(name + "/bias", [UNITS], (bias_scale, 0), np.rint(bias / bias_scale).astype(np.int32))
    file.tensor(name + "/state", [1, UNITS * MEMORY], (state_scale, 0), kind="INT16", variable=True)
    file.tensor(name, [1, UNITS], (scale, zero))
    file.operator("SVDF", 3, [source, name + "/feature", name + "/time", name + "/bias", name + "/state"], [name],
                  "SVDFOptions", {"rank": 1, "fused_activation_function": "RELU"})
    return y, (scale, zero)


def write(net, features, path):
    """Front end and network, quantized on `features` [batch, frames, channels] of training speech."""
    file = File()
    front_end.add(file)
    net.eval()
    with torch.no_grad():
        x, source, quantization = to_float(features), "features", (front_end.SCALE, front_end.ZERO)
        for i, layer in enumerate(net.layers):
            x, quantization = add_svdf(file, f"svdf{i}", layer, x, source)
            source = f"svdf{i}"
        logits = net.classify(x).numpy()
        low, high = min(0.0, logits.min()), max(0.0, logits.max())
        scale = np.float32((high - low) / 255)
        weight_scale, weight = symmetric(net.classify.weight.numpy()[:, :, 0], 127)
        labels = len(weight)
        file.tensor("classify/weight", weight.shape, (weight_scale, 0), weight.astype(np.int8))
        bias_scale = quantization[0] * weight_scale
        bias = np.rint(net.classify.bias.numpy() / bias_scale).astype(np.int32)
        file.tensor("classify/bias", [labels], (bias_scale, 0), bias)
    file.tensor("logits", [1, labels], (scale, int(np.rint(-128 - low / scale))))
    file.tensor("probabilities", [1, labels], (np.float32(1 / 256), -128))
    file.operator("FULLY_CONNECTED", 4, [source, "classify/weight", "classify/bias"], ["logits"], "FullyConnectedOptions", {})
    file.operator("SOFTMAX", 2, ["logits"], ["probabilities"], "SoftmaxOptions", {"beta": 1.0})
    file.save(path, "Ten words, int8, 20 ms of audio a frame", ["audio"], ["probabilities"])
