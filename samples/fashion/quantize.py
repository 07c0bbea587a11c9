"""Post-training int8 quantization of train.Net, its integer simulation, and the .tflite file.

Weights: symmetric, per output channel, [-127, 127]. Activations: asymmetric, range of the calibration images.
"""
import pathlib
import sys

import numpy as np
import torch
from torch.nn import functional as F

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1]))
from tflite_file import File


def fold(layer):
    """Weight (OIHW) and bias of a convolution with its batch normalization folded in."""
    gain = layer.norm.weight / torch.sqrt(layer.norm.running_var + layer.norm.eps)
    weight = layer.conv.weight * gain[:, None, None, None]
    return weight.detach().numpy(), (layer.norm.bias - layer.norm.running_mean * gain).detach().numpy()


def activation_scale(values):
    low, high = min(0.0, float(values.min())), max(0.0, float(np.quantile(values, 0.9999)))
    scale = np.float32((high - low) / 255)
    return scale, int(np.clip(round(-128 - low / scale), -128, 127))


def requantize(acc, scale, zero, relu):
    out = np.rint(acc.astype(np.float32) * scale.astype(np.float32)).astype(np.int64) + zero
    return np.clip(out, zero if relu else -128, 127)


class Layer:
    """A convolution (depthwise or not) or, with kernel 1, a fully connected layer."""

    def __init__(self, name, weight, bias, source, out, stride=1, depthwise=False, relu=True):
        self.name, self.stride, self.depthwise, self.relu = name, stride, depthwise, relu
        self.in_scale, self.in_zero = source
        self.out_scale, self.out_zero = out
        self.weight_scale = (np.abs(weight).reshape(len(weight), -1).max(1) / 127).astype(np.float32)
        self.weight = np.rint(weight / self.weight_scale.reshape((-1,) + (1,) * (weight.ndim - 1))).astype(np.int8)
        self.bias = np.rint(bias / (self.in_scale * self.weight_scale)).astype(np.int32)
        self.scale = self.in_scale * self.weight_scale / self.out_scale

    def run(self, q):
        """NCHW int64 in and out. Sums of int8 products stay below 2^53, so float64 convolution is exact."""
        weight = torch.from_numpy(self.weight.astype(np.float64))
        kernel = weight.shape[-1]
        total = max(0, kernel - self.stride) if q.shape[-1] % self.stride == 0 else kernel - 1
        x = F.pad(torch.from_numpy((q - self.in_zero).astype(np.float64)), (total // 2, total - total // 2) * 2)
        acc = F.conv2d(x, weight, torch.from_numpy(self.bias.astype(np.float64)), self.stride,
                       groups=len(weight) if self.depthwise else 1)
        return requantize(acc.numpy(), self.scale.reshape(1, -1, 1, 1), self.out_zero, self.relu)


class Quantized:
    def __init__(self, net, images):
        net.eval()
        x = torch.from_numpy(images.astype(np.float32) / 255)[:, None]
        with torch.no_grad():
            stem = net.stem(x)
            down1 = net.down1(stem)
            depth = net.depth(down1)
            point = net.point(depth)
            added = F.relu(down1 + point)
            down2 = net.down2(added)
            logits = net.classify(down2.mean((2, 3)))
        self.q = {name: activation_scale(value.numpy()) for name, value in
                  dict(stem=stem, down1=down1, depth=depth, point=point, added=added, down2=down2, logits=logits).items()}
        q = self.q
        q["image"] = (np.float32(1 / 255), -128)
        q["pooled"] = q["flat"] = q["down2"]
        q["probabilities"] = (np.float32(1 / 256), -128)
        layer = lambda name, source, **options: Layer(name, *fold(getattr(net, name)), q[source], q[name], **options)
        self.stem = layer("stem", "image")
        self.down1 = layer("down1", "stem", stride=2)
        self.depth = layer("depth", "down1", depthwise=True)
        self.point = layer("point", "depth", relu=False)
        self.down2 = layer("down2", "added", stride=2)
        dense = net.classify.weight.detach().numpy()
        # One scale for the whole weight of the fully connected layer.
        self.dense = Layer("logits", dense[:, :, None, None], net.classify.bias.detach().numpy(), q["flat"], q["logits"], relu=False)
        per_tensor = np.float32(np.abs(dense).max() / 127)
        self.dense.weight_scale = np.full(len(dense), per_tensor)
        self.dense.weight = np.rint(dense / per_tensor).astype(np.int8)[:, :, None, None]
        self.dense.bias = np.rint(net.classify.bias.detach().numpy() / (self.dense.in_scale * per_tensor)).astype(np.int32)
        self.dense.scale = self.dense.in_scale * self.dense.weight_scale / self.dense.out_scale

    def run(self, images):
        """Logits in int8 of N x 28 x 28 uint8 images, integers throughout."""
        x = self.down1.run(self.stem.run(images.astype(np.int64)[:, None] - 128))
        y = self.point.run(self.depth.run(x))
        (a_scale, a_zero), (b_scale, b_zero), (scale, zero) = self.q["down1"], self.q["point"], self.q["added"]
        total = (x - a_zero) * np.float64(a_scale) + (y - b_zero) * np.float64(b_scale)
        x = np.clip(np.rint(total / np.float64(scale)).astype(np.int64) + zero, zero, 127)
        x = self.down2.run(x)
        total = x.sum((2, 3), keepdims=True)
        count = x.shape[2] * x.shape[3]
        x = (np.sign(total) * ((np.abs(total) + count // 2) // count))
        return self.dense.run(x)[:, :, 0, 0]


def write(model, path):
    file = File()
    shapes = dict(image=(1, 28, 28, 1), stem=(1, 28, 28, 16), down1=(1, 14, 14, 32), depth=(1, 14, 14, 32),
                  point=(1, 14, 14, 32), added=(1, 14, 14, 32), down2=(1, 7, 7, 64), pooled=(1, 1, 1, 64), flat=(1, 64),
                  logits=(1, 10), probabilities=(1, 10))
    for name, shape in shapes.items():
        file.tensor(name, shape, model.q[name])

    def convolution(layer, source):
        # OIHW to OHWI; depthwise, 1HWO.
        weight = layer.weight.transpose(1, 2, 3, 0) if layer.depthwise else layer.weight.transpose(0, 2, 3, 1)
        file.tensor(layer.name + "/weight", weight.shape, (layer.weight_scale, 0), weight, axis=3 if layer.depthwise else 0)
        file.tensor(layer.name + "/bias", layer.bias.shape, (layer.in_scale * layer.weight_scale, 0), layer.bias)
        options = {"padding": "SAME", "stride_w": layer.stride, "stride_h": layer.stride,
                   "fused_activation_function": "RELU" if layer.relu else "NONE"}
        if layer.depthwise:
            options["depth_multiplier"] = 1
        code = "DEPTHWISE_CONV_2D" if layer.depthwise else "CONV_2D"
        kind = "DepthwiseConv2DOptions" if layer.depthwise else "Conv2DOptions"
        file.operator(code, 3, [source, layer.name + "/weight", layer.name + "/bias"], [layer.name], kind, options)

    convolution(model.stem, "image")
    convolution(model.down1, "stem")
    convolution(model.depth, "down1")
    convolution(model.point, "depth")
    file.operator("ADD", 2, ["down1", "point"], ["added"], "AddOptions", {"fused_activation_function": "RELU"})
    convolution(model.down2, "added")
    file.operator("AVERAGE_POOL_2D", 2, ["down2"], ["pooled"], "Pool2DOptions",
                  {"padding": "VALID", "stride_w": 7, "stride_h": 7, "filter_width": 7, "filter_height": 7})
    file.tensor("shape", (2,), None, np.array([1, 64], np.int32))
    file.operator("RESHAPE", 1, ["pooled", "shape"], ["flat"], "ReshapeOptions", {"new_shape": [1, 64]})
    dense = model.dense
    file.tensor("logits/weight", (10, 64), (dense.weight_scale[0], 0), dense.weight[:, :, 0, 0])
    file.tensor("logits/bias", (10,), (dense.in_scale * dense.weight_scale[0], 0), dense.bias)
    file.operator("FULLY_CONNECTED", 4, ["flat", "logits/weight", "logits/bias"], ["logits"], "FullyConnectedOptions", {})
    file.operator("SOFTMAX", 2, ["logits"], ["probabilities"], "SoftmaxOptions", {"beta": 1.0})

    file.save(path, "Fashion-MNIST, int8", ["image"], ["probabilities"])
