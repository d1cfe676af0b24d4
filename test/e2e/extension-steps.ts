import { cpSync, mkdirSync, writeFileSync } from 'node:fs';
import { createSocket } from 'node:dgram';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { FrameLocator, Page } from 'playwright-core';
import { expect } from 'vitest';
import { until } from '../support/until.ts';

const SAMPLE = fileURLToPath(new URL('../../resources/samples/extensions/restarts', import.meta.url));
const FRAME = 'iframe[title]';

const extensionFrame = (page: Page): FrameLocator => page.frameLocator(FRAME);
const go = (page: Page, path: string): Promise<unknown> =>
  page.evaluate((to) => (window.location.hash = to), path);
const allow = (page: Page): Promise<void> =>
  page.getByRole('button', { name: 'Allow this extension', exact: true }).click();

/**
 * The sample: reviewed, allowed, shown in the navigation, reading pods, and asked about again after a change. A pod that it lists
 * (`pod`, where there is one) is opened by a click.
 */
export const useSampleExtension = async (page: Page, dataDirectory: string, pod?: string): Promise<void> => {
  const folder = join(dataDirectory, 'extensions', 'restarts');
  cpSync(SAMPLE, folder, { recursive: true });
  await go(page, '/extensions');
  const reload = page.getByRole('button', { name: 'Reload', exact: true });
  await reload.click();
  await page.getByRole('link', { name: 'Review', exact: true }).click();
  await page.getByRole('heading', { name: 'Allow Restarts?' }).waitFor();
  await page.getByRole('definition').getByText('pods', { exact: true }).waitFor();
  expect(await page.locator(FRAME).count()).toBe(0);
  await allow(page);
  await extensionFrame(page)
    .getByText(/containers, \d+ restarts$/)
    .waitFor();
  await page.getByRole('navigation').getByRole('link', { name: 'Restarts', exact: true }).waitFor();

  if (pod !== undefined) {
    await extensionFrame(page)
      .getByRole('button', { name: `default/${pod}`, exact: true })
      .first()
      .click();
    await page.getByRole('complementary').getByRole('heading', { name: pod, exact: true }).waitFor();
    await go(page, '/extensions?name=restarts');
    await reload.waitFor();
  }
  writeFileSync(join(folder, 'page.js'), 'document.body.append("another script");');
  await reload.click();
  await page.getByRole('heading', { name: 'Restarts has changed. Allow it again?' }).waitFor();
  expect(await page.locator(FRAME).count()).toBe(0);
  await go(page, '/extensions');
  await page.getByRole('button', { name: 'Revoke the permission of Restarts' }).click();
  await page.getByText('Not allowed', { exact: true }).waitFor();
};

interface Canary {
  readonly port: number;
  readonly heard: string[];
  close(): Promise<void>;
}

