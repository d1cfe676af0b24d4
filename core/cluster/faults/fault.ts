import type { ActiveFault, FaultRequest } from '../../contract/schemas/fault.ts';

export type { FaultRequest };
/** A fault that is active, as the console is told of it. */
export type Fault = Readonly<ActiveFault>;
