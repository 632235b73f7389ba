// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Medians and bootstrap intervals.

export function median(values) {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

/** mulberry32: small, and the same numbers everywhere. */
export function random(seed) {
  return () => {
    seed = (seed + 0x6d2b79f5) | 0;
    let t = Math.imul(seed ^ (seed >>> 15), 1 | seed);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

/**
 * Ratio of the medians of `slow` and `fast`, where slow[i] and fast[i] were measured in the same round, with a 95 %
 * interval: percentiles over `resamples` draws of whole rounds.
 */
export function medianRatio(slow, fast, resamples = 2000) {
  const next = random(1);
  const ratios = [];
  for (let i = 0; i < resamples; ++i) {
    const rounds = slow.map(() => Math.floor(next() * slow.length));
    ratios.push(median(rounds.map((r) => slow[r])) / median(rounds.map((r) => fast[r])));
  }
  ratios.sort((a, b) => a - b);
  return {
    ratio: median(slow) / median(fast),
    low: ratios[Math.floor(0.025 * resamples)],
    high: ratios[Math.ceil(0.975 * resamples) - 1],
  };
}

export function geometricMean(values) {
  return Math.exp(values.reduce((sum, value) => sum + Math.log(value), 0) / values.length);
}
