import type { FaultRequest } from '../../contract/actions/fault.ts';
import type { ActiveFault } from '../../contract/schemas/fault.ts';

export type { FaultRequest };
/** A fault that is active, as the console is told of it. */
export type Fault = Readonly<ActiveFault>;
