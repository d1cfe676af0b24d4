/** gRPC over HTTP/2 for a server: methods in, a listener out. */
export { MESSAGE_HEAD_BYTES } from './deframer.ts';
export * from './method.ts';
export { withHttpAccess } from './http-access.ts';
export type { HttpAccess } from './http-access.ts';
export { notFound, servePlain, servePlainOverHttp1 } from './plain-http.ts';
export type { HttpHandler, PlainHandler, PlainRequest, PlainResponse } from './plain-http.ts';
export { Router } from './router.ts';
export type { RouterOptions } from './router.ts';
export { listen } from './server.ts';
export type { GrpcServer, GrpcServerOptions, KeepaliveOptions } from './server.ts';
export { isClientAllowed, secureContextOf, tlsServerOptionsOf } from './server-tls.ts';
export type { ServerTls } from './server-tls.ts';
export { CODE, OK, StatusError } from './status.ts';
export type { CodeName, Status } from './status.ts';
