// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Our side: a compiled model in a process of its own that runs when told.
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { readFileSync, writeFileSync } from 'node:fs';

export class Artifact {
  /** Starts `runner` on `path`. Fails with what the runner printed. */
  static async start(runner, path, threads) {
    const artifact = new Artifact();
    artifact.child = spawn(runner, [path, '--threads', String(threads)]);
    artifact.errors = '';
    artifact.child.stderr.on('data', (text) => (artifact.errors += text));
    // An end of the process shows as the end of its output; writing to it then must not end this program.
    artifact.child.stdin.on('error', () => {});
    artifact.child.on('error', (error) => (artifact.errors += error.message));
    artifact.lines = createInterface({ input: artifact.child.stdout })[Symbol.asyncIterator]();
    artifact.description = JSON.parse(await artifact.nextLine());
    return artifact;
  }

  async nextLine() {
    const { value, done } = await this.lines.next();
    if (!done) return value;
    // What it had to say may still be on its way.
    await new Promise((resolve) => setTimeout(resolve, 50));
    throw new Error(this.errors.trim() || 'the runner ended');
  }

  ask(line) {
    this.child.stdin.write(line + '\n');
    return this.nextLine();
  }

  /** Latencies of `count` runs in milliseconds. */
  async run(count) {
    return (await this.ask(`run ${count}`)).split(' ').map(Number);
  }

  async setInputs(buffers, file) {
    writeFileSync(file, Buffer.concat(buffers));
    await this.ask(`inputs ${file}`);
  }

  /** One Buffer for each output of the last run. */
  async outputs(file) {
    await this.ask(`outputs ${file}`);
    const bytes = readFileSync(file);
    let at = 0;
    return this.description.outputs.map((tensor) => bytes.subarray(at, (at += tensor.bytes)));
  }

  stop() {
    this.child.stdin.end();
  }
}
