import { app } from 'electron';
import { commandLineOf, runCommandLineIn } from './command-line.ts';
import { startDesktop } from './desktop.ts';
import { claimIdentity } from './identity.ts';

const words = commandLineOf(process.argv);
if (words) runCommandLineIn(app, words);
else {
  const identity = claimIdentity(app);
  if (identity) startDesktop(identity);
  else app.exit(0);
}
