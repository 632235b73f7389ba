// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What is written at the end: provenance and a table.
import { execFileSync } from 'node:child_process';
import os from 'node:os';
import { geometricMean } from './statistics.mjs';

function commit(directory) {
  try {
    return execFileSync('git', ['-C', directory, 'rev-parse', 'HEAD'], { encoding: 'utf8', stdio: 'pipe' }).trim();
  } catch {
    return null;  // an unpacked archive has no history
  }
}

export function provenance(directory, versions) {
  return {
    date: new Date().toISOString(),
    cpu: os.cpus()[0].model.trim(),
    processors: os.cpus().length,
    load_average: os.loadavg(),
    kernel: os.release(),
    node: process.versions.node,
    commit: commit(directory),
    ...versions,
  };
}

const digits = (value) => value.toPrecision(value < 1000 ? 3 : 4);

function row({ model, threads, error, onnxruntime_ms, autotune_ms, speedup, max_error_of_range, same_results }) {
  if (error) return `| ${model} | ${threads} | — | — | ${error.replaceAll('|', '/').split('\n')[0]} | |`;
  const interval = `${speedup.ratio.toFixed(2)} (${speedup.low.toFixed(2)} – ${speedup.high.toFixed(2)})`;
  return `| ${model} | ${threads} | ${digits(onnxruntime_ms.median)} | ${digits(autotune_ms.median)} | ${interval} | ` +
    `${max_error_of_range.toExponential(0)}${same_results ? '' : ' **differs**'} |`;
}

export function table({ results, provenance: origin }) {
  const lines = [
    `${origin.cpu}, ${origin.processors} processors; ONNX Runtime ${origin.onnxruntime}; ${origin.date}`,
    '',
    '| model | threads | ONNX Runtime, ms | autotune, ms | speed-up (95 % interval) | largest difference |',
    '|---|---|---|---|---|---|',
    ...results.map(row),
    '',
  ];
  for (const threads of new Set(results.map((r) => r.threads))) {
    const ratios = results.filter((r) => r.threads === threads && r.same_results).map((r) => r.speedup.ratio);
    if (ratios.length)
      lines.push(`Geometric mean over ${ratios.length} models, ${threads} thread${threads > 1 ? 's' : ''}: ` +
        `${geometricMean(ratios).toFixed(3)}`);
  }
  return lines.join('\n') + '\n';
}
