export { createRegistry } from './create-registry.ts';
export type { AddedResource, DeepCheck, ObjectRegistry, RegistryOptions } from './create-registry.ts';
export { eventFor, selectionOf } from './generic/selection.ts';
export type { SelectedEvent, Selection } from './generic/selection.ts';
export type * from './rest-storage.ts';
export type { ComponentProbe } from './reviews/component-statuses.ts';
export type { RulesResolver } from './reviews/access-reviews.ts';
export type { ReviewedToken, TokenReviewer } from './reviews/identity-reviews.ts';
export type { Connection, KubeletPort } from './subresources/kubelet-port.ts';
