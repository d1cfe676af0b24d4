import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { up } from '../support/cluster.ts';
import { hostPids } from './default-cluster.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** The data directory of the default cluster that every file of this layer attacks. */
    attackedData: string;
  }
}

/** Starts one default cluster for the whole layer; no attack may have ended one of its hosts. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const data = mkdtempSync(join(tmpdir(), 'pilothouse-security-'));
  const running = await up('--data', data);
  const before = await hostPids(data);
  project.provide('attackedData', data);
  return async () => {
    const after = await hostPids(data);
    await running.end('SIGTERM');
    rmSync(data, { recursive: true, force: true });
    if (JSON.stringify(before) === JSON.stringify(after)) return;
    // Vitest prints what a teardown throws and still exits with 0.
    process.exitCode = 1;
    throw new Error(
      `an attack ended a host: pids were ${JSON.stringify(before)}, now ${JSON.stringify(after)}`,
    );
  };
}
