import type { RequestContext } from '../../server/context.ts';
import { parseAccept, takes } from '../accept.ts';
import { unpackedText, type CompressedDocument } from './compressed-document.ts';
import { urlOf, type OpenApiDocuments } from './documents.ts';

const JSON_TYPE = 'application/json';
const PROTOBUF_TYPE = 'application/com.github.proto-openapi.spec.v2.v1.0+protobuf';
/** With an @, which no media type may have; kubectl sends it to this day. */
const PROTOBUF_TYPE_DEPRECATED = 'application/com.github.proto-openapi.spec.v2@v1.0+protobuf';

const DAYS_OF_A_YEAR = 365;
const YEAR_MS = DAYS_OF_A_YEAR * 24 * 60 * 60 * 1000;
const QUALITY_ZERO = /;\s*q=0(\.0*)?\s*(;|$)/;

const takesGzip = ({ request }: RequestContext): boolean =>
  request.headers
    .all('accept-encoding')
    .flatMap((value) => value.split(','))
    .some((coding) => coding.trim().split(';')[0]?.toLowerCase() === 'gzip' && !QUALITY_ZERO.test(coding));

/** RFC 9110, section 13.1.2: tags are compared without their weakness. */
const isKnown = ({ request }: RequestContext, etag: string): boolean =>
  request.headers
    .all('if-none-match')
    .flatMap((value) => value.split(','))
    .some((tag) => tag.trim() === '*' || tag.trim().replace(/^W\//, '') === etag);

const sendDocument = async (
  context: RequestContext,
  contentType: string,
  document: CompressedDocument,
): Promise<void> => {
  const { gzipped, etag } = document;
  const { response } = context;
  response.setHeader('etag', etag);
  if (isKnown(context, etag)) {
    response.begin(304);
    await response.end();
    return;
  }
  if (!takesGzip(context)) {
    await response.send(200, contentType, await unpackedText(document));
    return;
  }
  response.setHeader('content-type', contentType);
  response.setHeader('content-encoding', 'gzip');
  response.addHeader('vary', 'Accept-Encoding');
  response.setHeader('content-length', String(gzipped.byteLength));
  response.begin(200);
  await response.write(gzipped);
  await response.end();
};

const refuse = async ({ response }: RequestContext): Promise<void> => {
  response.begin(406);
  await response.end();
};

const answerSwagger = async (context: RequestContext, documents: OpenApiDocuments): Promise<void> => {
  context.response.setHeader('vary', 'Accept');
  for (const clause of parseAccept(context.request.headers.get('accept'))) {
    if (takes(clause, JSON_TYPE)) return sendDocument(context, JSON_TYPE, (await documents.swagger()).json);
    if (takes(clause, PROTOBUF_TYPE) || takes(clause, PROTOBUF_TYPE_DEPRECATED))
      return sendDocument(context, PROTOBUF_TYPE, (await documents.swagger()).protobuf);
  }
  return refuse(context);
};

const answerNamed = async (
  context: RequestContext,
  name: string,
  document: CompressedDocument,
  nowMs: number,
): Promise<void> => {
  const { request, response } = context;
  response.setHeader('vary', 'Accept');
  if (!parseAccept(request.headers.get('accept')).some((clause) => takes(clause, JSON_TYPE)))
    return refuse(context);
  const hash = request.query.get('hash') ?? '';
  if (hash !== '') {
    if (`"${hash}"` !== document.etag) {
      const url = urlOf(name, document.etag);
      response.setHeader('location', url);
      await response.send(301, 'text/html; charset=utf-8', `<a href="${url}">Moved Permanently</a>.\n\n`);
      return;
    }
    response.setHeader('cache-control', 'public, immutable');
    response.setHeader('expires', new Date(nowMs + YEAR_MS).toUTCString());
  }
  return sendDocument(context, JSON_TYPE, document);
};

/** Answers what is below `/openapi`; false for a path that is not there. */
export const answerOpenApi = async (
  context: RequestContext,
  documents: OpenApiDocuments,
  nowMs: number,
): Promise<boolean> => {
  const path = context.info.path.replace(/\/$/, '');
  if (path === '/openapi/v2') {
    await answerSwagger(context, documents);
    return true;
  }
  if (path === '/openapi/v3') {
    await sendDocument(context, JSON_TYPE, await documents.index());
    return true;
  }
  if (!path.startsWith('/openapi/v3/')) return false;
  const name = path.slice('/openapi/v3/'.length);
  const document = await documents.named(name);
  if (!document) return false;
  await answerNamed(context, name, document, nowMs);
  return true;
};
