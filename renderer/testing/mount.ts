import { createPinia } from 'pinia';
import { TooltipProvider } from 'reka-ui';
import { createApp, defineComponent, h, nextTick, shallowRef, type App, type Component } from 'vue';
import { createMemoryHistory, type Router } from 'vue-router';
import { fakeHost } from '../../core/contract/fake.ts';
import { type Client, ContractError, type Handlers, verbatim } from '../../core/contract/index.ts';
import { createConsoleRouter } from '../app/router.ts';
import { connectionKey, type Connection, type ConnectionState } from '../bridge/connection.ts';

export interface TestConnection extends Connection {
  /** The wire is gone; `join` brings a new one to the same handlers. */
  lose(): void;
  join(): void;
  /** Streams the host serves now. */
  readonly openStreamCount: number;
}

/** A connection to a host in the same process. */
export const testConnection = (
  handlers: Handlers,
  shell: Connection['shell'] = 'browser',
  joins: 'now' | 'later' = 'now',
): TestConnection => {
  const state = shallowRef<ConnectionState>({ phase: 'connecting' });
  const client = shallowRef<Client>();
  let fake: ReturnType<typeof fakeHost> | undefined;
  const connection: TestConnection = {
    shell,
    state,
    client,
    call: (name, input) =>
      client.value?.call(name, input) ??
      Promise.reject(new ContractError('Unavailable', verbatim('not connected'))),
    retryNow: () => connection.join(),
    get openStreamCount() {
      return fake?.host.openStreamCount ?? 0;
    },
    join() {
      fake = fakeHost(handlers);
      state.value = { phase: 'live', sinceMs: Date.now() };
      client.value = fake.client;
    },
    lose() {
      client.value = undefined;
      state.value = { phase: 'lost', sinceMs: Date.now(), why: 'test', attempt: 0 };
      fake?.close();
    },
    dispose: () => fake?.close(),
  };
  if (joins === 'now') connection.join();
  return connection;
};

export interface Mounted {
  readonly root: HTMLElement;
  readonly app: App;
  readonly router: Router;
  unmount(): void;
}

/** Mounts a component as the app would: with pinia, routes, tooltips and a connection. */
export const mount = async (component: Component, connection: Connection): Promise<Mounted> => {
  const root = document.createElement('div');
  document.body.append(root);
  const app = createApp(() => h(TooltipProvider, { delayDuration: 0 }, () => h(component)));
  const router = createConsoleRouter(createMemoryHistory());
  app.provide(connectionKey, connection);
  app.use(createPinia());
  app.use(router);
  await router.push('/clusters');
  app.mount(root);
  await settle();
  return {
    root,
    app,
    router,
    unmount() {
      app.unmount();
      root.remove();
      connection.dispose();
    },
  };
};

/** Runs a function where stores and injections work, for as long as the mounted app lives. */
export const inApp = async <T>(
  setup: () => T,
  connection: Connection,
): Promise<Mounted & { readonly value: T }> => {
  let value: T | undefined;
  const mounted = await mount(
    defineComponent({
      setup() {
        value = setup();
        return () => null;
      },
    }),
    connection,
  );
  return { ...mounted, value: value as T };
};

/** Lets the in-process host answer and the page follow: a bounded number of turns, no waiting. */
export const settle = async (): Promise<void> => {
  for (let turn = 0; turn < 30; turn += 1) await Promise.resolve();
  await nextTick();
  for (let turn = 0; turn < 10; turn += 1) await Promise.resolve();
  await nextTick();
};

/** A stream of the contract that a test feeds by hand. */
export const feed = <T>(first?: T) => {
  const listeners = new Set<(item: T) => void>();
  let latest = first;
  const handler = async function* (_input: undefined, signal: AbortSignal): AsyncGenerator<readonly T[]> {
    const queue: T[] = latest === undefined ? [] : [latest];
    let wake = (): void => undefined;
    const onItem = (item: T): void => {
      queue.push(item);
      wake();
    };
    listeners.add(onItem);
    signal.addEventListener('abort', () => wake());
    while (!signal.aborted) {
      if (queue.length > 0) yield queue.splice(0);
      else await new Promise<void>((resolve) => (wake = resolve));
    }
    listeners.delete(onItem);
  };
  return {
    handler,
    push(item: T) {
      latest = item;
      for (const listener of listeners) listener(item);
    },
  };
};

/** Types as a person does: the field that is there now, all of it at the same time. */
export const fill = async (field: HTMLInputElement | HTMLTextAreaElement, text: string): Promise<void> => {
  field.value = text;
  field.dispatchEvent(new Event('input'));
  await settle();
};

export const click = async (root: ParentNode, text: string): Promise<void> => {
  const found = [...root.querySelectorAll<HTMLElement>('button, a, [role="option"]')].find(
    (element) => element.textContent?.trim() === text || element.getAttribute('aria-label') === text,
  );
  if (!found) throw new Error(`nothing to click reads "${text}" in:\n${root.textContent ?? ''}`);
  found.click();
  await settle();
};
