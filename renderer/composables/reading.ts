/**
 * How far something that is asked for has come. `asked`: no answer yet. `late`: for so long that it is worth a word.
 * `ready`: there is something to show, however old. `refused`: an error came instead. `lost`: no one to ask.
 */
export interface Reading {
  readonly phase: 'asked' | 'late' | 'ready' | 'refused' | 'lost';
  readonly error?: { readonly message: string; readonly reason: string } | undefined;
}
