/** `killed`: ended by a signal, asked for or not. `failed`: ended on its own. */
export type HostPhase = 'starting' | 'running' | 'paused' | 'stopping' | 'stopped' | 'killed' | 'failed';
