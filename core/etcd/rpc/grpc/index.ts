/** gRPC over HTTP/2 for a server: methods in, a listener out. */
export { MESSAGE_HEAD_BYTES } from './deframer.ts';
export * from './method.ts';
export type { PlainHandler, PlainRequest, PlainResponse } from './plain-http.ts';
export { Router } from './router.ts';
export type { RouterOptions } from './router.ts';
export { listen } from './server.ts';
export type { GrpcServer, GrpcServerOptions, ServerTls } from './server.ts';
export { CODE, OK, StatusError } from './status.ts';
export type { CodeName, Status } from './status.ts';
