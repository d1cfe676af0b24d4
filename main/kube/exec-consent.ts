import { createHash } from 'node:crypto';
import { join } from 'node:path';
import * as v from 'valibot';
import type { ExecConfig } from '../../core/client/index.ts';
import { type ClusterEntry, ContractError, type ExecPlugin, say } from '../../core/contract/index.ts';
import { openJsonDocument, type Damage } from '../state/json-document.ts';

/** The oldest consent is asked for again beyond this. */
export const CONSENTS_MAX = 256;

const schema = v.object({
  allowed: v.pipe(
    v.array(v.object({ fingerprint: v.string(), command: v.string(), allowedAtMs: v.number() })),
    v.maxLength(CONSENTS_MAX),
  ),
});

const byName = ([a]: readonly [string, string], [b]: readonly [string, string]): number => (a < b ? -1 : 1);

/** Of everything that decides what runs: the command, every argument and every variable. */
export const fingerprintOf = ({ command, args, env }: ExecConfig): string =>
  createHash('sha256')
    .update(JSON.stringify([command, args, Object.entries(env).sort(byName)]))
    .digest('hex');

/** Which programs kubeconfigs may run on this machine, as the person decided. */
export interface ExecConsent {
  /** As the person is to see it. */
  pluginOf(exec: ExecConfig): ExecPlugin;
  /** Fails with `ConsentRequired`. */
  assertAllowed(exec: ExecConfig, entry: ClusterEntry): void;
  allow(plugin: ExecPlugin): Promise<void>;
}

export interface ExecConsentOptions {
  readonly dataDirectory: string;
  readonly nowMs: () => number;
  readonly onDamage: (damage: Damage) => void;
}

export const openExecConsent = ({ dataDirectory, nowMs, onDamage }: ExecConsentOptions): ExecConsent => {
  const path = join(dataDirectory, 'exec-plugins.json');
  const document = openJsonDocument({ path, schema, initial: { allowed: [] }, onDamage });
  const isAllowed = (fingerprint: string): boolean =>
    document.value.allowed.some((known) => known.fingerprint === fingerprint);
  return {
    pluginOf(exec) {
      const fingerprint = fingerprintOf(exec);
      const env = Object.entries(exec.env).sort(byName);
      return {
        command: exec.command,
        args: [...exec.args],
        env: env.map(([name, value]) => ({ name, value })),
        fingerprint,
        isAllowed: isAllowed(fingerprint),
      };
    },
    assertAllowed(exec, { name, kubeconfigPath }) {
      if (isAllowed(fingerprintOf(exec))) return;
      throw new ContractError(
        'ConsentRequired',
        say('failure.consentRequired', { path: kubeconfigPath, command: exec.command, cluster: name }),
      );
    },
    async allow({ fingerprint, command }) {
      await document.change(({ allowed }) => {
        const others = allowed.filter((known) => known.fingerprint !== fingerprint);
        const kept = others.slice(Math.max(0, others.length - CONSENTS_MAX + 1));
        return { allowed: [...kept, { fingerprint, command, allowedAtMs: nowMs() }] };
      });
    },
  };
};
