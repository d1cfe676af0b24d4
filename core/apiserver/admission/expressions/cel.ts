import type * as CelModule from '../../../cel/index.ts';

/** CEL is loaded when the first expression is compiled: a server without any never pays for it. */
export type Cel = typeof CelModule;

let loading: Promise<Cel> | undefined;
export const loadCel = (): Promise<Cel> => (loading ??= import('../../../cel/index.ts'));
