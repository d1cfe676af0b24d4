import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { askRaw, callFromPage } from '../support/contract-page.ts';
import { launchDesktop, openDesk, ROOT, type Desk, type Desktop } from '../support/electron.ts';

let desk: Desk;
let desktop: Desktop;

beforeAll(async () => {
  desk = await openDesk();
  desktop = await launchDesktop(desk);
  await desktop.page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
});
afterAll(async () => {
  await desktop?.close();
  await desk?.close();
});

const CONSOLE = 'pilothouse-app://console/#/';

test('a page has no Node, no require and no Electron', async () => {
  expect(
    await desktop.page.evaluate(() => {
      const global = globalThis as Record<string, unknown>;
      return ['require', 'process', 'Buffer', 'module', 'global', 'electron', 'ipcRenderer'].filter(
        (name) => global[name] !== undefined,
      );
    }),
  ).toEqual([]);
});

test('every window is sandboxed, isolated and without Node', async () => {
  const preferences = await desktop.app.evaluate(({ BrowserWindow }) =>
    BrowserWindow.getAllWindows().map((window) =>
      (
        window.webContents as unknown as { getLastWebPreferences(): Record<string, unknown> }
      ).getLastWebPreferences(),
    ),
  );
  expect(preferences).toHaveLength(1);
  expect(preferences[0]).toMatchObject({
    sandbox: true,
    contextIsolation: true,
    nodeIntegration: false,
    nodeIntegrationInSubFrames: false,
    webSecurity: true,
    webviewTag: false,
    allowRunningInsecureContent: false,
  });
});

test('the bridge offers three things and cannot be changed by the page', async () => {
  expect(
    await desktop.page.evaluate(() => {
      const bridge = window.pilothouse as unknown as Record<string, unknown>;
      const send = bridge['send'];
      try {
        bridge['send'] = () => 'replaced';
      } catch {
        // strict mode throws, sloppy mode ignores: either way the next line decides
      }
      return { keys: Object.keys(bridge).sort(), replaced: bridge['send'] !== send };
    }),
  ).toEqual({ keys: ['listen', 'platform', 'send'], replaced: false });
});

test('the policy has no unsafe word and names no host', async () => {
  const policy = await desktop.page.evaluate(
    async () => (await fetch('/index.html')).headers.get('Content-Security-Policy') ?? '',
  );
  expect(policy).toMatch(/script-src 'self'; style-src 'self'/);
  expect(policy).not.toMatch(/unsafe|\*|https?:/);
});

test('a script written into the page does not run, in whatever way it is written', async () => {
  const ran = await desktop.page.evaluate(async () => {
    const global = globalThis as unknown as { ran: string[] };
    global.ran = [];
    const button = document.createElement('button');
    const inline = document.createElement('script');
    document.body.append(button);
    const ways: (() => unknown)[] = [
      () => inline.append('ran.push("inline")'),
      () => document.head.append(inline),
      () => button.setAttribute('onclick', 'ran.push("handler")'),
      () => button.click(),
      () => setTimeout('ran.push("timer")' as unknown as () => void, 0),
      () => (button.innerHTML = '<img src="x" onerror="ran.push(\'markup\')">'),
      () => new Worker('data:text/javascript,postMessage(1)'),
      () => (window.location.href = 'javascript:ran.push("address")'),
    ];
    for (const way of ways)
      try {
        way();
      } catch (error) {
        if (!(error instanceof TypeError || error instanceof DOMException)) throw error;
      }
    await new Promise((resolve) => setTimeout(resolve, 100));
    button.remove();
    inline.remove();
    return global.ran;
  });
  expect(ran).toEqual([]);
});

test('a script of the page cannot eval', async () => {
  // Not by the driver, whose code is exempt from the policy: as a task of the page, with nothing of the app's below it.
  const said = await desktop.app.evaluate(
    ({ BrowserWindow }) =>
      BrowserWindow.getAllWindows()[0]!.webContents.executeJavaScript(
        `new Promise((tell) => setTimeout(() => {
          try { eval('1'); tell('ran'); } catch (error) { tell(error.name); }
        }))`,
      ) as Promise<string>,
  );
  expect(said).toBe('EvalError');
});

