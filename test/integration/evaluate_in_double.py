#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Evaluates a convolution network in double precision.

usage: evaluate_in_double.py FOLDER OUTPUT
FOLDER holds model.onnx, manifest.json and the inputs that it names. OUTPUT gets the same inputs and manifest, with
outputs that are exact to the last bit or two of single precision, and a line for each output that says how far the
outputs of FOLDER are from them. For networks whose given outputs are less exact than what is tested against them.
"""
import json
import shutil
import sys
from pathlib import Path

import numpy as np
import onnx
from onnx import numpy_helper


def windows(x, kernel, attributes, padding):
    """For each position in the kernel, the elements of x that it meets: [kernel positions, N, C, H, W]."""
    strides = attributes.get("strides", [1, 1])
    dilations = attributes.get("dilations", [1, 1])
    top, left, bottom, right = attributes.get("pads", [0, 0, 0, 0])
    x = np.pad(x, ((0, 0), (0, 0), (top, bottom), (left, right)), constant_values=padding)
    sizes = [(x.shape[2 + i] - (kernel[i] - 1) * dilations[i] - 1) // strides[i] + 1 for i in (0, 1)]
    for i in range(kernel[0]):
        for j in range(kernel[1]):
            starts = (i * dilations[0], j * dilations[1])
            rows, columns = (slice(s, s + (n - 1) * step + 1, step) for s, n, step in zip(starts, sizes, strides))
            yield x[:, :, rows, columns]


def conv(inputs, attributes):
    x, weight = inputs[:2]
    groups, filters, channels = attributes.get("group", 1), weight.shape[0], weight.shape[1]
    taps = weight.reshape(groups, filters // groups, channels, -1)
    result = 0
    for tap, part in enumerate(windows(x, weight.shape[2:], attributes, 0)):
        grouped = part.reshape(part.shape[0], groups, channels, *part.shape[2:])
        result = result + np.einsum("goc,ngchw->ngohw", taps[..., tap], grouped, optimize=True)
    result = result.reshape(x.shape[0], filters, *result.shape[3:])
    return result + inputs[2][:, None, None] if len(inputs) > 2 else result


def conv_transpose(inputs, attributes):
    x, weight = inputs[:2]
    assert attributes.get("group", 1) == 1 and not any(attributes.get("output_padding", []))
    strides, (top, left, bottom, right) = attributes["strides"], attributes.get("pads", [0, 0, 0, 0])
    height, width = ((x.shape[2 + i] - 1) * strides[i] + weight.shape[2 + i] for i in (0, 1))
    result = np.zeros((x.shape[0], weight.shape[1], height, width))
    for i in range(weight.shape[2]):
        for j in range(weight.shape[3]):
            rows = slice(i, i + (x.shape[2] - 1) * strides[0] + 1, strides[0])
            columns = slice(j, j + (x.shape[3] - 1) * strides[1] + 1, strides[1])
            result[:, :, rows, columns] += np.einsum("co,nchw->nohw", weight[:, :, i, j], x)
    result = result[:, :, top : height - bottom, left : width - right]
    return result + inputs[2][:, None, None] if len(inputs) > 2 else result


def pool(inputs, attributes, combine, padding):
    return combine(list(windows(inputs[0], attributes["kernel_shape"], attributes, padding)), axis=0)


def resized_axis(x, size, axis, mode, transform):
    length, at = x.shape[axis], np.arange(size)
    if transform == "half_pixel":
        at = (at + 0.5) * length / size - 0.5
    elif transform == "asymmetric":
        at = at * (length / size)
    else:
        raise NotImplementedError(transform)
    if mode == "nearest":
        return np.take(x, np.clip(np.floor(at).astype(int), 0, length - 1), axis)
    at = np.clip(at, 0, length - 1)
    low = np.floor(at).astype(int)
    share = (at - low).reshape([-1 if i == axis else 1 for i in range(x.ndim)])
    return np.take(x, low, axis) * (1 - share) + np.take(x, np.minimum(low + 1, length - 1), axis) * share


def resize(inputs, attributes):
    x = inputs[0]
    sizes = inputs[3] if len(inputs) > 3 else [int(n * s) for n, s in zip(x.shape, inputs[2])]
    transform = attributes.get("coordinate_transformation_mode", b"half_pixel").decode()
    mode = attributes.get("mode", b"nearest").decode()
    if mode == "nearest" and (transform, attributes.get("nearest_mode")) != ("asymmetric", b"floor"):
        raise NotImplementedError(f"nearest, {transform}")
    for axis, size in enumerate(sizes):
        if size != x.shape[axis]:
            x = resized_axis(x, int(size), axis, mode, transform)
    return x


def sliced(inputs, attributes):
    operands = inputs[1:] or [attributes["starts"], attributes["ends"], attributes.get("axes")]
    starts, ends = operands[:2]
    axes = operands[2] if len(operands) > 2 and operands[2] is not None else range(len(starts))
    steps = operands[3] if len(operands) > 3 else [1] * len(starts)
    index = [slice(None)] * inputs[0].ndim
    for axis, start, end, step in zip(axes, starts, ends, steps):
        index[axis] = slice(int(start), int(end), int(step))
    return inputs[0][tuple(index)]


def clipped(inputs, attributes):
    bounds = [*inputs[1:], None, None]
    low = attributes.get("min", -np.inf) if bounds[0] is None else bounds[0]
    high = attributes.get("max", np.inf) if bounds[1] is None else bounds[1]
    return np.clip(inputs[0], low, high)


def batch_normalization(inputs, attributes):
    x, scale, bias, mean, variance = (v if i == 0 else v[:, None, None] for i, v in enumerate(inputs))
    return (x - mean) / np.sqrt(variance + attributes.get("epsilon", 1e-5)) * scale + bias


def hard_sigmoid(x, attributes):
    return np.clip(attributes.get("alpha", 0.2) * x + attributes.get("beta", 0.5), 0, 1)


OPERATORS = {
    "Add": lambda v, a: v[0] + v[1],
    "AveragePool": lambda v, a: pool(v, a, np.mean, 0),
    "BatchNormalization": batch_normalization,
    "Cast": lambda v, a: v[0].astype({1: np.float64, 6: np.int32, 7: np.int64, 9: bool}[a["to"]]),
    "Clip": clipped,
    "Concat": lambda v, a: np.concatenate(v, a["axis"]),
    "Constant": lambda v, a: numpy_helper.to_array(a["value"]),
    "Conv": conv,
    "ConvTranspose": conv_transpose,
    "Div": lambda v, a: v[0] / v[1] if v[0].dtype.kind == "f" else v[0] // v[1],
    "Equal": lambda v, a: v[0] == v[1],
    "GlobalAveragePool": lambda v, a: v[0].mean((2, 3), keepdims=True),
    "HardSigmoid": lambda v, a: hard_sigmoid(v[0], a),
    "HardSwish": lambda v, a: v[0] * np.clip(v[0] / 6 + 0.5, 0, 1),
    "Identity": lambda v, a: v[0],
    "MaxPool": lambda v, a: pool(v, a, np.max, -np.inf),
    "Mul": lambda v, a: v[0] * v[1],
    "Pad": lambda v, a: np.pad(v[0], np.reshape(v[1] if len(v) > 1 else a["pads"], (2, -1)).T),
    "ReduceMean": lambda v, a: v[0].mean(tuple(a["axes"]), keepdims=bool(a.get("keepdims", 1))),
    "Relu": lambda v, a: np.maximum(v[0], 0),
    "Reshape": lambda v, a: v[0].reshape([v[0].shape[i] if n == 0 else n for i, n in enumerate(v[1])]),
    "Resize": resize,
    "Shape": lambda v, a: np.array(v[0].shape, np.int64),
    "Sigmoid": lambda v, a: 1 / (1 + np.exp(-v[0])),
    "Slice": sliced,
    "Split": lambda v, a: np.split(v[0], np.cumsum(a["split"])[:-1], a.get("axis", 0)),
    "Sqrt": lambda v, a: np.sqrt(v[0]),
    "Sub": lambda v, a: v[0] - v[1],
    "Transpose": lambda v, a: np.transpose(v[0], a.get("perm")),
    "Unsqueeze": lambda v, a: v[0].reshape(onnx_unsqueezed(v[0].shape, a["axes"])),
}


def onnx_unsqueezed(shape, axes):
    shape = list(shape)
    for axis in sorted(axes):
        shape.insert(axis, 1)
    return shape


def double(array):
    return array.astype(np.float64) if array.dtype == np.float32 else array


def evaluate(graph, inputs):
    values = {tensor.name: double(numpy_helper.to_array(tensor)) for tensor in graph.initializer} | inputs
    for node in graph.node:
        attributes = {a.name: onnx.helper.get_attribute_value(a) for a in node.attribute}
        operands = [values[name] if name else None for name in node.input]
        results = OPERATORS[node.op_type](operands, attributes)
        for name, result in zip(node.output, results if node.op_type == "Split" else [results]):
            values[name] = double(np.asarray(result))
    return values


def main(folder, output):
    output.mkdir(parents=True, exist_ok=True)
    manifest = json.loads((folder / "manifest.json").read_text())
    shutil.copy(folder / "manifest.json", output)
    inputs = {}
    for tensor in manifest["inputs"]:
        shutil.copy(folder / tensor["file"], output)
        inputs[tensor["name"]] = double(np.load(folder / tensor["file"]))
    values = evaluate(onnx.load(folder / "model.onnx").graph, inputs)
    for tensor in manifest["outputs"]:
        exact, given = values[tensor["name"]], np.load(folder / tensor["file"])
        np.save(output / tensor["file"], exact.astype(given.dtype))
        difference = np.abs(exact - given).max() / np.ptp(exact)
        print(f"{tensor['name']}: the given output is off by {difference:.2e} of the range")


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
