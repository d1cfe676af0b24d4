import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type { Clock } from '../../base/clock.ts';
import type { Disposable } from '../../base/disposable.ts';
import { messageOf, ReasonError } from '../../base/errors.ts';
import type { Log } from '../../base/log.ts';
import type { Registry as Metrics } from '../../base/metrics/index.ts';
import { watchFiles } from '../../base/node/pem-files.ts';
import type { ValueTransformer } from '../storage/value-transformer.ts';
import { parseEncryptionConfiguration } from './configuration.ts';
import { identity } from './identity.ts';
import { encryptionMetrics, type EncryptionMetrics } from './encryption-metrics.ts';
import { createTransformers, type Transformers } from './transformers.ts';

/** How soon a file that could not be used is tried again; a KMS plugin may come later than the file that names it. */
const RELOAD_AGAIN_MS = 10_000;
/** How long new plugins may take to become healthy before the old configuration stays. */
const NEW_PLUGINS_MS = 10_000;
const NEW_PLUGINS_LOOK_MS = 100;

/** Values stay plain, and encrypted ones are rejected. */
export const plainValues: ValueTransformer = {
  fromStorage: (data, key) => identity.decrypt(data, key),
  toStorage: (value) => value,
};

export interface EncryptionOptions {
  readonly file: string;
  readonly isReloaded: boolean;
  /** Of this server, for metrics. */
  readonly apiServerId: string;
  readonly metrics: Metrics;
  readonly clock: Clock;
  readonly log: Log;
}

export interface Encryption extends ValueTransformer, Disposable {
  /** Rejects while a KMS plugin is not healthy; fine where there is none. */
  check(): Promise<void>;
}

export const configurationHash = (text: string): string =>
  `sha256:${createHash('sha256').update(text).digest('hex')}`;

interface Loaded {
  readonly transformers: Transformers;
  readonly hash: string;
}

const wait = (clock: Clock, ms: number): Promise<void> =>
  new Promise((resolve) => void clock.after(ms, resolve));

/** Reads a file that names keys. What it throws names the file and never a key. */
export const loadTransformers = async (
  file: string,
  options: { readonly clock: Clock; readonly log: Log; readonly metrics?: EncryptionMetrics },
): Promise<Loaded> => {
  try {
    const text = await readFile(file, 'utf8');
    if (text === '') throw new Error('the file is empty');
    const transformers = createTransformers(parseEncryptionConfiguration(text), {
      clock: options.clock,
      log: options.log,
      onTransformed: options.metrics?.transformed,
    });
    return { transformers, hash: configurationHash(text) };
  } catch (cause) {
    throw new ReasonError('BadConfiguration', `--encryption-provider-config ${file}: ${messageOf(cause)}`, {
      cause,
    });
  }
};

/**
 * The transformer of one server, replaced as a whole when its file changes. A file that cannot be used, and one whose
 * KMS plugin is not healthy, leaves the old keys in use; it is tried again.
 */
export const startEncryption = async (options: EncryptionOptions): Promise<Encryption> => {
  const { file, isReloaded, clock, log } = options;
  const metrics = encryptionMetrics(options.metrics, options.apiServerId, clock);
  let current = await loadTransformers(file, { clock, log, metrics });
  await current.transformers.primed;
  metrics.loaded(current.hash);
  let isClosed = false;
  let again: Disposable | undefined;
  let reloading: Promise<void> | undefined;

  const untilHealthy = async (transformers: Transformers): Promise<void> => {
    const deadlineMs = clock.monotonicMs() + Math.max(NEW_PLUGINS_MS, transformers.closeGraceMs);
    for (;;) {
      try {
        return await transformers.check();
      } catch (error) {
        if (isClosed || clock.monotonicMs() > deadlineMs) throw error;
        await wait(clock, NEW_PLUGINS_LOOK_MS);
      }
    }
  };

  const replace = async (): Promise<void> => {
    if (configurationHash(await readFile(file, 'utf8')) === current.hash) return;
    const next = await loadTransformers(file, { clock, log, metrics });
    try {
      await untilHealthy(next.transformers);
    } catch (error) {
      next.transformers.dispose();
      throw error;
    }
    const before = current.transformers;
    current = next;
    metrics.reloaded(next.hash);
    log.write('info', 'loaded a new encryption configuration', { file, hash: next.hash });
    clock.after(before.closeGraceMs, () => before.dispose());
    if (isClosed) next.transformers.dispose();
  };

  const reload = (): void => {
    again?.dispose();
    reloading = (reloading ?? Promise.resolve()).then(replace).catch((error: unknown) => {
      metrics.reloadFailed();
      log.write('warn', 'the new encryption configuration cannot be used; the old one stays', {
        error: messageOf(error),
      });
      if (!isClosed) again = clock.after(RELOAD_AGAIN_MS, reload);
    });
  };
  const problem = (error: unknown): void =>
    log.write('warn', 'the encryption configuration cannot be watched', { file, error: messageOf(error) });
  const watching = isReloaded ? watchFiles([file], clock, reload, problem) : undefined;

  return {
    fromStorage: (data, key) => current.transformers.fromStorage(data, key),
    toStorage: (value, key) => current.transformers.toStorage(value, key),
    check: () => current.transformers.check(),
    dispose() {
      isClosed = true;
      again?.dispose();
      watching?.dispose();
      current.transformers.dispose();
    },
  };
};
