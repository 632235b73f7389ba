// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The other side: ONNX Runtime through its Node binding.
import { createRequire } from 'node:module';
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { elements, typeOf } from './tensors.mjs';
import { median } from './statistics.mjs';

const kInstall = 'npm install --ignore-scripts onnxruntime-node@1.30.0';

/** The package in `directory`/node_modules, and its version. */
export function loadOnnxRuntime(directory) {
  if (!directory || !existsSync(join(directory, 'node_modules', 'onnxruntime-node')))
    throw new Error(
      `ONNX Runtime not found in ${directory || '(no directory given)'}: run \`${kInstall}\` in a directory and name it ` +
        'with --ort or ORT_NODE_DIR');
  const require = createRequire(join(resolve(directory), 'package.json'));
  return { ort: require('onnxruntime-node'), version: require('onnxruntime-node/package.json').version };
}

export class OnnxRuntimeModel {
  /** `model`: path or bytes. Threads are as many as asked for; the rest is the package's default for speed. */
  static async load(ort, model, threads) {
    const session = await ort.InferenceSession.create(model, {
      intraOpNumThreads: threads,
      interOpNumThreads: 1,
      executionMode: 'sequential',
      executionProviders: ['cpu'],
      graphOptimizationLevel: 'all',
    });
    return Object.assign(new OnnxRuntimeModel(), { ort, session });
  }

  /** `tensors`: descriptions as the runner gives them; `buffers`: their bytes. */
  setInputs(tensors, buffers) {
    this.feeds = {};
    for (const [i, { name, dtype, shape }] of tensors.entries()) {
      if (!this.session.inputNames.includes(name)) throw new Error(`ONNX Runtime has no input '${name}'`);
      this.feeds[name] = new this.ort.Tensor(typeOf(dtype).ort, elements(dtype, buffers[i]), shape);
    }
  }

  /** Latencies of `count` runs in milliseconds. */
  async run(count) {
    const latencies = [];
    for (let i = 0; i < count; ++i) {
      const start = process.hrtime.bigint();
      this.results = await this.session.run(this.feeds);
      latencies.push(Number(process.hrtime.bigint() - start) / 1e6);
    }
    return latencies;
  }

  output(name) {
    return this.results[name].data;
  }

  async stop() {
    await this.session.release();
  }
}

// -- what a call costs by itself -------------------------------------------------------------------------------------

const field = (number, bytes) => [(number << 3) | 2, bytes.length, ...bytes];
const text = (number, value) => field(number, [...Buffer.from(value)]);
const integer = (number, value) => [number << 3, value];

/** An ONNX model with one Identity on one float: protobuf by hand, no field is longer than 127 bytes. */
function identityModel() {
  const type = field(2, field(1, [...integer(1, 1), ...field(2, field(1, integer(1, 1)))]));
  const node = [...text(1, 'x'), ...text(2, 'y'), ...text(4, 'Identity')];
  const graph = [
    ...field(1, node), ...text(2, 'g'), ...field(11, [...text(1, 'x'), ...type]), ...field(12, [...text(1, 'y'), ...type])];
  return Uint8Array.from([...integer(1, 7), ...field(7, graph), ...field(8, integer(2, 13))]);
}

/** Milliseconds that one call costs in the binding and the session whatever the model does: median of many. */
export async function callOverheadMs(ort) {
  const model = await OnnxRuntimeModel.load(ort, identityModel(), 1);
  model.setInputs([{ name: 'x', dtype: 'f32', shape: [1] }], [Buffer.from(new Float32Array([1]).buffer)]);
  await model.run(500);
  const overhead = median(await model.run(1000));
  await model.stop();
  return overhead;
}
