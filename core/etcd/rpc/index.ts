/** A member's client API. */
export { clientMethods, serveClients } from './client-server.ts';
export type { ClientServer, ClientServerOptions } from './client-server.ts';
export { ETCD_REASONS, EtcdError, etcdError, statusOf } from '../refusals/errors.ts';
export type { EtcdReason } from '../refusals/errors.ts';
export { isClientAllowed, secureContextOf, servePlainOverHttp1, tlsServerOptionsOf } from './grpc/index.ts';
export type {
  CodeName,
  GrpcServer,
  HttpAccess,
  MethodName,
  PlainHandler,
  PlainRequest,
  PlainResponse,
  RpcObserver,
  ServerTls,
  Status,
} from './grpc/index.ts';
export { ServingState } from './services/health.ts';
export type * from './member-api.ts';
