import { onScopeDispose, shallowRef, watch, type ShallowRef } from 'vue';
import type { Disposable } from '../../core/base/disposable.ts';
import type { ContractError, InputOf, ItemOf, StreamName } from '../../core/contract/index.ts';
import { retryDelayMs } from '../bridge/backoff.ts';
import { useConnection, type Connection } from '../bridge/index.ts';
import { usePageVisible } from './usePageVisible.ts';

/**
 * How far the items on screen can be trusted. `opening`: asked, nothing came yet. `live`: items arrive.
 * `lost`: it is being opened again. `paused`: no one looks. `refused`: this host will not serve it.
 */
export interface StreamHealth {
  readonly phase: 'opening' | 'live' | 'lost' | 'paused' | 'refused';
  /** When the last batch arrived, by the console's clock. */
  readonly lastAtMs?: number;
  readonly error?: ContractError;
}

export interface StreamOptions {
  /** Close the stream while the window is hidden. Off for what must be noticed anyway. */
  readonly pauseWhenHidden?: boolean;
  /** Of the app, for a scope that is made outside of a component's or store's setup. */
  readonly connection?: Connection;
  /** Each time the stream is opened, before its first batch. */
  readonly onOpening?: () => void;
}

/** Asking again would get the same answer. */
const isFinal = (error: ContractError | undefined): boolean =>
  error?.reason === 'Unimplemented' || error?.reason === 'Forbidden' || error?.reason === 'BadRequest';

/**
 * Keeps a stream of the contract open for the life of the calling scope: again after the wire was lost,
 * again (with growing delays) after the host ended it.
 */
export const useStream = <N extends StreamName>(
  name: N,
  input: InputOf<N>,
  onBatch: (items: readonly ItemOf<N>[]) => void,
  options: StreamOptions = {},
): { readonly health: Readonly<ShallowRef<StreamHealth>>; reopen(): void } => {
  const connection = options.connection ?? useConnection();
  const visible = usePageVisible();
  const health = shallowRef<StreamHealth>({ phase: 'opening' });
  let open: Disposable | undefined;
  let attempt = 0;
  let timer: ReturnType<typeof setTimeout> | undefined;

  const become = (phase: StreamHealth['phase'], error?: ContractError): void => {
    const { lastAtMs } = health.value;
    health.value = { phase, ...(lastAtMs !== undefined && { lastAtMs }), ...(error && { error }) };
  };

  const stop = (): void => {
    clearTimeout(timer);
    open?.dispose();
    open = undefined;
  };

  const start = (): void => {
    stop();
    const client = connection.client.value;
    if (!client) return become(connection.state.value.phase === 'connecting' ? 'opening' : 'lost');
    if (options.pauseWhenHidden && !visible.value) return become('paused');
    // Why it was lost stays in view until the next attempt tells something else.
    if (health.value.lastAtMs === undefined && health.value.phase !== 'lost') become('opening');
    options.onOpening?.();
    open = client.open(name, input, {
      onBatch(items) {
        attempt = 0;
        health.value = { phase: 'live', lastAtMs: Date.now() };
        onBatch(items);
      },
      onEnd(error) {
        open = undefined;
        // A lost wire gives a new client, and that opens the stream again.
        if (connection.client.value !== client) return become('lost', error);
        if (isFinal(error)) return become('refused', error);
        become('lost', error);
        timer = setTimeout(start, retryDelayMs(attempt, Math.random));
        attempt += 1;
      },
    });
  };

  watch([connection.client, visible], ([client, isVisible], [clientBefore]) => {
    if (client !== clientBefore) attempt = 0;
    else if (!options.pauseWhenHidden || (isVisible && open)) return;
    start();
  });
  // The first attempt to connect may fail: then there never was a client whose loss could be seen.
  watch(
    () => connection.state.value.phase,
    (phase) => {
      if (phase === 'lost' && health.value.phase === 'opening') become('lost');
    },
  );
  start();
  onScopeDispose(stop);
  return { health, reopen: start };
};
