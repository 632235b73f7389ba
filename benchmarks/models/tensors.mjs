// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tensor bytes: made, read from .npy files, and compared.
import { readFileSync } from 'node:fs';
import { random } from './statistics.mjs';

/** By the names that a compiled model uses: ONNX Runtime's name, and the array that holds the elements. */
const kTypes = {
  f32: { ort: 'float32', array: Float32Array },
  f64: { ort: 'float64', array: Float64Array },
  f16: { ort: 'float16', array: Uint16Array },
  i8: { ort: 'int8', array: Int8Array },
  ui8: { ort: 'uint8', array: Uint8Array },
  i16: { ort: 'int16', array: Int16Array },
  i32: { ort: 'int32', array: Int32Array },
  i64: { ort: 'int64', array: BigInt64Array },
  i1: { ort: 'bool', array: Uint8Array },
};

export function typeOf(dtype) {
  if (!kTypes[dtype]) throw new Error(`element type ${dtype} is not supported by this benchmark`);
  return kTypes[dtype];
}

/** The elements of `bytes` (a Buffer), in memory of their own and so aligned. */
export function elements(dtype, bytes) {
  return new (typeOf(dtype).array)(Uint8Array.from(bytes).buffer);
}

function toHalf(value) {
  const bits = new Uint32Array(new Float32Array([value]).buffer)[0];
  const exponent = ((bits >>> 23) & 0xff) - 112;
  return ((bits >>> 16) & 0x8000) | (exponent <= 0 ? 0 : (exponent << 10) | ((bits >>> 13) & 0x3ff));
}

function fromHalf(half) {
  const sign = half & 0x8000 ? -1 : 1, exponent = (half >>> 10) & 0x1f, fraction = half & 0x3ff;
  if (exponent === 0) return sign * fraction * 2 ** -24;
  if (exponent === 31) return fraction ? NaN : sign * Infinity;
  return sign * (1 + fraction / 1024) * 2 ** (exponent - 15);
}

/** Floats uniform in [-1, 1); whole numbers are 1, a legal index and a mask that hides nothing. */
export function makeInput({ dtype, shape }, seed) {
  const next = random(seed);
  const array = new (typeOf(dtype).array)(shape.reduce((a, b) => a * b, 1));
  for (let i = 0; i < array.length; ++i) {
    const value = 2 * next() - 1;
    array[i] = dtype === 'f16' ? toHalf(value) : dtype === 'i64' ? 1n : dtype.startsWith('f') ? value : 1;
  }
  return Buffer.from(array.buffer);
}

/** The data of a .npy file, without its header. */
export function readNpy(file) {
  const bytes = readFileSync(file);
  if (bytes.subarray(1, 6).toString('latin1') !== 'NUMPY') throw new Error(`${file}: not a .npy file`);
  const wide = bytes[6] >= 2;
  return bytes.subarray(wide ? 12 + bytes.readUInt32LE(8) : 10 + bytes.readUInt16LE(8));
}

/** Largest difference of two results as a share of the range of `expected`; NaN on one side only is infinite. */
export function maxErrorOfRange(dtype, actual, expected) {
  const number = dtype === 'f16' ? fromHalf : Number;
  let worst = 0, low = Infinity, high = -Infinity;
  for (let i = 0; i < expected.length; ++i) {
    const a = number(actual[i]), b = number(expected[i]);
    if (!Object.is(a, b)) worst = Math.max(worst, Number.isNaN(a - b) ? Infinity : Math.abs(a - b));
    low = Math.min(low, b);
    high = Math.max(high, b);
  }
  return worst === 0 ? 0 : worst / (high - low || Math.abs(high) || 1);
}
