import { once } from 'node:events';
import { WebSocket } from 'ws';

interface Target {
  readonly type: string;
  readonly url: string;
  readonly webSocketDebuggerUrl: string;
}

const ANSWER_LIMIT_MS = 30_000;

/** The pages of an app that was started with `--remote-debugging-port=0`, from the address it printed. */
const pagesAt = async (address: string): Promise<Target[]> => {
  const answer = await fetch(`http://${new URL(address).host}/json/list`, {
    signal: AbortSignal.timeout(ANSWER_LIMIT_MS),
  });
  return ((await answer.json()) as Target[]).filter(({ type }) => type === 'page');
};

/** One DevTools command to the first page, on a connection of its own: nothing stays attached to the page. */
export const commandPage = async (
  address: string,
  method: string,
  params: Record<string, unknown> = {},
): Promise<Record<string, unknown>> => {
  const [page] = await pagesAt(address);
  if (!page) throw new Error('the app shows no page');
  const socket = new WebSocket(page.webSocketDebuggerUrl, { handshakeTimeout: ANSWER_LIMIT_MS });
  const late = setTimeout(() => socket.terminate(), ANSWER_LIMIT_MS);
  try {
    await once(socket, 'open');
    socket.send(JSON.stringify({ id: 1, method, params }));
    return await new Promise((resolve, reject) => {
      socket.on('message', (data) => {
        const { id, result } = JSON.parse(String(data)) as { id?: number; result?: Record<string, unknown> };
        if (id === 1) resolve(result ?? {});
      });
      socket.once('close', () => reject(new Error(`no answer to ${method}`)));
    });
  } finally {
    clearTimeout(late);
    socket.terminate();
  }
};

/** The value of an expression in the page. */
export const evaluateInPage = async (address: string, expression: string): Promise<unknown> => {
  const { result } = await commandPage(address, 'Runtime.evaluate', {
    expression,
    awaitPromise: true,
    returnByValue: true,
  });
  return (result as { value?: unknown } | undefined)?.value;
};

export const pageText = async (address: string): Promise<string> =>
  String((await evaluateInPage(address, 'document.body.innerText')) ?? '');

export const screenshotOf = async (address: string): Promise<Buffer> =>
  Buffer.from(
    String((await commandPage(address, 'Page.captureScreenshot', { format: 'png' }))['data']),
    'base64',
  );