/** A machine that an extension would like to tell something: whatever it is told is kept. */
const openCanary = async (): Promise<Canary> => {
  const heard: string[] = [];
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    // A hint opens a connection, which no policy of a page covers, and says nothing on it.
    socket.on('data', (data) => heard.push(data.toString('latin1', 0, 200)));
    sockets.add(socket);
    socket.on('error', () => undefined).on('close', () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const udp = createSocket('udp4');
  udp.on('message', () => heard.push('a packet'));
  await new Promise<void>((resolve) => udp.bind(port, '127.0.0.1', resolve));
  return {
    port,
    heard,
    async close() {
      for (const socket of sockets) socket.destroy();
      udp.close();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
};

/** Everything that a page could do to get out, each reported as `refused` or as what it got. */
const ESCAPES = `
const away = 'http://127.0.0.1:PORT/';
const refusedWith = (work) => Promise.resolve().then(work).then((value) => 'got ' + String(value), () => 'refused');
const element = (name, attributes) => new Promise((resolve, reject) => {
  const made = Object.assign(document.createElement(name), attributes);
  made.addEventListener('load', () => resolve(name));
  made.addEventListener('error', reject);
  document.body.append(made);
});
const attempts = {
  fetch: () => fetch(away),
  fetchConsole: () => fetch(new URL('/index.html', document.baseURI)),
  image: () => element('img', { src: away + 'x.png' }),
  script: () => element('script', { src: away + 'x.js' }),
  inline: () => {
    element('script', { textContent: 'globalThis.ranInline = true' }).catch(() => undefined);
    if (!globalThis.ranInline) throw new Error('it did not run');
  },
  handler: () => {
    document.body.insertAdjacentHTML('beforeend', '<button id="h" onclick="globalThis.ranHandler = true">');
    document.getElementById('h').click();
    if (!globalThis.ranHandler) throw new Error('it did not run');
  },
  style: () => element('link', { rel: 'stylesheet', href: away + 'x.css' }),
  socket: () => new Promise((resolve, reject) => {
    const socket = new WebSocket(away.replace('http', 'ws'));
    socket.onopen = resolve;
    socket.onerror = reject;
  }),
  beacon: () => { if (!navigator.sendBeacon(away, 'x')) throw new Error('not sent'); return new Promise((_, reject) => setTimeout(reject, 500)); },
  evaluate: () => (0, eval)('1'),
  worker: () => new Promise((resolve, reject) => {
    const worker = new Worker(URL.createObjectURL(new Blob(['postMessage(1)'])));
    worker.onmessage = resolve;
    worker.onerror = reject;
  }),
  storage: () => localStorage.setItem('a', 'b'),
  cookie: () => { document.cookie = 'a=b'; if (!document.cookie) throw new Error('none'); },
  database: () => new Promise((resolve, reject) => {
    const asked = indexedDB.open('a');
    asked.onsuccess = resolve;
    asked.onerror = reject;
  }),
  parentPage: () => parent.document.title,
  bridge: () => parent.pilothouse.send({ kind: 'hello' }),
  ownBridge: () => { if (globalThis.pilothouse.send === undefined) throw new Error('none'); },
  window: () => { if (!open(away)) throw new Error('none'); },
  top: () => { top.location.href = away; },
  form: () => {
    const form = Object.assign(document.createElement('form'), { action: away, method: 'POST' });
    document.body.append(form);
    form.submit();
    return new Promise((_, reject) => setTimeout(reject, 300));
  },
  frame: () => new Promise((resolve, reject) => {
    const made = Object.assign(document.createElement('iframe'), { src: away });
    document.body.append(made);
    document.addEventListener('securitypolicyviolation', reject, { once: true });
    setTimeout(resolve, 3000);
  }),
  peer: async () => {
    const peer = new RTCPeerConnection({ iceServers: [{ urls: 'stun:127.0.0.1:PORT' }] });
    peer.createDataChannel('a');
    await peer.setLocalDescription(await peer.createOffer());
    await new Promise((_, reject) => setTimeout(reject, 1500));
  },
  hint: () => {
    for (const rel of ['dns-prefetch', 'preconnect', 'prefetch', 'prerender', 'modulepreload'])
      document.head.append(Object.assign(document.createElement('link'), { rel, href: away }));
    return new Promise((_, reject) => setTimeout(reject, 1000));
  },
  within: () => new Promise((resolve, reject) => {
    const made = document.createElement('iframe');
    document.body.append(made);
    try { new made.contentWindow.RTCPeerConnection(); resolve(); } catch (error) { reject(error); }
  }),
  again: () => new Promise((resolve, reject) => {
    addEventListener('message', ({ data }) => { if (data.peer !== undefined) (data.peer ? resolve : reject)(); });
    const text = [...document.scripts].at(-1).textContent;
    document.body.append(Object.assign(document.createElement('iframe'), { srcdoc: '<pre id="told"></pre><script>' + text + '<' + '/script>' }));
    setTimeout(reject, 1000);
  }),
  undeclared: () => pilothouse.list('configmaps'),
  secrets: () => pilothouse.list('secrets'),
  subresource: () => pilothouse.get('pods/log', 'a', 'default'),
  traversal: () => pilothouse.get('namespaces', '../secrets'),
  smuggled: () => pilothouse.list('namespaces', { kind: 'delete', method: 'DELETE', path: '/api/v1/secrets' }).then(() => { throw new Error('a list'); }),
  unasked: () => pilothouse.open('namespaces', 'default'),
};
if (parent !== top) parent.postMessage({ peer: typeof RTCPeerConnection === 'function' }, '*');
const told = document.getElementById('told');
const run = async () => {
  const { items } = await pilothouse.list('namespaces');
  const results = { declared: items.some(({ metadata }) => metadata.name === 'default') };
  for (const [name, work] of Object.entries(attempts)) results[name] = await refusedWith(work);
  told.textContent = JSON.stringify(results);
};
run().catch((error) => { told.textContent = 'failed: ' + error.message; });
document.getElementById('flood').addEventListener('click', () => { for (let at = 0; at < 5000; at += 1) pilothouse.list('namespaces').catch(() => undefined); });
document.getElementById('leave').addEventListener('click', () => { location.href = away; });
document.getElementById('home').addEventListener('click', () => { location.href = new URL('/index.html', document.baseURI).href; });
document.getElementById('hang').addEventListener('click', () => { for (;;); });
`;

const installHostile = (dataDirectory: string, port: number): void => {
  const folder = join(dataDirectory, 'extensions', 'hostile');
  mkdirSync(folder, { recursive: true });
  const manifest = { apiVersion: 'pilothouse.dev/v1', title: 'Hostile', read: ['namespaces'] };
  writeFileSync(join(folder, 'extension.json'), JSON.stringify(manifest));
  const buttons = ['flood', 'leave', 'home', 'hang'].map((id) => `<button id="${id}">${id}</button>`);
  writeFileSync(join(folder, 'page.html'), `<pre id="told"></pre>${buttons.join('')}`);
  writeFileSync(join(folder, 'page.js'), ESCAPES.replaceAll('PORT', String(port)));
};

/** An extension that tries everything gets nothing but what it declared, reaches no one, and holds up only its own page. */
export const confineHostileExtension = async (page: Page, dataDirectory: string): Promise<void> => {
  const canary = await openCanary();
  try {
    installHostile(dataDirectory, canary.port);
    await go(page, '/extensions?name=hostile');
    await page.getByRole('button', { name: 'Reload', exact: true }).click();
    await allow(page);
    const told = extensionFrame(page).locator('#told');
    const text = await until('its report', async () => {
      if ((await page.getByText('Hostile was stopped').count()) > 0)
        throw new Error(await page.locator('main').innerText());
      return (await told.textContent()) || undefined;
    });
    const { declared, ...results } = JSON.parse(text) as Record<string, unknown>;
    expect(declared).toBe(true);
    expect(Object.keys(results).length).toBeGreaterThan(25);
    expect(Object.entries(results).filter(([, result]) => result !== 'refused')).toEqual([]);

    // Its frame may be gone, or never answer, before the click is over: what is waited for is what the console says.
    const press = (id: string): void =>
      void extensionFrame(page)
        .locator(`#${id}`)
        .click()
        .catch(() => undefined);
    const restart = page.getByRole('button', { name: 'Restart', exact: true });
    for (const [id, why] of [
      ['flood', 'It sent more messages than the console accepts.'],
      ['leave', 'It tried to show another page in its place.'],
      ['home', 'It tried to show another page in its place.'],
    ] as const) {
      press(id);
      await page.getByText(why).waitFor();
      await restart.click();
      await extensionFrame(page).locator('#flood').waitFor();
    }
    // A loop without end: the click never returns, and the console's own page does not notice.
    press('hang');
    await page.getByText('Hostile is not responding.').waitFor();
    await page.getByRole('navigation').getByRole('link', { name: 'Settings', exact: true }).click();
    await page.getByRole('heading', { name: 'Settings', exact: true }).waitFor();
    expect(canary.heard).toEqual([]);
  } finally {
    await canary.close();
  }
};
