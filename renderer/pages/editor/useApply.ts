import { ref, shallowRef, type Ref, type ShallowRef } from 'vue';
import type { ApplyResult } from '../../../core/contract/index.ts';
import { messageOf } from '../../../core/base/errors.ts';
import { useConnection } from '../../bridge/index.ts';
import type { ManifestDocument } from './manifest-documents.ts';

/** Named in managedFields, as kubectl names itself. */
export const FIELD_MANAGER = 'pilothouse';

export type Outcome = ApplyResult['outcome'] | 'failed' | 'skipped';

export interface DocumentResult {
  readonly outcome: Outcome;
  readonly result: ApplyResult | undefined;
  /** Why there is no answer of the server. */
  readonly message: string;
}

export interface ApplyRun {
  /** The text that was sent: results belong to it and to no other. */
  readonly text: string;
  readonly isDryRun: boolean;
  readonly atMs: number;
  readonly results: readonly DocumentResult[];
}

export const isBad = (outcome: Outcome): boolean =>
  outcome === 'refused' || outcome === 'conflict' || outcome === 'failed';

/** Sends documents one after the other: a later one may need what an earlier one makes. */
export const useApply = (): {
  readonly run: ShallowRef<ApplyRun | undefined>;
  readonly runningIndex: Ref<number | undefined>;
  send(options: {
    readonly cluster: string;
    readonly text: string;
    readonly documents: readonly ManifestDocument[];
    readonly isDryRun: boolean;
    readonly forced: ReadonlySet<number>;
    readonly defaultNamespace: string;
  }): Promise<ApplyRun>;
} => {
  const connection = useConnection();
  const run = shallowRef<ApplyRun>();
  const runningIndex = ref<number>();

  return {
    run,
    runningIndex,
    async send({ cluster, text, documents, isDryRun, forced, defaultNamespace }) {
      const results: DocumentResult[] = [];
      const show = (): ApplyRun => {
        const shown = { text, isDryRun, atMs: Date.now(), results: [...results] };
        run.value = shown;
        return shown;
      };
      try {
        for (const document of documents) {
          runningIndex.value = document.index;
          if (!document.object)
            results.push({ outcome: 'skipped', result: undefined, message: document.error ?? '' });
          else
            try {
              const result = await connection.call('kube.apply', {
                cluster,
                object: document.object,
                dryRun: isDryRun,
                force: forced.has(document.index),
                fieldManager: FIELD_MANAGER,
                defaultNamespace,
              });
              results.push({ outcome: result.outcome, result, message: '' });
            } catch (error) {
              results.push({ outcome: 'failed', result: undefined, message: messageOf(error) });
              // Without an answer no one knows what became of it; continuing would make that worse.
              if (!isDryRun) break;
            }
          show();
        }
        return show();
      } finally {
        runningIndex.value = undefined;
      }
    },
  };
};
