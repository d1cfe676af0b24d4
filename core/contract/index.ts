export { ACTIONS, clusterAction, traitsOf } from './actions/actions.ts';
export type { ClusterAction } from './actions/actions.ts';
export { actionCommand } from './actions/command.ts';
export type { CommandTarget } from './actions/command.ts';
export { contract, isName } from './contract.ts';
export type { CallName, Contract, InputOf, ItemOf, Name, OutputOf, StreamName } from './contract.ts';
export { connectClient } from './client.ts';
export type { Client, ClientConnection, StreamListener } from './client.ts';
export { ContractError, isCancelled } from './failure.ts';
export { serveConnection } from './host.ts';
export type { CallHandler, Handlers, HostConnection, StreamHandler } from './host.ts';
export { clientMessage } from './messages.ts';
export type { ClientMessage, FailureReason, HostMessage } from './messages.ts';
export * from './actions/fault.ts';
export * from './actions/hardening-wishes.ts';
export * from './schemas/app.ts';
export * from './schemas/drill.ts';
export * from './schemas/controllers.ts';
export * from './schemas/joining.ts';
export * from './schemas/etcd-inspection.ts';
export * from './schemas/extension.ts';
export * from './schemas/fault.ts';
export * from './schemas/files.ts';
export * from './schemas/graph.ts';
export * from './schemas/guard.ts';
export * from './schemas/harden.ts';
export * from './schemas/helm.ts';
export * from './schemas/history.ts';
export * from './schemas/kube.ts';
export * from './schemas/local-cluster.ts';
export * from './schemas/monitor.ts';
export * from './schemas/notification.ts';
export * from './schemas/operations.ts';
export * from './schemas/settings.ts';
export * from './schemas/timeline.ts';
export * from './schemas/sign-in.ts';
export { sentences } from './sentences/catalogue.ts';
export type { CheckId, SentenceCode } from './sentences/catalogue.ts';
export {
  fillMessage,
  inEnglish,
  isSentenceCode,
  SaidError,
  saidOf,
  say,
  sayIn,
  together,
  verbatim,
} from './sentences/said.ts';
export { isLocale, loadLanguage, locales, matchLocale, type Locale } from './sentences/languages.ts';
export type { Language, Said, SaidValue } from './sentences/said.ts';
