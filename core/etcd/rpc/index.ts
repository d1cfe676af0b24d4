/** A member's client API. */
export { clientMethods, serveClients } from './client-server.ts';
export type { ClientServer, ClientServerOptions } from './client-server.ts';
export { ETCD_REASONS, EtcdError, etcdError, statusOf } from '../refusals/errors.ts';
export type { EtcdReason } from '../refusals/errors.ts';
export { isClientAllowed, secureContextOf, tlsServerOptionsOf } from './grpc/server-tls.ts';
export { servePlainOverHttp1 } from './grpc/plain-http.ts';
export type { CodeName, Status } from './grpc/status.ts';
export type { GrpcServer } from './grpc/server.ts';
export type { HttpAccess } from './grpc/http-access.ts';
export type { MethodName, RpcObserver } from './grpc/method.ts';
export type { PlainHandler, PlainRequest, PlainResponse } from './grpc/plain-http.ts';
export type { ServerTls } from './grpc/server-tls.ts';
export { ServingState } from './services/health.ts';
export type * from './member-api.ts';
