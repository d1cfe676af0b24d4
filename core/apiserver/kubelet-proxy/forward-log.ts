import type { IncomingMessage } from 'node:http';
import { badRequest, internalError, statusErrorFrom, StatusError } from '../../api/meta/index.ts';
import type { RequestContext } from '../server/context.ts';
import { isWebSocketRequest, offeredProtocols, openWebSocket } from '../server/web-socket.ts';
import { dialErrorText } from './dial-error.ts';
import { ask, copyBody, type Backend } from './forward.ts';

/** Of a kubelet's complaint no more than this is read, as upstream. */
const COMPLAINT_BYTES_MAX = 50_000;
const NO_CONTENT = 204;
const PARTIAL_CONTENT = 206;

const GENERIC_WORDS: Readonly<Record<number, string>> = {
  401: 'the server has asked for the client to provide credentials',
  403: 'access to the requested resource is forbidden',
  404: 'the server could not find the requested resource',
  405: 'the server does not allow this method on the requested resource',
  503: 'the server is currently unable to handle the request',
  504: 'the server was unable to return a response in the time allotted, but may still be processing the request',
};

/** What the caller is told of a kubelet's answer that is no log. */
const complaintOf = (code: number, text: string, name: string): StatusError => {
  if (code === 500) return internalError(text);
  if (code === 400) return badRequest(text);
  const said =
    GENERIC_WORDS[code] ??
    `the server responded with the status code ${code} but did not return more information`;
  const { reason } = statusErrorFrom({}, code);
  // The blank is where upstream would name the verb, which it does not know here.
  return new StatusError(reason, `${said} ( pods/log ${name})`, {
    code,
    details: { kind: 'pods/log', name },
  });
};

/** A pod that is on no node has written nothing yet. */
export const answerEmptyLog = async ({ response }: RequestContext): Promise<void> => {
  response.begin(NO_CONTENT);
  await response.end();
};

/** Subprotocols of a stream of bytes, and how their frames are written. */
const FRAME_FORMS: Readonly<Record<string, 'binary' | 'base64'>> = {
  'binary.k8s.io': 'binary',
  'base64.binary.k8s.io': 'base64',
};

/** A log as frames of a WebSocket, after an empty one that says that it begins. */
const sendFrames = async (context: RequestContext, answer: IncomingMessage): Promise<void> => {
  const offered = offeredProtocols(context);
  const chosen = offered.find((name) => Object.hasOwn(FRAME_FORMS, name));
  if (offered.length > 0 && chosen === undefined) {
    answer.destroy();
    throw new StatusError('Forbidden', `no supported subprotocol among ${offered.join(', ')}`, { code: 403 });
  }
  const frames = await openWebSocket(context, () => chosen ?? false);
  if (frames === undefined) {
    answer.destroy();
    throw badRequest('Upgrade request required');
  }
  void frames.closed.then(() => answer.destroy());
  const isBase64 = FRAME_FORMS[chosen ?? ''] === 'base64';
  const send = (bytes: Buffer): Promise<void> =>
    isBase64 ? frames.send(bytes.toString('base64'), 'text') : frames.send(bytes, 'binary');
  try {
    await send(Buffer.alloc(0));
    for await (const chunk of answer) await send(chunk as Buffer);
  } catch (error) {
    // The client is gone, or the kubelet: a connection that ends is all that can be said now.
    if (!answer.destroyed) throw error;
  } finally {
    answer.destroy();
  }
  await frames.end();
};

/** Asks the kubelet for a log and passes it on as it is written. */
export const forwardLog = async (
  context: RequestContext,
  backend: Backend,
  podName: string,
): Promise<void> => {
  const { host, port, path } = backend;
  const answer = await ask(context, backend, { headers: {} }).catch((error: unknown) => {
    const text = `Get "https://${host}:${port}${path}": ${dialErrorText(backend, error)}`;
    throw new StatusError('', text, { code: 500, cause: error });
  });
  const code = answer.statusCode ?? 500;
  if (code < 200 || code > PARTIAL_CONTENT) {
    const chunks: Buffer[] = [];
    let bytes = 0;
    for await (const chunk of answer) {
      chunks.push(chunk as Buffer);
      bytes += (chunk as Buffer).byteLength;
      if (bytes >= COMPLAINT_BYTES_MAX) break;
    }
    answer.destroy();
    const text = Buffer.concat(chunks).subarray(0, COMPLAINT_BYTES_MAX).toString('utf8');
    throw complaintOf(code, text, podName);
  }
  if (isWebSocketRequest(context)) return sendFrames(context, answer);
  context.response.setHeader('content-type', 'text/plain');
  context.response.begin(200);
  await copyBody(answer, context.response);
};
