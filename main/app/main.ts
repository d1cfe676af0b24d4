import { app } from 'electron';
import { startDesktop } from './desktop.ts';
import { claimIdentity } from './identity.ts';

const identity = claimIdentity(app);
if (identity) startDesktop(identity);
else app.exit(0);