test('files of the machine cannot be loaded', async () => {
  writeFileSync(join(desk.home, 'secret.txt'), 'secret');
  const address = `file://${join(desk.home, 'secret.txt')}`;
  expect(
    await desktop.page.evaluate(async (url) => {
      const fetched = await fetch(url).then(
        () => 'loaded',
        () => 'refused',
      );
      const image = await new Promise<string>((resolve) => {
        const element = new Image();
        element.onload = () => resolve('loaded');
        element.onerror = () => resolve('refused');
        element.src = url;
      });
      const above = await fetch('/..%2f..%2fpackage.json').then((response) => response.status);
      const unknown = await fetch('/no-such.js').then((response) => response.status);
      const posted = await fetch('/', { method: 'POST', body: 'x' }).then((response) => response.status);
      return { fetched, image, above, unknown, posted };
    }, address),
  ).toEqual({ fetched: 'refused', image: 'refused', above: 404, unknown: 404, posted: 405 });
});

test('a page opens no window, not even an empty one', async () => {
  expect(
    await desktop.page.evaluate(() => [
      window.open('https://example.com/'),
      window.open('about:blank'),
      window.open('pilothouse-app://console/'),
    ]),
  ).toEqual([null, null, null]);
  expect(await desktop.hook((hook) => hook.windowCount)).toBe(1);
});

test('permissions are refused, except to copy text', async () => {
  expect(
    await desktop.page.evaluate(async () => {
      const names = ['geolocation', 'notifications', 'camera', 'microphone', 'clipboard-read', 'midi'];
      const states = await Promise.all(
        names.map((name) =>
          navigator.permissions.query({ name: name as PermissionName }).then(({ state }) => state),
        ),
      );
      const media = await navigator.mediaDevices.getUserMedia({ audio: true }).then(
        () => 'granted',
        () => 'refused',
      );
      const location = await new Promise((resolve) =>
        navigator.geolocation.getCurrentPosition(
          () => resolve('granted'),
          (error) => resolve(error.code),
        ),
      );
      const notice = await Notification.requestPermission();
      const copied = await navigator.clipboard.writeText('text').then(
        () => 'copied',
        (error) => String(error),
      );
      return { states: [...new Set(states)], media, location, notice, copied };
    }),
  ).toEqual({ states: ['denied'], media: 'refused', location: 1, notice: 'denied', copied: 'copied' });
});

test('a webview does not attach', async () => {
  const attached = await desktop.page.evaluate(async () => {
    const view = document.createElement('webview');
    view.setAttribute('src', 'https://example.com/');
    document.body.append(view);
    await new Promise((resolve) => setTimeout(resolve, 200));
    const methods = typeof (view as unknown as { getWebContentsId?: unknown }).getWebContentsId;
    view.remove();
    return methods;
  });
  const contents = await desktop.app.evaluate(({ webContents }) => webContents.getAllWebContents().length);
  expect([attached, contents]).toEqual(['undefined', 1]);
});

test('messages outside the contract do not leave the page', async () => {
  const send = (message: unknown) =>
    desktop.page.evaluate((sent) => {
      try {
        window.pilothouse!.send(sent);
        return 'sent';
      } catch (error) {
        return String(error);
      }
    }, message);
  expect([
    await send({ kind: 'call', id: 9_000_001, name: 'shell.openPath', input: '/' }),
    await send({ kind: 'shutdown' }),
    await send('hello'),
  ]).toEqual([
    expect.stringContaining('not a message of the contract: there is no such call'),
    expect.stringContaining('not a message of the contract: its kind is unknown'),
    expect.stringContaining('not a message of the contract: it is no object'),
  ]);
});

/** Made in the page, because the driver takes seconds to carry megabytes there. */
const tooLarge = (): Promise<unknown> =>
  desktop.page.evaluate(
    () =>
      new Promise((resolve) => {
        const id = 9_000_000;
        const stop = window.pilothouse!.listen((answer) => {
          if ((answer as { id?: number }).id !== id) return;
          stop();
          resolve(answer);
        });
        const input = { id: 'x'.repeat(9 * 1024 * 1024) };
        window.pilothouse!.send({ kind: 'call', id, name: 'clusters.forget', input });
      }),
  );

