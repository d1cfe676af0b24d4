import type { App, Session, WebContents, WebFrameMain } from 'electron';
import type { Log } from '../../core/base/log.ts';
import { extensionOfPath } from '../../core/contract/index.ts';
import { isConsoleUrl } from '../ipc/console-address.ts';

const URL_CHARACTERS_LOGGED_MAX = 200;

const loggable = (url: string): string => url.slice(0, URL_CHARACTERS_LOGGED_MAX);

interface FrameNavigation {
  readonly url: string;
  readonly isMainFrame: boolean;
  readonly frame: WebFrameMain | null;
  readonly initiator?: WebFrameMain | null;
}

/** The console shows an extension in a frame of its own page; the frame leads nowhere else, and to no other extension. */
const isExtensionFrame = ({ url, isMainFrame, initiator, frame }: FrameNavigation): boolean =>
  !isMainFrame &&
  isConsoleUrl(url) &&
  extensionOfPath(new URL(url).pathname) !== undefined &&
  frame?.parent?.parent === null &&
  initiator?.frameTreeNodeId === frame.parent.frameTreeNodeId;

/** A page may load itself again; everything else that leads away from it is refused. */
const isReload = (contents: WebContents, url: string): boolean =>
  isConsoleUrl(url) && url === contents.getURL();

const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/;

/** What a forwarded port is reached by: plain http on this machine, as which the console shows it. */
export const isForwardedUrl = (text: string): boolean => {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  return (
    url !== undefined &&
    url.protocol === 'http:' &&
    LOOPBACK.test(url.hostname) &&
    url.username === '' &&
    url.password === ''
  );
};

/** Opens an address in the browser of the system. */
export type OpenOutside = (url: string) => Promise<void>;

const guardContents = (contents: WebContents, log: Log, openOutside: OpenOutside): void => {
  const refuse = (what: string) => (details: { url: string; preventDefault(): void }) => {
    if (isReload(contents, details.url)) return;
    details.preventDefault();
    log.write('warn', 'navigation refused', { what, url: loggable(details.url) });
  };
  contents.on('will-navigate', refuse('navigate'));
  contents.on('will-redirect', refuse('redirect'));
  const refuseFrame = refuse('frame');
  contents.on('will-frame-navigate', (details) => {
    if (!isExtensionFrame(details)) refuseFrame(details);
  });
  contents.setWebRTCIPHandlingPolicy('disable_non_proxied_udp');
  contents.on('will-attach-webview', (event) => {
    event.preventDefault();
    log.write('warn', 'webview refused');
  });
  contents.setWindowOpenHandler(({ url }) => {
    if (isForwardedUrl(url))
      openOutside(url).catch((error: unknown) =>
        log.write('warn', 'a forwarded port could not be opened', { url: loggable(url), error }),
      );
    else log.write('warn', 'window refused', { url: loggable(url) });
    return { action: 'deny' };
  });
};

/** Holds for every page the app will ever have, no matter who makes it. */
export const guardNavigation = (app: App, log: Log, openOutside: OpenOutside): void => {
  app.on('web-contents-created', (_event, contents) => guardContents(contents, log, openOutside));
  // A console page talks to no one: a certificate problem or a password prompt is never ours to answer.
  app.on('certificate-error', (event, _contents, _url, _error, _certificate, answer) => {
    event.preventDefault();
    answer(false);
  });
  app.on('login', (event, _contents, _details, _info, answer) => {
    event.preventDefault();
    answer();
  });
};

/** Copying text, which a page may do only while a person presses its button. */
const GRANTED = 'clipboard-sanitized-write';

/** No camera, location, clipboard reading, device or notification from a page: the app itself has what it needs. */
export const refusePermissions = (session: Session, log: Log): void => {
  session.setPermissionRequestHandler((_contents, permission, answer, { requestingUrl, isMainFrame }) => {
    const granted = permission === GRANTED && isMainFrame && isConsoleUrl(requestingUrl);
    if (!granted) log.write('warn', 'permission refused', { permission });
    answer(granted);
  });
  session.setPermissionCheckHandler(
    (_contents, permission, origin) => permission === GRANTED && isConsoleUrl(origin),
  );
  session.setDevicePermissionHandler(() => false);
  session.setBluetoothPairingHandler((_details, answer) => answer({ confirmed: false }));
  session.setDisplayMediaRequestHandler((_request, answer) => answer({}));
  session.on('will-download', (event, item) => {
    // What the console itself has made (a manifest, a log): the system asks where it goes.
    const url = item.getURL();
    if (url.startsWith('blob:') && isConsoleUrl(url.slice('blob:'.length))) return;
    event.preventDefault();
    log.write('warn', 'download refused', { url: loggable(item.getURL()) });
  });
};

/** Port 9 discards; nothing listens there, and nothing is resolved to find that out. */
const NOWHERE = 'http://127.0.0.1:9';

/**
 * The pages of the app come by its own scheme, and what it asks of clusters its main process sends. So the network of Chromium
 * leads nowhere, also where no policy of a page reaches: hints to connect, names to resolve, WebRTC.
 */
export const keepOffline = async (session: Session): Promise<void> =>
  session.setProxy({ mode: 'fixed_servers', proxyRules: NOWHERE, proxyBypassRules: '<-loopback>' });
