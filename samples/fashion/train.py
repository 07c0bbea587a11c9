#!/usr/bin/python3
"""Trains a small CNN on Fashion-MNIST; writes fashion.onnx (float) and, quantized to int8, fashion.tflite.

Needs Debian's python3-torch, dataset-fashion-mnist and flatbuffers-compiler:
    /usr/bin/python3 samples/fashion/train.py
"""
import argparse
import gzip
import pathlib

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

import quantize

HERE = pathlib.Path(__file__).resolve().parent
DATA = pathlib.Path("/usr/share/datasets/fashion-mnist")
# Epochs and peak learning rate of each stage; a stage has a new seed, optimizer and schedule.
STAGES = ((6, 1e-2), (6, 5e-3), (6, 5e-3))


def load(split):
    with gzip.open(DATA / f"{split}-images-idx3-ubyte.gz") as f:
        images = np.frombuffer(f.read(), np.uint8, offset=16).reshape(-1, 28, 28)
    with gzip.open(DATA / f"{split}-labels-idx1-ubyte.gz") as f:
        labels = np.frombuffer(f.read(), np.uint8, offset=8)
    return images, labels


class Conv(nn.Module):
    """Convolution with TFLite's SAME padding and batch normalization."""

    def __init__(self, cin, cout, kernel, stride=1, groups=1, relu=True):
        super().__init__()
        self.conv = nn.Conv2d(cin, cout, kernel, stride, groups=groups, bias=False)
        self.norm = nn.BatchNorm2d(cout)
        self.stride, self.kernel, self.depthwise, self.relu = stride, kernel, groups > 1, relu

    def forward(self, x):
        total = max(0, self.kernel - self.stride) if x.shape[-1] % self.stride == 0 else self.kernel - 1
        before = total // 2
        x = self.norm(self.conv(F.pad(x, (before, total - before) * 2)))
        return F.relu(x) if self.relu else x


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = Conv(1, 16, 3)
        self.down1 = Conv(16, 32, 3, 2)
        self.depth = Conv(32, 32, 3, groups=32)
        self.point = Conv(32, 32, 1, relu=False)
        self.down2 = Conv(32, 64, 3, 2)
        self.classify = nn.Linear(64, 10)

    def forward(self, x):
        x = self.down1(self.stem(x))
        x = F.relu(x + self.point(self.depth(x)))
        return self.classify(self.down2(x).mean((2, 3)))


def accuracy(net, images, labels):
    net.eval()
    with torch.no_grad():
        hits = [(net(images[i:i + 500]).argmax(1) == labels[i:i + 500]).sum().item() for i in range(0, len(images), 500)]
    return sum(hits) / len(images)


def train(net, images, labels, epochs, rate, batch=128):
    steps = len(images) // batch
    optimizer = torch.optim.AdamW(net.parameters(), weight_decay=1e-3)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, rate, epochs=epochs, steps_per_epoch=steps)
    for epoch in range(epochs):
        net.train()
        order = torch.randperm(len(images))
        for i in range(steps):
            at = order[i * batch:(i + 1) * batch]
            x = images[at]
            flip = torch.rand(batch) < 0.5
            x[flip] = x[flip].flip(-1)
            loss = F.cross_entropy(net(x), labels[at])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step()
        print(f"epoch {epoch + 1}/{epochs}: loss of the last batch {loss.item():.3f}", flush=True)


def export(net, path):
    """ONNX of the float net: images [1, 1, 28, 28] in [0, 1] to probabilities [1, 10]."""
    torch.onnx.export(nn.Sequential(net, nn.Softmax(1)).eval(), torch.zeros(1, 1, 28, 28), str(path), opset_version=13,
                      input_names=["image"], output_names=["probabilities"])
    print(f"{path}: {path.stat().st_size} bytes")


def main():
    args = argparse.ArgumentParser(description=__doc__)
    args.add_argument("--weights", help="float weights: read if the file exists, otherwise trained and written there")
    args = args.parse_args()

    torch.manual_seed(1)
    torch.set_num_threads(1)
    train_images, train_labels = load("train")
    test_images, test_labels = load("t10k")
    as_float = lambda images: torch.from_numpy(images.astype(np.float32) / 255)[:, None]
    net = Net()
    if args.weights and pathlib.Path(args.weights).exists():
        net.load_state_dict(torch.load(args.weights))
    else:
        for number, stage in enumerate(STAGES):
            if number > 0:
                torch.manual_seed(1 + number)
            train(net, as_float(train_images), torch.from_numpy(train_labels.astype(np.int64)), *stage)
        if args.weights:
            torch.save(net.state_dict(), args.weights)
    print(f"float test accuracy {accuracy(net, as_float(test_images), torch.from_numpy(test_labels.astype(np.int64))):.4f}", flush=True)

    export(net, HERE / "fashion.onnx")
    model = quantize.Quantized(net, train_images[:1000])
    hits = np.concatenate([model.run(test_images[i:i + 500]).argmax(1) for i in range(0, len(test_images), 500)]) == test_labels
    print(f"int8 test accuracy {hits.mean():.4f}")
    quantize.write(model, HERE / "fashion.tflite")


if __name__ == "__main__":
    main()