test('a bad input is answered with a reason', async () => {
  expect([
    await callFromPage(desktop.page, 'app.openExternal', { url: 'file:///etc/passwd' }),
    await callFromPage(desktop.page, 'settings.write', { theme: 'plaid' }),
    await tooLarge(),
    await askRaw(desktop.page, { kind: 'open', name: 'settings.watch', input: { extra: 1 } }),
  ]).toMatchObject([
    { kind: 'failure', failure: { reason: 'BadRequest' } },
    { kind: 'failure', failure: { reason: 'BadRequest' } },
    { kind: 'failure', failure: { reason: 'BadRequest', message: expect.stringContaining('larger than') } },
    { kind: 'end', failure: { reason: 'BadRequest' } },
  ]);
});

test('a message that went around the preload is refused with a reason by the app', async () => {
  const answer = await desktop.app.evaluate(
    ({ BrowserWindow, ipcMain }) =>
      new Promise((resolve) => {
        const sender = BrowserWindow.getAllWindows()[0]!.webContents;
        const frame = {
          parent: null,
          url: sender.mainFrame.url,
          origin: sender.mainFrame.origin,
          detached: false,
          isDestroyed: () => false,
          send: (_channel: string, message: unknown) => resolve(message),
        };
        const event = { sender: { id: sender.id }, senderFrame: frame };
        ipcMain.emit('contract:client', event, {
          kind: 'call',
          id: 9_000_002,
          name: 7,
          input: { x: 'y'.repeat(9e6) },
        });
      }),
  );
  expect(answer).toMatchObject({ kind: 'failure', id: 9_000_002, failure: { reason: 'BadRequest' } });
});

test('a subframe is not heard', async () => {
  const before = await desktop.hook((hook) => hook.refusedCount);
  await desktop.page.evaluate(() => document.body.append(document.createElement('iframe')));
  await desktop.app.evaluate(({ BrowserWindow, ipcMain }) => {
    const sender = BrowserWindow.getAllWindows()[0]!.webContents;
    const senderFrame = sender.mainFrame.frames[0];
    if (!senderFrame) throw new Error('the page has no subframe');
    ipcMain.emit('contract:client', { sender, senderFrame }, { kind: 'hello' });
  });
  await desktop.page.evaluate(() => document.querySelector('iframe')?.remove());
  expect(await desktop.hook((hook) => hook.refusedCount)).toBe(before + 1);
  expect(desktop.log()).toContain('it comes from a subframe');
});

test('a foreign window with the same preload is not heard', async () => {
  const before = await desktop.hook((hook) => hook.refusedCount);
  await desktop.app.evaluate(
    async ({ BrowserWindow }, preload) => {
      const window = new BrowserWindow({ show: false, webPreferences: { preload, sandbox: true } });
      await window.loadURL('data:text/html,<title>foreign</title>');
      await window.webContents.executeJavaScript(
        'window.pilothouse.send({ kind: "call", id: 1, name: "settings.read", input: undefined })',
      );
      window.destroy();
    },
    join(ROOT, 'dist/preload/preload.cjs'),
  );
  // Its preload says hello (once a document, the empty first one may count), then its page asks.
  await expect.poll(() => desktop.hook((hook) => hook.refusedCount)).toBeGreaterThanOrEqual(before + 2);
  expect(desktop.log()).toContain('it comes from a window that is not ours');
});

// Last: the driver takes a refused navigation for one that never ends, and then finds no element any more.
test.each([
  'https://example.com/',
  'file:///etc/passwd',
  'data:text/html,hello',
  'pilothouse-app://console/assets/',
])('navigating to %s is refused', async (url) => {
  await desktop.page.evaluate((target) => {
    const link = document.createElement('a');
    link.href = target;
    document.body.append(link);
    link.click();
    link.remove();
  }, url);
  await desktop.page.evaluate((target) => void (window.location.href = target), url);
  await desktop.page.waitForTimeout(150);
  expect(desktop.page.url()).toBe(CONSOLE);
});
