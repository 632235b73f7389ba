#!/usr/bin/env node
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Compares whole models with ONNX Runtime: both stay loaded and are timed in turns. See README.md.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { Artifact } from './models/artifact.mjs';
import { OnnxRuntimeModel, callOverheadMs, loadOnnxRuntime } from './models/onnxruntime.mjs';
import { provenance, table } from './models/report.mjs';
import { median, medianRatio } from './models/statistics.mjs';
import { elements, makeInput, maxErrorOfRange, readNpy } from './models/tensors.mjs';

const kUsage = `Usage: models.mjs [options] MODEL…
MODEL is an .onnx file, or a folder with model.onnx, manifest.json and the inputs it names.
  --ort DIR          directory with node_modules/onnxruntime-node (default: $ORT_NODE_DIR)
  --bin DIR          directory of autotune and autotune-bench-runner
  --artifacts DIR    take <name>-t<threads>.so, <name>.so or <name>.tuned/<name>.so from here instead of compiling
  --threads 1,2      thread counts
  --rounds N         rounds, each with one turn of either side (default 21)
  --turn MS          length of a turn (default 100)
  --output DIR       models.json, models.md and what was compiled (default ./benchmark_results)`;

const kSettleMs = 30;  // threads of the side that ran last may spin for a while before they sleep
// Of an output's range; beyond it the two sides do not compute the same. Half precision has three digits.
const kLargestDifference = { f16: 1e-2, default: 1e-3 };
const kSides = ['onnxruntime', 'autotune'];

/** Name, file, and the inputs where the model comes with some. */
function findModel(path) {
  if (!statSync(path).isDirectory()) return { name: basename(path, '.onnx'), file: path, inputs: [] };
  const { inputs } = JSON.parse(readFileSync(join(path, 'manifest.json'), 'utf8'));
  return {
    name: basename(resolve(path)),
    file: join(path, 'model.onnx'),
    inputs: inputs.map((input) => ({ ...input, file: join(path, input.file) })),
  };
}

function findArtifact(model, threads, options) {
  if (!options.artifacts) return compile(model, threads, options);
  const names = [`${model.name}-t${threads}.so`, `${model.name}.so`, join(`${model.name}.tuned`, `${model.name}.so`)];
  const found = names.map((name) => join(options.artifacts, name)).find(existsSync);
  if (!found) throw new Error(`found none of ${names.join(', ')} in ${options.artifacts}`);
  return found;
}

function compile(model, threads, options) {
  const output = join(options.output, `${model.name}-t${threads}.so`);
  const shapes = model.inputs.filter(({ shape }) => shape.length)
    .flatMap(({ name, shape }) => ['--input-shape', `${name}=${shape.join('x')}`]);
  try {
    execFileSync(join(options.bin, 'autotune'), ['compile', model.file, '-o', output, '--threads', threads, ...shapes],
      { encoding: 'utf8', stdio: 'pipe' });
  } catch (error) {
    const how = error.signal ? `ended by ${error.signal}` : `exit code ${error.status}`;
    throw new Error(`autotune compile: ${error.stderr?.trim() || how}`);
  }
  return output;
}

/** The same bytes for both sides: the model's own inputs, or made ones. */
function inputBytes(model, tensors) {
  return tensors.map((tensor, i) => {
    const given = model.inputs.find(({ name }) => name === tensor.name);
    const bytes = given ? readNpy(given.file) : makeInput(tensor, i + 1);
    if (bytes.length !== tensor.bytes)
      throw new Error(`input '${tensor.name}': found ${bytes.length} bytes, expected ${tensor.bytes}`);
    return bytes;
  });
}

/** One turn: the processor settles, two runs warm up, the median of `count` runs counts. */
async function turn(side, count) {
  await new Promise((wake) => setTimeout(wake, kSettleMs));
  await side.run(2);
  return median(await side.run(count));
}

async function largestDifference(sides, file) {
  const buffers = await sides.autotune.outputs(file);
  return Math.max(...sides.autotune.description.outputs.map(({ name, dtype }, i) =>
    maxErrorOfRange(dtype, elements(dtype, buffers[i]), sides.onnxruntime.output(name))));
}

/** Results are compared in every round: a race between threads shows in some runs only. */
async function timeRounds(sides, { rounds, turnMs }, file) {
  let slower = 0;
  for (const name of kSides) slower = Math.max(slower, await turn(sides[name], 3));
  const runs = Math.min(500, Math.max(2, Math.ceil(turnMs / slower)));
  const samples = { onnxruntime: [], autotune: [] };
  let difference = 0;
  for (let round = 0; round < rounds; ++round) {
    for (const name of round % 2 ? kSides : [...kSides].reverse()) samples[name].push(await turn(sides[name], runs));
    difference = Math.max(difference, await largestDifference(sides, file));
  }
  return { samples, runs, difference };
}

async function compareModel(model, threads, context) {
  const { options, ort, overheadMs } = context;
  const path = findArtifact(model, threads, options);
  const sides = {};
  try {
    sides.autotune = await Artifact.start(join(options.bin, 'autotune-bench-runner'), path, threads);
    sides.onnxruntime = await OnnxRuntimeModel.load(ort, model.file, threads);
    const { inputs, outputs } = sides.autotune.description;
    const hasHalf = outputs.some(({ dtype }) => dtype === 'f16');
    const bytes = inputBytes(model, inputs), exchange = join(options.output, 'exchange.bin');
    await sides.autotune.setInputs(bytes, exchange);
    sides.onnxruntime.setInputs(inputs, bytes);
    const { samples, runs, difference } = await timeRounds(sides, options, exchange);
    // What the binding costs is not ONNX Runtime's: it is taken off.
    const net = samples.onnxruntime.map((ms) => Math.max(ms - overheadMs, ms / 10));
    return {
      model: model.name,
      threads,
      artifact: path,
      load_ms: sides.autotune.description.load_ms,
      rounds: options.rounds,
      runs_per_turn: runs,
      onnxruntime_ms: { median: median(net), with_binding: median(samples.onnxruntime), rounds: samples.onnxruntime },
      autotune_ms: { median: median(samples.autotune), rounds: samples.autotune },
      speedup: medianRatio(net, samples.autotune),
      max_error_of_range: difference,
      same_results: difference <= (hasHalf ? kLargestDifference.f16 : kLargestDifference.default),
    };
  } finally {
    sides.autotune?.stop();
    await sides.onnxruntime?.stop();
  }
}

function readOptions() {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      ort: { type: 'string', default: process.env.ORT_NODE_DIR },
      bin: { type: 'string', default: '.' },
      artifacts: { type: 'string' },
      threads: { type: 'string', default: '1,2' },
      rounds: { type: 'string', default: '21' },
      turn: { type: 'string', default: '100' },
      output: { type: 'string', default: 'benchmark_results' },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help || !positionals.length) {
    console.log(kUsage);
    process.exit(values.help ? 0 : 2);
  }
  const threadCounts = values.threads.split(',').map(Number);
  return { ...values, threadCounts, rounds: Number(values.rounds), turnMs: Number(values.turn), models: positionals };
}

async function main() {
  const options = readOptions();
  const { ort, version } = loadOnnxRuntime(options.ort);
  mkdirSync(options.output, { recursive: true });
  const overheadMs = await callOverheadMs(ort);
  const versions = { onnxruntime: version, onnxruntime_call_overhead_ms: overheadMs };
  const report = {
    schema_version: 1,
    provenance: provenance(dirname(fileURLToPath(import.meta.url)), versions),
    results: [],
  };
  for (const path of options.models)
    for (const threads of options.threadCounts) {
      const model = findModel(path);
      const result = await compareModel(model, threads, { options, ort, overheadMs })
        .catch((error) => ({ model: model.name, threads, error: error.message }));
      report.results.push(result);
      console.error(result.error ? `${model.name}, ${threads} threads: ${result.error}`
        : `${model.name}, ${threads} threads: ${result.speedup.ratio.toFixed(3)}`);
      // After each model: what is done is kept when the run is interrupted.
      writeFileSync(join(options.output, 'models.json'), JSON.stringify(report, null, 1) + '\n');
      writeFileSync(join(options.output, 'models.md'), table(report));
    }
  console.log(table(report));
}

main().catch((error) => {
  console.error(`models.mjs: ${error.message}`);
  process.exit(1);
});
